//! The store: one backend trait over bytes, its adapters (memory, files), and a typed facade written once.
//!
//! The files are the truth and are shared with other processes: every put names the revision it expects. Rules (who
//! may claim, who may answer) stand above the trait, in `domain` and `protocol`.
//! Deliberately absent: tokio, the screen, any rule about tasks or requests.

use crate::domain::{MemberName, Refusal, RequestId, TaskId};
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;

pub mod files;
pub mod import;
mod lines;
pub mod memory;
mod parallel;
mod place;
pub mod team_store;

pub use files::{Durability, FileBackend};
pub use memory::MemoryBackend;
pub use team_store::{Events, Fault, Loaded, Mail, PutOf, TeamStore, UpdateError};

/// The most bytes an entity's file or one line of a log may have. Larger ones are refused, not read.
pub const SIZE_MAX: usize = 8 * 1024 * 1024;

/// Where one entity lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `.tasks/task_N.json`
    Task(TaskId),
    /// `team/config.json`
    Team,
    /// `team/requests/ID.json`
    Request(RequestId),
    /// `team/NAME.json`: a protocol's own memory (`market`, `snapshot`).
    Memory(MemberName),
}

/// Kinds of entities that can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyKind {
    /// All tasks.
    Tasks,
    /// All requests.
    Requests,
}

/// An append-only log of lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// `team/inbox/NAME.jsonl`
    Inbox(MemberName),
    /// `team/inbox/human.jsonl`: what members wrote to the person.
    HumanInbox,
    /// `team/transcripts/NAME.jsonl`
    Transcript(MemberName),
    /// `team/events.jsonl`
    Events,
}

/// What an entity's bytes are now; equal bytes have equal revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of these bytes: the first 8 bytes of their SHA-256, the same in every process and version.
    pub fn of(bytes: &[u8]) -> Self {
        let digest = Sha256::digest(bytes);
        Self(digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// What a put expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Absent,
    /// Exactly this.
    At(Revision),
}

/// Bytes with their revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their revision.
    pub revision: Revision,
}

impl Stored {
    /// Bytes with the revision that follows from them.
    pub fn new(bytes: Vec<u8>) -> Self {
        let revision = Revision::of(&bytes);
        Self { bytes, revision }
    }
}

/// What came of a put. An unknown outcome (the store died before it answered) is an error, settled by reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there now, durable.
    Applied(Revision),
    /// Somebody else was quicker: what is there now. Nothing was changed.
    Lost(Option<Stored>),
}

/// Lines of a log after an offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Whole lines without their newline.
    pub lines: Vec<Vec<u8>>,
    /// The offset after the last of them, in bytes. A torn last line (no newline yet) is not included.
    pub next: u64,
}

/// Something changed in the store, by whomever (own writes included).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// An entity was written or removed.
    Key(Key),
    /// A log grew.
    Topic(Topic),
    /// Changes were missed, or watching broke and works by polling only: look at everything once.
    Rescan,
}

/// Why a store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system said no.
    #[error("{action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// Not a plain file or directory where one belongs (a link, a device, a FIFO).
    #[error("{} is {what}, not a plain {expected}: refused", path.display())]
    NotPlain { path: PathBuf, what: &'static str, expected: &'static str },
    /// Does not parse; the file stays where it is.
    #[error("{} does not parse: {reason}", path.display())]
    Corrupt { path: PathBuf, reason: String },
    /// Cannot be watched.
    #[error("cannot watch {}: {reason}", path.display())]
    Watch { path: PathBuf, reason: String },
    /// More than [`SIZE_MAX`].
    #[error("{} has {size} bytes, more than the {max} that are read: refused", path.display())]
    TooLarge { path: PathBuf, size: u64, max: u64 },
    /// The lock of a directory was not free for this many seconds.
    #[error("{} is held by another process for {seconds} s: is one suspended? end it or let it go on, then try again", path.display())]
    Busy { path: PathBuf, seconds: u64 },
    /// Every try met somebody else's newer write.
    #[error("{place} was changed by others in {tries} tries running: try again")]
    Contended { place: String, tries: u32 },
    /// No file may have this name.
    #[error("{name:?} {reason}")]
    BadName { name: String, reason: &'static str },
}

