//! Advisory locks: one for each folder that is read, changed and written, and the team's own.
//!
//! A lock is a file of its own that is never replaced. Its handle is kept open (opening it again would wake every
//! watcher), and after locking it is compared with what has its name now, in case somebody removed it. Threads of this
//! process queue up at a mutex first, so only one of them at a time competes with other processes.

use super::FileBackend;
use crate::store::place::Folder;
use crate::store::{Guard, StoreError};
use rustix::fs::OFlags;
use std::fs::{File, TryLockError};
use std::io::{Seek as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a lock is waited for. Its holders need milliseconds; only a suspended process keeps one this long.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// How often a lock file may be found removed before that is called an error.
const RENEWALS: u32 = 8;

/// What a lock is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    Board,
    Team,
    Requests,
    Inbox,
    Transcripts,
    Events,
}

impl Zone {
    /// Folder and name of the lock file. The board's is documented for other programs; the rest stay out of the watched
    /// folders.
    fn place(self) -> (&'static str, &'static str) {
        const LOCKS: &str = "team/locks";
        match self {
            Self::Board => (".tasks", ".lock"),
            Self::Team => (LOCKS, "team"),
            Self::Requests => (LOCKS, "requests"),
            Self::Inbox => (LOCKS, "inbox"),
            Self::Transcripts => (LOCKS, "transcripts"),
            Self::Events => (LOCKS, "events"),
        }
    }
}

/// The lock files that this process has open, each with the mutex that its threads queue up at.
#[derive(Default)]
pub(super) struct Gates([Mutex<Option<File>>; 6]);

/// A lock that is held; released when dropped.
pub(super) struct Held<'a>(MutexGuard<'a, Option<File>>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let failed = self.0.as_ref().is_some_and(|file| file.unlock().is_err());
        if failed {
            // Closing releases it for certain.
            *self.0 = None;
        }
    }
}

/// Takes the lock of a zone, making its folder and file if need be.
pub(super) fn acquire(store: &FileBackend, zone: Zone) -> Result<Held<'_>, StoreError> {
    let (folder, name) = zone.place();
    let mut gate = store.0.gates.0[zone as usize].lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..RENEWALS {
        let dir = store.make_folder(folder)?;
        let file = match gate.take() {
            Some(file) => file,
            None => dir.open_or_make(name, OFlags::RDWR)?.0,
        };
        let path = || dir.path().join(name);
        wait(&file, path)?;
        if dir.is_current(name, &file)? {
            *gate = Some(file);
            return Ok(Held(gate));
        }
    }
    Err(StoreError::Busy { path: store.workspace().join(folder).join(name), seconds: 0 })
}

/// Locks with a bounded wait. The time is counted in pauses: no clock is read here.
fn wait(file: &File, path: impl Fn() -> std::path::PathBuf) -> Result<(), StoreError> {
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited >= PATIENCE => {
                return Err(StoreError::Busy { path: path(), seconds: PATIENCE.as_secs() });
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(pause);
                waited += pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::Io { action: "lock", path: path(), source }),
        }
    }
}

/// The team's lock. Unlocked by name, not only closed: a command that is just being started still shares the open file for
/// the moment between its fork and its exec.
struct TeamLock(File);

impl Drop for TeamLock {
    fn drop(&mut self) {
        // Where this fails, closing the file follows at once.
        let _ = self.0.unlock();
    }
}

/// How often, and after what time, a lock that is held is tried again.
const LOOKS: u32 = 5;
const LOOK: Duration = Duration::from_millis(10);

const TEAM_LOCK: &str = ".lock";

/// Whether somebody has `team/.lock`. By a shared lock, so that those who look at the same time do not see each other.
pub(super) fn is_team_locked(store: &FileBackend) -> Result<bool, StoreError> {
    let Some(dir) = store.folder(Folder::Team)? else { return Ok(false) };
    let Some((file, _)) = dir.open(TEAM_LOCK, OFlags::RDONLY)? else { return Ok(false) };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(dir.io("look at", TEAM_LOCK, source)),
    }
}

/// Takes `team/.lock` if nobody has it, and writes this process's id into it (for people; nothing depends on it).
pub(super) fn lock_team(store: &FileBackend) -> Result<Option<Guard>, StoreError> {
    let mut looks = 0;
    for _ in 0..RENEWALS {
        let dir = store.make_folder("team")?;
        let (mut file, ..) = dir.open_or_make(TEAM_LOCK, OFlags::RDWR)?;
        match file.try_lock() {
            Ok(()) => {}
            // Somebody who only looks whether the team runs has it for a moment.
            Err(TryLockError::WouldBlock) if looks < LOOKS => {
                looks += 1;
                std::thread::sleep(LOOK);
                continue;
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(dir.io("lock", TEAM_LOCK, source)),
        }
        if !dir.is_current(TEAM_LOCK, &file)? {
            continue;
        }
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|source| dir.io("write", TEAM_LOCK, source))?;
        return Ok(Some(Box::new(TeamLock(file))));
    }
    Err(StoreError::Busy { path: store.workspace().join("team").join(TEAM_LOCK), seconds: 0 })
}
