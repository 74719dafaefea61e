//! The store in memory: for tests, simulations and `demo` without a directory. Clones share it.
//!
//! Deliberately absent: anything durable.

use super::lines::{self, Mend};
use super::{Backend, Change, Expect, Guard, Key, KeyKind, Lines, LoadedBytes, Put, SIZE_MAX, Sink, StoreError, Stored, Topic};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    sinks: Mutex<Sinks>,
}

#[derive(Default)]
struct State {
    entities: BTreeMap<Key, Stored>,
    logs: HashMap<Topic, Vec<u8>>,
    archived: Vec<(Topic, String, Vec<u8>)>,
    aside: Vec<(Key, Vec<u8>)>,
    team_locked: bool,
}

#[derive(Default)]
struct Sinks {
    next: u64,
    by_number: BTreeMap<u64, Arc<Sink>>,
}

/// A [`Backend`] that lives as long as its last clone.
#[derive(Clone, Default)]
pub struct MemoryBackend(Arc<Inner>);

impl MemoryBackend {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts bytes at a log's end as they are, newline or not: what another program or a writer that was killed would do.
    pub fn append_raw(&self, topic: &Topic, bytes: &[u8]) {
        self.state().logs.entry(topic.clone()).or_default().extend_from_slice(bytes);
        self.tell(&Change::Topic(topic.clone()));
    }

    /// Logs that were moved aside: topic, suffix and bytes, oldest first.
    pub fn archived(&self) -> Vec<(Topic, String, Vec<u8>)> {
        self.state().archived.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls every sink, while no lock is held: a sink may use the store.
    fn tell(&self, change: &Change) {
        let sinks: Vec<_> = self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner).by_number.values().cloned().collect();
        sinks.iter().for_each(|sink| sink(change.clone()));
    }
}

/// Does something once, when dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn tail_start(log: &[u8]) -> usize {
    log.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

impl Backend for MemoryBackend {
    fn append(&self, topic: &Topic, lines: &[Vec<u8>]) -> Result<u64, StoreError> {
        let joined = lines::join(topic, lines)?;
        let mut state = self.state();
        let log = state.logs.entry(topic.clone()).or_default();
        if joined.is_empty() {
            return Ok(tail_start(log) as u64);
        }
        let start = tail_start(log);
        match lines::mend_of(&log[start..]) {
            Mend::Nothing => {}
            Mend::Close => log.push(b'\n'),
            Mend::Blank => {
                log[start..].fill(b' ');
                log.push(b'\n');
            }
        }
        log.extend_from_slice(&joined);
        let end = log.len() as u64;
        drop(state);
        self.tell(&Change::Topic(topic.clone()));
        Ok(end)
    }

    fn read_after(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Lines, StoreError> {
        let state = self.state();
        let log = state.logs.get(topic).map(Vec::as_slice).unwrap_or_default();
        let mut from = usize::try_from(offset).ok().filter(|from| *from <= log.len()).unwrap_or(0);
        loop {
            let first = log[from..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let until = from.saturating_add(max_bytes.max(first)).min(log.len());
            let (lines, used) = lines::split(&log[from..until]);
            from += used;
            if used == 0 || !lines.is_empty() {
                return Ok(Lines { lines, next: from as u64 });
            }
        }
    }

    fn end(&self, topic: &Topic) -> Result<u64, StoreError> {
        Ok(self.state().logs.get(topic).map_or(0, |log| tail_start(log) as u64))
    }

    fn archive(&self, topic: &Topic, suffix: &str) -> Result<(), StoreError> {
        lines::check_suffix(suffix)?;
        let mut state = self.state();
        let Some(log) = state.logs.remove(topic) else { return Ok(()) };
        state.archived.push((topic.clone(), suffix.to_owned(), log));
        drop(state);
        self.tell(&Change::Topic(topic.clone()));
        Ok(())
    }

    fn get(&self, key: &Key) -> Result<Option<Stored>, StoreError> {
        key.file_name()?;
        Ok(self.state().entities.get(key).cloned())
    }

    fn put(&self, key: &Key, expect: Expect, bytes: &[u8]) -> Result<Put, StoreError> {
        key.file_name()?;
        if bytes.len() > SIZE_MAX {
            let path = PathBuf::from(key.to_string());
            return Err(StoreError::TooLarge { path, size: bytes.len() as u64, max: SIZE_MAX as u64 });
        }
        let stored = Stored::new(bytes.to_vec());
        let revision = stored.revision;
        let mut state = self.state();
        let there = state.entities.get(key);
        let fits = match expect {
            Expect::Absent => there.is_none(),
            Expect::At(wanted) => there.is_some_and(|now| now.revision == wanted),
        };
        if !fits {
            return Ok(Put::Lost(there.cloned()));
        }
        state.entities.insert(key.clone(), stored);
        drop(state);
        self.tell(&Change::Key(key.clone()));
        Ok(Put::Applied(revision))
    }

    fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        let name = key.file_name()?;
        let Some(there) = self.state().entities.remove(key) else { return Ok(None) };
        let mut state = self.state();
        state.aside.push((key.clone(), there.bytes));
        let path = PathBuf::from(format!("{}/{name}.damaged-{}", key.folder().path(), state.aside.len()));
        drop(state);
        self.tell(&Change::Key(key.clone()));
        Ok(Some(path))
    }

    fn delete(&self, key: &Key, expect: super::Revision) -> Result<Put, StoreError> {
        key.file_name()?;
        let mut state = self.state();
        match state.entities.get(key) {
            Some(now) if now.revision == expect => state.entities.remove(key),
            other => return Ok(Put::Lost(other.cloned())),
        };
        drop(state);
        self.tell(&Change::Key(key.clone()));
        Ok(Put::Applied(expect))
    }

    fn list(&self, kind: KeyKind) -> Result<Vec<Key>, StoreError> {
        let of_kind = |key: &&Key| key.folder() == kind.folder();
        Ok(self.state().entities.keys().filter(of_kind).cloned().collect())
    }

    fn load(&self, kind: KeyKind) -> Result<LoadedBytes, StoreError> {
        let state = self.state();
        let of_kind = state.entities.iter().filter(|(key, _)| key.folder() == kind.folder());
        Ok(of_kind.map(|(key, stored)| (key.clone(), Ok(stored.clone()))).collect())
    }

    fn lock_team(&self) -> Result<Option<Guard>, StoreError> {
        let mut state = self.state();
        if std::mem::replace(&mut state.team_locked, true) {
            return Ok(None);
        }
        let store = self.clone();
        Ok(Some(Box::new(OnDrop(move || store.state().team_locked = false))))
    }

    fn is_team_locked(&self) -> Result<bool, StoreError> {
        Ok(self.state().team_locked)
    }

    fn watch(&self, sink: Sink) -> Result<Guard, StoreError> {
        let mut sinks = self.0.sinks.lock().unwrap_or_else(PoisonError::into_inner);
        let number = sinks.next;
        sinks.next += 1;
        sinks.by_number.insert(number, Arc::new(sink));
        // Weak: a sink may hold the store, and the store holds the sink.
        let inner = Arc::downgrade(&self.0);
        Ok(Box::new(OnDrop(move || {
            let removed =
                inner.upgrade().and_then(|inner| inner.sinks.lock().unwrap_or_else(PoisonError::into_inner).by_number.remove(&number));
            drop(removed);
        })))
    }
}
