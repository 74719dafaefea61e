//! Many threads and processes want the same tasks: each task gets exactly one owner.

use super::{files, name, timed};
use signoff::domain::{MemberName, Refusal, Task, TaskId, Timestamp};
use signoff::store::{TeamStore, UpdateError};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Barrier};

const TASKS: u64 = 1000;
const THREADS: u64 = 64;
const PROCESSES: u64 = 8;
const ROLE: &str = "SIGNOFF_TEST_RACER";

/// Tries every task once, beginning at another one than the others; returns those that were won.
fn race(store: &TeamStore, racer: &MemberName, start: u64) -> Vec<u64> {
    let win = |number: &u64| match store.claim(TaskId(*number), racer, Timestamp(0)) {
        Ok(_) => true,
        Err(UpdateError::Refused(Refusal::Owned { owner, .. })) => {
            assert_ne!(owner, *racer, "a task is tried once");
            false
        }
        Err(other) => panic!("{other}"),
    };
    (0..TASKS).map(|n| (start + n) % TASKS + 1).filter(win).collect()
}

/// A process that takes part. Does nothing when run as a test by itself.
#[test]
fn racer_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (workspace, number) = role.rsplit_once(' ').unwrap();
    let store = files(Path::new(workspace));
    let won = race(&store, &name(&format!("p{number}")), number.parse::<u64>().unwrap() * 97);
    std::fs::write(Path::new(workspace).join(format!("won_{number}")), serde_json::to_vec(&won).unwrap()).unwrap();
}

fn spawn(workspace: &Path, number: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::race::racer_process", "--nocapture"])
        .env(ROLE, format!("{} {number}", workspace.display()))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn sixty_four_threads_and_eight_processes_race_for_a_thousand_tasks() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".tasks")).unwrap();
    for number in 1..=TASKS {
        let text = serde_json::to_vec(&Task::new(TaskId(number), format!("Task {number}"))).unwrap();
        std::fs::write(dir.path().join(format!(".tasks/task_{number}.json")), text).unwrap();
    }
    let ((mut won, children), took) = timed(|| {
        let mut children: Vec<_> = (0..PROCESSES).map(|number| spawn(dir.path(), number)).collect();
        // Eight handles with eight threads each, so that threads also meet as strangers.
        let stores: Vec<TeamStore> = (0..THREADS / 8).map(|_| files(dir.path())).collect();
        let barrier = Arc::new(Barrier::new(THREADS as usize));
        let won: HashMap<String, Vec<u64>> = std::thread::scope(|scope| {
            let start = |n: u64| {
                let (store, barrier, racer) = (stores[(n % 8) as usize].clone(), barrier.clone(), format!("t{n}"));
                scope.spawn(move || {
                    barrier.wait();
                    let won = race(&store, &name(&racer), n * 15);
                    (racer, won)
                })
            };
            (0..THREADS).map(start).collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        (won, children.len() as u64)
    });
    for number in 0..children {
        let bytes = std::fs::read(dir.path().join(format!("won_{number}"))).unwrap();
        won.insert(format!("p{number}"), serde_json::from_slice(&bytes).unwrap());
    }
    println!("{} winners of {TASKS} tasks in {took:?}", won.values().filter(|tasks| !tasks.is_empty()).count());
    assert_eq!(won.values().map(Vec::len).sum::<usize>() as u64, TASKS, "each task was won exactly once");
    let board = files(dir.path()).tasks().unwrap();
    assert_eq!((board.items.len() as u64, board.faults.len()), (TASKS, 0));
    for (task, _) in board.items {
        let owner = task.owner.unwrap();
        assert!(won[owner.as_str()].contains(&task.id.0), "{} says {owner}, who did not win it", task.id);
        assert_eq!(task.notes.len(), 1);
    }
}

#[test]
fn numbers_of_new_tasks_are_given_once() {
    let dir = tempfile::tempdir().unwrap();
    let numbers: Vec<u64> = std::thread::scope(|scope| {
        let create = |_| {
            let store = files(dir.path());
            scope.spawn(move || (0..20).map(|_| store.create_task(|id| Task::new(id, "x")).unwrap().0.id.0).collect::<Vec<_>>())
        };
        (0..8).map(create).collect::<Vec<_>>().into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=160).collect::<Vec<_>>());
}
