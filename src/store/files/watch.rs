//! Watching the workspace's folders: outside edits and our own writes become [`Change`]s.
//!
//! Folders are watched, never files (saving by rename kills a file's watch); kinds are filtered where they arrive,
//! because every plain read is reported as well. The workspace itself is watched too, but only so that a folder that was
//! removed and comes back is watched again. Changes are gathered for a fixed time after the first, so that a file that
//! never rests is still reported. Between changes nothing wakes.

use super::{FileBackend, entity};
use crate::store::place::{Folder, change_of};
use crate::store::{Change, Guard, Sink, StoreError};
use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// How long changes are gathered after the first one.
const GATHER: Duration = Duration::from_millis(15);
/// More events than this are handed on in several portions.
const GATHER_MAX: usize = 10_000;
/// What is watched, parents first. Transcripts are read by their own member only.
const WATCHED: [Folder; 4] = [Folder::Tasks, Folder::Team, Folder::Inbox, Folder::Requests];

/// What the watcher's callback hands on.
enum Seen {
    Change(Change),
    /// A watched folder is new under its path.
    Appeared(Folder),
    /// A watched folder went away, or changes were missed.
    Lost,
}

/// Ends the watch when dropped: no call of the sink begins afterwards.
struct Watch {
    _watcher: Arc<Mutex<RecommendedWatcher>>,
    stopped: Arc<AtomicBool>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
    }
}

pub(super) fn start(store: &FileBackend, sink: Sink) -> Result<Guard, StoreError> {
    let root = store.workspace().to_owned();
    for folder in WATCHED {
        store.make_folder(folder.path())?;
    }
    let (sender, receiver) = mpsc::channel();
    let watcher = Arc::new(Mutex::new(watcher(root.clone(), sender)?));
    {
        let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = |path: &Path, watcher: &mut RecommendedWatcher| {
            let failed = |error: notify::Error| StoreError::Watch { path: path.to_owned(), reason: reason(&error) };
            watcher.watch(path, RecursiveMode::NonRecursive).map_err(failed)
        };
        watch(&root, &mut watcher)?;
        WATCHED.iter().try_for_each(|folder| watch(&root.join(folder.path()), &mut watcher))?;
    }
    let stopped = Arc::new(AtomicBool::new(false));
    let gatherer = Gatherer { root: root.clone(), watcher: Arc::downgrade(&watcher), stopped: stopped.clone(), sink };
    let store = store.clone();
    let thread = std::thread::Builder::new().name("store-watch".into()).spawn(move || {
        gatherer.catch_up(store);
        gatherer.run(&receiver);
    });
    thread.map_err(|source| StoreError::Watch { path: root, reason: source.to_string() })?;
    Ok(Box::new(Watch { _watcher: watcher, stopped }))
}

fn reason(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system's limit for watches is reached (fs.inotify.max_user_watches); changes are found by polling".into()
        }
        notify::ErrorKind::Io(io) if io.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => {
            "too many watchers run for this user (fs.inotify.max_user_instances); changes are found by polling".into()
        }
        _ => error.to_string(),
    }
}

fn watcher(root: PathBuf, sender: Sender<Seen>) -> Result<RecommendedWatcher, StoreError> {
    let path = root.clone();
    let handler = move |event: notify::Result<notify::Event>| match event {
        Ok(event) => seen(&root, &event, |seen| {
            // The other end is gone only when the watch is being dropped.
            let _ = sender.send(seen);
        }),
        Err(error) => {
            tracing::warn!(%error, "watching the workspace failed for a moment");
            let _ = sender.send(Seen::Lost);
        }
    };
    let failed = |error: notify::Error| StoreError::Watch { path, reason: reason(&error) };
    RecommendedWatcher::new(handler, notify::Config::default()).map_err(failed)
}

/// Tells what an event means for the store: usually nothing.
fn seen(root: &Path, event: &notify::Event, mut tell: impl FnMut(Seen)) {
    if event.need_rescan() {
        return tell(Seen::Lost);
    }
    let gone = match event.kind {
        EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)) => return,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(notify::event::RenameMode::From)) => true,
        EventKind::Any | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Other => false,
    };
    for path in &event.paths {
        let Ok(below) = path.strip_prefix(root) else { continue };
        let watched = |folder: &&Folder| Path::new(folder.path()) == below;
        if let Some(folder) = WATCHED.iter().find(watched) {
            tell(if gone { Seen::Lost } else { Seen::Appeared(*folder) });
            continue;
        }
        let Some((parent, name)) = below.parent().zip(below.file_name().and_then(|name| name.to_str())) else { continue };
        let home = WATCHED.iter().find(|folder| Path::new(folder.path()) == parent);
        if let Some(change) = home.and_then(|folder| change_of(*folder, name)) {
            tell(Seen::Change(change));
        }
    }
}

struct Gatherer {
    root: PathBuf,
    watcher: Weak<Mutex<RecommendedWatcher>>,
    stopped: Arc<AtomicBool>,
    sink: Sink,
}

impl Gatherer {
    /// Tells what changed between the loading and the watch.
    fn catch_up(&self, store: FileBackend) {
        for (kind, loaded) in store.0.loads.take() {
            let changes = match entity::changed_since(&store, kind, loaded) {
                Ok(keys) => keys.into_iter().map(Change::Key).collect(),
                Err(error) => {
                    tracing::warn!(%error, "cannot look at what was loaded again");
                    vec![Change::Rescan]
                }
            };
            for change in changes {
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                (self.sink)(change);
            }
        }
    }

    /// Runs until the watcher is gone, and with it the sender.
    fn run(self, receiver: &Receiver<Seen>) {
        while let Ok(first) = receiver.recv() {
            std::thread::sleep(GATHER);
            let mut changes = BTreeSet::new();
            for seen in std::iter::once(first).chain(receiver.try_iter().take(GATHER_MAX)) {
                changes.insert(self.change(seen));
            }
            if changes.contains(&Change::Rescan) {
                changes = BTreeSet::from([Change::Rescan]);
            }
            for change in changes {
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                (self.sink)(change);
            }
        }
    }

    fn change(&self, seen: Seen) -> Change {
        match seen {
            Seen::Change(change) => change,
            Seen::Lost => Change::Rescan,
            Seen::Appeared(folder) => {
                self.watch_again(folder);
                Change::Rescan
            }
        }
    }

    /// Watches a folder that came back, and those below it. One that is not there is watched when it comes.
    fn watch_again(&self, folder: Folder) {
        let Some(watcher) = self.watcher.upgrade() else { return };
        let mut watcher = watcher.lock().unwrap_or_else(PoisonError::into_inner);
        for below in WATCHED.iter().filter(|below| Path::new(below.path()).starts_with(folder.path())) {
            let path = self.root.join(below.path());
            // Only an old folder of the same path makes this succeed; a failure is the ordinary case.
            let _ = watcher.unwatch(&path);
            let plain = std::fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir());
            if plain && let Err(error) = watcher.watch(&path, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, path = %path.display(), "cannot watch a folder again; its changes are found by polling");
            }
        }
    }
}
