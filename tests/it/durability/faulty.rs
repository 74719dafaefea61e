//! A store over real files whose writes fail when a test says so.

use rustix::io::Errno;
use signoff::store::{
    Backend, Expect, FileBackend, Guard, Key, KeyKind, Lines, LoadedBytes, Put, Revision, Sink, StoreError, Stored, Topic,
};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a write fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing of it is done.
    Before,
    /// It is done, and then the disk says that it is not sure.
    After,
    /// Of a line, half is written; of an entity, nothing.
    Half,
}

pub const WAYS: [Way; 3] = [Way::Before, Way::After, Way::Half];
pub const ERRORS: [Errno; 3] = [Errno::NOSPC, Errno::IO, Errno::MFILE];

/// Which writes fail: those numbered `from..until`, counted from 1.
pub struct Faulty {
    files: FileBackend,
    done: AtomicU64,
    from: u64,
    until: AtomicU64,
    way: Way,
    error: Errno,
}

impl Faulty {
    pub fn new(files: FileBackend, from: u64, until: u64, way: Way, error: Errno) -> Self {
        Self { files, done: AtomicU64::new(0), from, until: AtomicU64::new(until), way, error }
    }

    /// How many writes there were.
    pub fn writes(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    /// Whether one has failed.
    pub fn has_failed(&self) -> bool {
        self.writes() >= self.from
    }

    /// Everything works again.
    pub fn mend(&self) {
        self.until.store(0, Ordering::SeqCst);
    }

    fn fails(&self) -> bool {
        let number = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        (self.from..self.until.load(Ordering::SeqCst)).contains(&number)
    }

    fn fault(&self, place: impl std::fmt::Display) -> StoreError {
        StoreError::Io { action: "write", path: PathBuf::from(place.to_string()), source: self.error.into() }
    }

    /// `write`, or a fault before, after or within it.
    fn write<T>(&self, place: &dyn std::fmt::Display, write: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        if !self.fails() {
            return write();
        }
        if self.way == Way::After {
            write()?;
        }
        Err(self.fault(place))
    }
}

impl Backend for Faulty {
    fn append(&self, topic: &Topic, lines: &[Vec<u8>]) -> Result<u64, StoreError> {
        // A log's failed append takes back what it wrote: only a kill leaves whole lines that were not reported.
        if !self.fails() {
            return self.files.append(topic, lines);
        }
        if self.way == Way::Half
            && let Some(line) = lines.first()
        {
            let path = self.files.workspace().join(topic.to_string());
            // Before the first write there is no folder either.
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
                file.write_all(&line[..line.len() / 2]).unwrap();
            }
        }
        Err(self.fault(topic))
    }

    fn put(&self, key: &Key, expect: Expect, bytes: &[u8]) -> Result<Put, StoreError> {
        self.write(key, || self.files.put(key, expect, bytes))
    }

    fn delete(&self, key: &Key, expect: Revision) -> Result<Put, StoreError> {
        self.write(key, || self.files.delete(key, expect))
    }

    fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        self.write(key, || self.files.set_aside(key))
    }

    fn archive(&self, topic: &Topic, suffix: &str) -> Result<(), StoreError> {
        self.write(topic, || self.files.archive(topic, suffix))
    }

    fn read_after(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Lines, StoreError> {
        self.files.read_after(topic, offset, max_bytes)
    }

    fn end(&self, topic: &Topic) -> Result<u64, StoreError> {
        self.files.end(topic)
    }

    fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        self.files.get(key)
    }

    fn list(&self, kind: KeyKind) -> Result<Vec<Key>, StoreError> {
        self.files.list(kind)
    }

    fn load(&self, kind: KeyKind) -> Result<LoadedBytes, StoreError> {
        self.files.load(kind)
    }

    fn is_team_locked(&self) -> Result<bool, StoreError> {
        self.files.is_team_locked()
    }

    fn lock_team(&self) -> Result<Option<Guard>, StoreError> {
        self.files.lock_team()
    }

    fn watch(&self, sink: Sink) -> Result<Guard, StoreError> {
        self.files.watch(sink)
    }
}