impl StoreError {
    /// Whether the same call may succeed later without anybody mending a file: the disk is full or failed once, handles or
    /// memory ran out, a lock was held.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Io { source, .. } => may_pass(source),
            Self::Busy { .. } | Self::Contended { .. } => true,
            Self::NotPlain { .. } | Self::Corrupt { .. } | Self::Watch { .. } | Self::TooLarge { .. } | Self::BadName { .. } => false,
        }
    }

    /// Whether the place holds something that can never be read as what belongs there.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::NotPlain { .. } | Self::Corrupt { .. } => true,
            Self::Io { .. }
            | Self::TooLarge { .. }
            | Self::Watch { .. }
            | Self::Busy { .. }
            | Self::Contended { .. }
            | Self::BadName { .. } => false,
        }
    }
}

fn may_pass(source: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN, Errno::INTR, Errno::FBIG];
    source.raw_os_error().is_some_and(|code| passing.iter().any(|errno| errno.raw_os_error() == code))
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Holds the team's lock (or a watch) until it is dropped.
pub type Guard = Box<dyn std::any::Any + Send + Sync>;

/// Every entity of a kind with its bytes, or why one could not be read.
pub type LoadedBytes = Vec<(Key, Result<Stored, StoreError>)>;

/// Takes the changes of a watch; called on the watch's thread, or for the memory backend on the writer's.
pub type Sink = Box<dyn Fn(Change) + Send + Sync>;

/// A place for entities and logs. All calls block; they are short.
pub trait Backend: Send + Sync {
    /// Appends whole lines (given without newline) in one write; returns the offset after them. A torn tail left by a
    /// dead writer is closed first, so that it damages no other line.
    fn append(&self, topic: &Topic, lines: &[Vec<u8>]) -> Result<u64, StoreError>;
    /// Whole lines after `offset`, at most about `max_bytes` (always at least one line if there is one). Blank lines are
    /// skipped. An offset beyond the end means that the log was begun anew: it is read from its beginning. A line of
    /// more than [`SIZE_MAX`] comes cut, so that it does not parse.
    fn read_after(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Lines, StoreError>;
    /// The offset after the log's last whole line, in bytes; 0 when it does not exist.
    fn end(&self, topic: &Topic) -> Result<u64, StoreError>;
    /// Moves a log aside under a name with `suffix`, so that the next append starts a new one.
    fn archive(&self, topic: &Topic, suffix: &str) -> Result<(), StoreError>;
    /// An entity.
    fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError>;
    /// Writes an entity if what is there is as expected.
    fn put(&self, key: &Key, expect: Expect, bytes: &[u8]) -> Result<Put, StoreError>;
    /// Moves what has an entity's name aside, whatever it is, and tells under which path; `None` when nothing is there. For
    /// files that cannot be read as what they should be: nothing of them is lost, and the name is free again.
    fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, StoreError>;
    /// Removes an entity if it is as expected. `Applied` carries the old revision.
    fn delete(&self, key: &Key, expect: Revision) -> Result<Put, StoreError>;
    /// Which entities there are.
    fn list(&self, kind: KeyKind) -> Result<Vec<Key>, StoreError>;
    /// All entities of a kind with their bytes (or why one could not be read), quicker than one by one.
    fn load(&self, kind: KeyKind) -> Result<LoadedBytes, StoreError>;
    /// Takes the lock that makes this process the one that runs the team. `None`: another one has it.
    fn lock_team(&self) -> Result<Option<Guard>, StoreError>;
    /// Whether some process has that lock. Looking takes no time, makes nothing, and keeps nobody else out.
    fn is_team_locked(&self) -> Result<bool, StoreError>;
    /// Calls `sink` for every change from now on, own writes included, within about 50 ms, until the guard is dropped.
    /// Also for what changed since each kind was last loaded: loading first is quicker, since a watch is told of every
    /// read as well.
    fn watch(&self, sink: Sink) -> Result<Guard, StoreError>;
}
