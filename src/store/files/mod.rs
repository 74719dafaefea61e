//! The store as plain files in a workspace: the truth that every process of a team shares.
//!
//! - A write is a temporary file in `team/tmp` (outside the watched folders, on the same file system), synced, renamed,
//!   and the folder synced. Creation is exclusive, also against programs that know no lock.
//! - Every read-modify-write holds the advisory lock of its folder and compares the revision.
//! - Every step of a path is opened relative to the one before and never through a link; what is no plain file is refused.
//! - Logs only ever grow: a torn tail is kept aside in `NAME.jsonl.torn` and blanked in place, so offsets stay right.
//!
//! Imports std, rustix and notify. Deliberately absent: caches (another process may write at any moment) and JSON.
//! Origin of the layout: learn-claude-code s07–s11 (`.tasks/`, one JSONL inbox a member).

mod dir;
mod entity;
mod lock;
mod log;
mod watch;

pub(super) use dir::Dir;

use super::place::Folder;
use super::{Backend, Expect, Guard, Key, KeyKind, Lines, LoadedBytes, Put, Revision, Sink, StoreError, Topic};
use lock::{Gates, Zone};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What survives a power cut. Killed processes lose nothing either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Entities, inboxes and transcripts are on the disk when a call returns. The event log is a view and is not synced.
    #[default]
    Synced,
    /// The operating system writes when it likes: for tests, demos and throw-away workspaces.
    Buffered,
}

struct Shared {
    root: Dir,
    durability: Durability,
    gates: Gates,
    loads: entity::Loads,
}

/// A [`Backend`] over a workspace directory. Clones share its locks. Folders are made when something is first written.
#[derive(Clone)]
pub struct FileBackend(Arc<Shared>);

impl FileBackend {
    /// Opens a workspace, which must exist; it may itself be reached through a link. Writes nothing.
    pub fn open(workspace: &Path, durability: Durability) -> Result<Self, StoreError> {
        let root = Dir::root(workspace)?;
        Ok(Self(Arc::new(Shared { root, durability, gates: Gates::default(), loads: entity::Loads::default() })))
    }

    /// The workspace's canonical path.
    pub fn workspace(&self) -> &Path {
        self.0.root.path()
    }

    /// The folder, if it is there.
    fn folder(&self, folder: Folder) -> Result<Option<Dir>, StoreError> {
        self.0.root.descend(folder.path())
    }

    /// The folder, made if it is not there.
    fn make_folder(&self, path: &str) -> Result<Dir, StoreError> {
        self.0.root.make(path, self.0.durability)
    }
}

impl Backend for FileBackend {
    fn append(&self, topic: &Topic, lines: &[Vec<u8>]) -> Result<u64, StoreError> {
        log::append(self, topic, lines)
    }

    fn read_after(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Lines, StoreError> {
        log::read_after(self, topic, offset, max_bytes)
    }

    fn end(&self, topic: &Topic) -> Result<u64, StoreError> {
        log::end(self, topic)
    }

    fn archive(&self, topic: &Topic, suffix: &str) -> Result<(), StoreError> {
        log::archive(self, topic, suffix)
    }

    fn get(&self, key: &Key) -> Result<Option<super::Stored>, StoreError> {
        entity::get(self, key)
    }

    fn put(&self, key: &Key, expect: Expect, bytes: &[u8]) -> Result<Put, StoreError> {
        entity::put(self, key, expect, bytes)
    }

    fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        entity::set_aside(self, key)
    }

    fn delete(&self, key: &Key, expect: Revision) -> Result<Put, StoreError> {
        entity::delete(self, key, expect)
    }

    fn list(&self, kind: KeyKind) -> Result<Vec<Key>, StoreError> {
        entity::list(self, kind)
    }

    fn load(&self, kind: KeyKind) -> Result<LoadedBytes, StoreError> {
        entity::load(self, kind)
    }

    fn lock_team(&self) -> Result<Option<Guard>, StoreError> {
        let lock = lock::lock_team(self)?;
        if lock.is_some() {
            entity::sweep_stage(self);
        }
        Ok(lock)
    }

    fn is_team_locked(&self) -> Result<bool, StoreError> {
        lock::is_team_locked(self)
    }

    fn watch(&self, sink: Sink) -> Result<Guard, StoreError> {
        watch::start(self, sink)
    }
}

impl From<Folder> for Zone {
    fn from(folder: Folder) -> Self {
        match folder {
            Folder::Tasks => Self::Board,
            Folder::Team => Self::Team,
            Folder::Inbox => Self::Inbox,
            Folder::Requests => Self::Requests,
            Folder::Transcripts => Self::Transcripts,
        }
    }
}

impl From<&Topic> for Zone {
    fn from(topic: &Topic) -> Self {
        match topic {
            Topic::Inbox(_) | Topic::HumanInbox => Self::Inbox,
            Topic::Transcript(_) => Self::Transcripts,
            Topic::Events => Self::Events,
        }
    }
}
