//! Outside edits reach the watcher, however they are made, and quickly.

use super::{files, inbox, task, until};
use signoff::domain::{Task, TaskId};
use signoff::store::{Backend as _, Change, Durability, Expect, FileBackend, Key, KeyKind};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Promised are 300 ms, which the median must keep; a single change may take longer on a loaded machine.
const PROMISED: Duration = Duration::from_millis(300);
const LIMIT: Duration = Duration::from_secs(3);

type Seen = Arc<Mutex<Vec<Change>>>;

fn watch(root: &Path) -> (Seen, signoff::store::Guard) {
    let seen: Seen = Arc::default();
    let sink = seen.clone();
    let guard = files(root).watch(move |change| sink.lock().unwrap().push(change)).unwrap();
    (seen, guard)
}

fn await_change(seen: &Seen, change: &Change, how: &str) -> Duration {
    let took = until(LIMIT, &format!("{change:?} after {how}"), || seen.lock().unwrap().contains(change));
    println!("{how}: {took:?}");
    // What belongs to the same edit may still be under way.
    std::thread::sleep(Duration::from_millis(40));
    seen.lock().unwrap().clear();
    took
}

/// As editors save: a new file, renamed over the old one.
fn rename_save(path: &Path, text: &str) {
    let temp = path.with_extension("json.swp");
    fs::write(&temp, text).unwrap();
    fs::rename(&temp, path).unwrap();
}

#[test]
fn outside_edits_in_place_and_by_rename_are_reported_quickly() {
    let dir = tempfile::tempdir().unwrap();
    let (seen, _guard) = watch(dir.path());
    let mut times = Vec::new();
    for (path, change) in [(".tasks/task_1.json", Change::Key(task(1))), ("team/config.json", Change::Key(Key::Team))] {
        let path = dir.path().join(path);
        fs::write(&path, "{}").unwrap();
        times.push(await_change(&seen, &change, "creating"));
        fs::write(&path, "{ }").unwrap();
        times.push(await_change(&seen, &change, "writing in place"));
        rename_save(&path, "{  }");
        times.push(await_change(&seen, &change, "saving by rename"));
        fs::write(&path, "{   }").unwrap();
        times.push(await_change(&seen, &change, "writing in place after a rename"));
        fs::remove_file(&path).unwrap();
        times.push(await_change(&seen, &change, "removing"));
    }
    fs::write(dir.path().join("team/inbox/bob.jsonl"), "{}\n").unwrap();
    times.push(await_change(&seen, &Change::Topic(inbox("bob")), "mail"));
    times.sort_unstable();
    assert!(times[times.len() / 2] <= PROMISED, "{times:?}");
}

#[test]
fn reading_and_files_of_no_interest_are_not_reported() {
    let dir = tempfile::tempdir().unwrap();
    let store = files(dir.path());
    store.put_task(&Task::new(TaskId(1), "a"), Expect::Absent).unwrap();
    let (seen, _guard) = watch(dir.path());
    fs::write(dir.path().join(".tasks/notes.txt"), "x").unwrap();
    fs::write(dir.path().join("README.md"), "x").unwrap();
    fs::read(dir.path().join(".tasks/task_1.json")).unwrap();
    store.tasks().unwrap();
    store.lock_team().unwrap();
    // A change that must be reported marks the end.
    store.put_task(&Task::new(TaskId(2), "b"), Expect::Absent).unwrap();
    until(Duration::from_secs(2), "the marker", || seen.lock().unwrap().contains(&Change::Key(task(2))));
    assert_eq!(*seen.lock().unwrap(), [Change::Key(task(2))]);
}

#[test]
fn a_file_that_never_rests_is_still_reported_and_not_once_a_write() {
    let dir = tempfile::tempdir().unwrap();
    let (seen, _guard) = watch(dir.path());
    let path = dir.path().join(".tasks/task_1.json");
    let mut writes = 0;
    until(Duration::from_secs(5), "a report while writing goes on", || {
        fs::write(&path, format!("{{\"n\":{writes}}}")).unwrap();
        writes += 1;
        writes > 50 && seen.lock().unwrap().len() > 2
    });
    let reports = seen.lock().unwrap().len();
    println!("{writes} writes, {reports} reports");
    assert!(reports < writes / 2);
}

#[test]
fn a_folder_that_is_removed_and_comes_back_is_watched_again() {
    let dir = tempfile::tempdir().unwrap();
    let (seen, _guard) = watch(dir.path());
    for folder in [".tasks", "team/inbox", "team"] {
        fs::remove_dir_all(dir.path().join(folder)).unwrap();
        await_change(&seen, &Change::Rescan, "removing a folder");
        fs::create_dir(dir.path().join(folder)).unwrap();
        await_change(&seen, &Change::Rescan, "making it again");
    }
    fs::create_dir(dir.path().join("team/inbox")).unwrap();
    await_change(&seen, &Change::Rescan, "making what was in it");
    fs::write(dir.path().join(".tasks/task_1.json"), "{}").unwrap();
    await_change(&seen, &Change::Key(task(1)), "a task in the new folder");
    fs::write(dir.path().join("team/inbox/bob.jsonl"), "{}\n").unwrap();
    await_change(&seen, &Change::Topic(inbox("bob")), "mail in the new folder");
}

#[test]
fn what_changed_between_the_loading_and_the_watch_is_told_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = |n: u64| dir.path().join(format!(".tasks/task_{n}.json"));
    let backend = FileBackend::open(dir.path(), Durability::Buffered).unwrap();
    for n in 1..=200 {
        assert!(matches!(backend.put(&task(n), Expect::Absent, b"{}"), Ok(signoff::store::Put::Applied(_))));
    }
    assert_eq!(backend.load(KeyKind::Tasks).unwrap().len(), 200);
    rename_save(&path(7), "{ }");
    fs::write(path(8), "[]").unwrap();
    fs::remove_file(path(9)).unwrap();
    fs::write(path(201), "{}").unwrap();
    let seen: Seen = Arc::default();
    let sink = seen.clone();
    let _guard = backend.watch(Box::new(move |change| sink.lock().unwrap().push(change))).unwrap();
    until(LIMIT, "the changes", || seen.lock().unwrap().len() >= 4);
    // Whatever is told besides has been told before this one.
    fs::write(path(300), "{}").unwrap();
    until(LIMIT, "the last change", || seen.lock().unwrap().contains(&Change::Key(task(300))));
    let mut told = seen.lock().unwrap().clone();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told, [7, 8, 9, 201, 300].map(|n| Change::Key(task(n))));
}
