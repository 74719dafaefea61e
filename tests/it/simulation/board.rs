//! The board's index against a naive recomputation, after any changes.

use proptest::prelude::*;
use signoff::domain::board::{Blocker, Counts};
use signoff::domain::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const IDS: u64 = 8;
const OWNERS: [&str; 3] = ["ann", "bob", "cid"];

#[derive(Clone, Debug)]
enum Change {
    Put { id: u64, status: TaskStatus, owner: Option<usize>, blocked_by: Vec<u64> },
    Remove(u64),
}

fn change() -> impl Strategy<Value = Change> {
    let status = prop_oneof![Just(TaskStatus::Pending), Just(TaskStatus::InProgress), Just(TaskStatus::Completed)];
    let put = (1..=IDS, status, proptest::option::of(0..OWNERS.len()), proptest::collection::vec(1..=IDS + 1, 0..3));
    prop_oneof![
        5 => put.prop_map(|(id, status, owner, blocked_by)| Change::Put { id, status, owner, blocked_by }),
        1 => (1..=IDS).prop_map(Change::Remove),
    ]
}

type Tasks = BTreeMap<TaskId, Task>;

fn name(at: usize) -> MemberName {
    MemberName::parse(OWNERS[at]).unwrap()
}

fn done(tasks: &Tasks, id: TaskId) -> bool {
    tasks.get(&id).is_some_and(|task| task.status == TaskStatus::Completed)
}

fn is_ready(tasks: &Tasks, task: &Task) -> bool {
    task.status == TaskStatus::Pending && task.owner.is_none() && task.blocked_by.iter().all(|b| done(tasks, *b))
}

/// All that can be reached from `from` along `blockedBy`.
fn reached(tasks: &Tasks, from: TaskId, passes: impl Fn(&Task) -> bool) -> BTreeSet<TaskId> {
    let mut seen = BTreeSet::from([from]);
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        for next in tasks.get(&at).filter(|task| passes(task)).map(|task| task.blocked_by.clone()).unwrap_or_default() {
            if seen.insert(next) {
                queue.push(next);
            }
        }
    }
    seen
}

fn check(board: &Board, tasks: &Tasks) {
    let ready: Vec<TaskId> = tasks.values().filter(|task| is_ready(tasks, task)).map(|task| task.id).collect();
    assert_eq!(board.ready().collect::<Vec<_>>(), ready);
    let count = |status| tasks.values().filter(|task| task.status == status).count();
    let (pending, doing, finished) = (count(TaskStatus::Pending), count(TaskStatus::InProgress), count(TaskStatus::Completed));
    assert_eq!(board.counts(), Counts { ready: ready.len(), blocked: pending - ready.len(), doing, done: finished });
    assert_eq!(board.is_finished(), finished == tasks.len());
    assert_eq!(board.next_id().0, tasks.keys().next_back().map_or(1, |id| id.0 + 1));
    let unowned: Vec<TaskId> = tasks.values().filter(|t| t.status == TaskStatus::InProgress && t.owner.is_none()).map(|t| t.id).collect();
    assert_eq!(board.unowned().collect::<Vec<_>>(), unowned);
    let mut held: BTreeMap<MemberName, BTreeSet<TaskId>> = BTreeMap::new();
    for task in tasks.values().filter(|t| t.status == TaskStatus::InProgress) {
        if let Some(owner) = &task.owner {
            held.entry(owner.clone()).or_default().insert(task.id);
        }
    }
    assert!(board.in_progress().eq(held.iter()));
    tasks.values().for_each(|task| check_task(board, tasks, task));
    for at in 0..OWNERS.len() {
        let own = held.get(&name(at)).cloned().unwrap_or_default();
        assert!(board.in_progress_of(&name(at)).eq(own.iter().copied()));
    }
}

fn check_task(board: &Board, tasks: &Tasks, task: &Task) {
    let blocker = |id: &TaskId| match tasks.get(id) {
        None => Some(Blocker::Missing(*id)),
        Some(other) => (other.status != TaskStatus::Completed).then_some(Blocker::Open(*id)),
    };
    // What is done waits for nothing.
    let waits = task.blocked_by.iter().filter(|_| task.status != TaskStatus::Completed);
    assert_eq!(board.blockers(task.id), waits.filter_map(blocker).collect::<Vec<_>>());
    let dependants: Vec<TaskId> = tasks.values().filter(|t| t.blocked_by.contains(&task.id)).map(|t| t.id).collect();
    assert_eq!(board.dependants(task.id).collect::<Vec<_>>(), dependants);
    let open: Vec<TaskId> = dependants.into_iter().filter(|id| tasks[id].status != TaskStatus::Completed).collect();
    assert_eq!(board.waiting_for(task.id).collect::<Vec<_>>(), open);
    let open = |t: &Task| t.status != TaskStatus::Completed;
    let circles = |b: &&TaskId| !done(tasks, **b) && reached(tasks, **b, open).contains(&task.id);
    let broken = task.blocked_by.iter().any(|b| !tasks.contains_key(b)) || task.blocked_by.iter().any(|b| circles(&b));
    assert_eq!(board.stuck(task.id).is_some(), task.status == TaskStatus::Pending && broken, "{}", task.id);
    for other in 1..=IDS + 1 {
        let other = TaskId(other);
        let fits = other != task.id && tasks.contains_key(&other) && !reached(tasks, other, |_| true).contains(&task.id);
        assert_eq!(board.check_blockers(task.id, &[other]).is_ok(), fits, "{} on {other}", task.id);
    }
    for at in 0..OWNERS.len() {
        let busy = tasks.values().any(|t| t.status == TaskStatus::InProgress && t.owner == Some(name(at)));
        let free = task.status != TaskStatus::Completed && task.owner.is_none() && task.blocked_by.iter().all(|b| done(tasks, *b));
        assert_eq!(board.check_claim(task.id, &name(at)).is_ok(), free && !busy);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_equals_a_naive_recomputation_after_any_changes(changes in proptest::collection::vec(change(), 1..40)) {
        let (mut board, mut tasks) = (Board::default(), Tasks::new());
        for change in changes {
            match change {
                Change::Put { id, status, owner, blocked_by } => {
                    let blocked_by = blocked_by.into_iter().map(TaskId).collect();
                    let task = Task { status, owner: owner.map(name), blocked_by, ..Task::new(TaskId(id), "t") };
                    board.insert(Arc::new(task.clone()));
                    tasks.insert(task.id, task);
                }
                Change::Remove(id) => {
                    prop_assert_eq!(board.remove(TaskId(id)).is_some(), tasks.remove(&TaskId(id)).is_some());
                }
            }
            check(&board, &tasks);
        }
    }
}
