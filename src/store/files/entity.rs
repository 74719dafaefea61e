//! Entities: one file each, replaced as a whole, compared before it is.

use super::dir::{Landing, Stamp};
use super::lock::{self, Zone};
use super::{Durability, FileBackend};
use crate::store::{Expect, Key, KeyKind, LoadedBytes, Put, Revision, SIZE_MAX, StoreError, Stored, parallel};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Where temporary files are written: not watched, and on the same file system as the folders.
pub(super) const STAGE: &str = "team/tmp";

pub(super) fn get(store: &FileBackend, key: &Key) -> Result<Option<Stored>, StoreError> {
    let name = key.file_name()?;
    let Some(dir) = store.folder(key.folder())? else { return Ok(None) };
    Ok(dir.read(&name)?.map(Stored::new))
}

pub(super) fn put(store: &FileBackend, key: &Key, expect: Expect, bytes: &[u8]) -> Result<Put, StoreError> {
    let name = key.file_name()?;
    if bytes.len() > SIZE_MAX {
        let path = PathBuf::from(key.to_string());
        return Err(StoreError::TooLarge { path, size: bytes.len() as u64, max: SIZE_MAX as u64 });
    }
    let durability = store.0.durability;
    let dir = store.make_folder(key.folder().path())?;
    let stage = store.make_folder(STAGE)?;
    // The slow part, writing and syncing, comes before the lock is taken.
    let staged = stage.stage(&name, bytes, durability)?;
    let lock = lock::acquire(store, Zone::from(key.folder()))?;
    let there = dir.read(&name)?.map(Stored::new);
    let landing = match (expect, &there) {
        (Expect::Absent, None) => Landing::New,
        (Expect::At(wanted), Some(now)) if now.revision == wanted => Landing::Over,
        (Expect::Absent | Expect::At(_), _) => return Ok(Put::Lost(there)),
    };
    if !dir.land(&staged, &name, landing)? {
        return Ok(Put::Lost(dir.read(&name)?.map(Stored::new)));
    }
    drop(lock);
    dir.sync(durability)?;
    Ok(Put::Applied(Revision::of(bytes)))
}

/// Names tried for what is moved aside.
const ASIDE_TRIES: u32 = 10_000;

pub(super) fn set_aside(store: &FileBackend, key: &Key) -> Result<Option<PathBuf>, StoreError> {
    let name = key.file_name()?;
    let Some(dir) = store.folder(key.folder())? else { return Ok(None) };
    let _lock = lock::acquire(store, Zone::from(key.folder()))?;
    if dir.is_free(&name)? {
        return Ok(None);
    }
    for number in 1..ASIDE_TRIES {
        let aside = format!("{name}.damaged-{number}");
        if dir.rename_from(&dir, &name, &aside, Landing::New)? {
            dir.sync(store.0.durability)?;
            return Ok(Some(dir.path().join(aside)));
        }
    }
    Err(dir.io("move aside", &name, std::io::ErrorKind::AlreadyExists.into()))
}

pub(super) fn delete(store: &FileBackend, key: &Key, expect: Revision) -> Result<Put, StoreError> {
    let name = key.file_name()?;
    let Some(dir) = store.folder(key.folder())? else { return Ok(Put::Lost(None)) };
    let lock = lock::acquire(store, Zone::from(key.folder()))?;
    match dir.read(&name)?.map(Stored::new) {
        Some(now) if now.revision == expect => dir.remove(&name)?,
        other => return Ok(Put::Lost(other)),
    }
    drop(lock);
    dir.sync(store.0.durability)?;
    Ok(Put::Applied(expect))
}

pub(super) fn list(store: &FileBackend, kind: KeyKind) -> Result<Vec<Key>, StoreError> {
    let Some(dir) = store.folder(kind.folder())? else { return Ok(Vec::new()) };
    let mut keys: Vec<Key> = dir.names()?.iter().filter_map(|name| kind.key_of(name)).collect();
    keys.sort_unstable();
    Ok(keys)
}

pub(super) fn load(store: &FileBackend, kind: KeyKind) -> Result<LoadedBytes, StoreError> {
    let Some(dir) = store.folder(kind.folder())? else { return Ok(Vec::new()) };
    let keys = list(store, kind)?;
    let read = |key: Key| {
        let found = key.file_name().and_then(|name| dir.read_stamped(&name));
        let stamp = found.as_ref().ok().and_then(Option::as_ref).map(|(_, stamp)| *stamp);
        // A file that went away since it was listed is simply not there.
        found.map(|found| found.map(|(bytes, _)| Stored::new(bytes))).transpose().map(|found| (key, stamp, found))
    };
    let found: Vec<_> = parallel::map(keys, read).into_iter().flatten().collect();
    store.0.loads.note(kind, found.iter().filter_map(|(key, stamp, _)| Some((key.clone(), (*stamp)?))).collect());
    Ok(found.into_iter().map(|(key, _, found)| (key, found)).collect())
}

/// How the files were when they were last loaded, for the watch that begins afterwards.
#[derive(Default)]
pub(super) struct Loads(Mutex<BTreeMap<KeyKind, BTreeMap<Key, Stamp>>>);

impl Loads {
    fn note(&self, kind: KeyKind, stamps: BTreeMap<Key, Stamp>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(kind, stamps);
    }

    /// What was loaded, once.
    pub(super) fn take(&self) -> BTreeMap<KeyKind, BTreeMap<Key, Stamp>> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The entities that are no longer as they were loaded: written, removed or new.
pub(super) fn changed_since(store: &FileBackend, kind: KeyKind, mut loaded: BTreeMap<Key, Stamp>) -> Result<Vec<Key>, StoreError> {
    let Some(dir) = store.folder(kind.folder())? else { return Ok(loaded.into_keys().collect()) };
    let mut changed = Vec::new();
    for key in list(store, kind)? {
        let now = key.file_name().ok().and_then(|name| dir.stamp(&name));
        if loaded.remove(&key) != now {
            changed.push(key);
        }
    }
    changed.extend(loaded.into_keys());
    Ok(changed)
}

/// Removes temporary files that killed writers left behind more than ten minutes ago. Failing does no harm.
pub(super) fn sweep_stage(store: &FileBackend) {
    const OLD: std::time::Duration = std::time::Duration::from_secs(600);
    let Ok(stage) = store.0.root.make(STAGE, Durability::Buffered) else { return };
    for name in stage.names().unwrap_or_default() {
        let age = stage.open(&name, rustix::fs::OFlags::RDONLY).ok().flatten();
        let age = age.and_then(|(file, _)| file.metadata().ok()?.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > OLD) {
            let _ = stage.remove(&name);
        }
    }
}
