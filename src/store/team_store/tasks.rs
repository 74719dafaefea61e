//! Tasks: the board's files.

use super::{Fault, Loaded, PutOf, TeamStore, UpdateError, encode};
use crate::domain::{Board, MemberName, Party, Refusal, Task, TaskId, TaskStatus, Timestamp};
use crate::store::{Expect, Key, KeyKind, Put, Revision, StoreError};
use std::sync::Arc;

/// How many numbers are tried for a new task while others create tasks, too.
const NUMBER_TRIES: u32 = 10_000;

/// The file's name decides which task it is; a number inside that differs is replaced and reported.
fn adopt(key: &Key, mut task: Task) -> (Task, Option<Fault>) {
    match key {
        Key::Task(id) if *id != task.id => {
            let remark = Fault::new(key, format_args!("says it is task {}; taken as {id}, as the file is named", task.id));
            task.id = *id;
            (task, Some(remark))
        }
        Key::Task(_) | Key::Team | Key::Request(_) | Key::Memory(_) => (task, None),
    }
}

impl TeamStore {
    /// All tasks by number, with what is wrong with the others.
    pub fn tasks(&self) -> Result<Loaded<Task>, StoreError> {
        self.load(KeyKind::Tasks, adopt)
    }

    /// A task. A file that does not parse is an error that says so.
    pub fn task(&self, id: TaskId) -> Result<Option<(Task, Revision)>, StoreError> {
        let key = Key::Task(id);
        Ok(self.get(&key)?.map(|(task, revision)| (adopt(&key, task).0, revision)))
    }

    /// Puts a new task on the board under the number after the highest (corrupt files count), exclusively across
    /// processes. `make` is called again when a number was taken in the meantime.
    pub fn create_task(&self, mut make: impl FnMut(TaskId) -> Task) -> Result<(Task, Revision), StoreError> {
        let mut least = 1;
        for _ in 0..NUMBER_TRIES {
            let highest = self.backend.list(KeyKind::Tasks)?.into_iter().map(|key| match key {
                Key::Task(id) => id.0,
                Key::Team | Key::Request(_) | Key::Memory(_) => 0,
            });
            let id = TaskId(highest.max().unwrap_or(0).saturating_add(1).max(least));
            let task = Task { id, ..make(id) };
            let key = Key::Task(id);
            // What took the number does not matter, not even whether it parses.
            match self.backend.put(&key, Expect::Absent, &encode(&key, &task)?)? {
                Put::Applied(revision) => return Ok((task, revision)),
                Put::Lost(_) => least = id.0.saturating_add(1),
            }
        }
        Err(StoreError::Contended { place: ".tasks".into(), tries: NUMBER_TRIES })
    }

    /// Writes a task if what is there is as expected.
    pub fn put_task(&self, task: &Task, expect: Expect) -> Result<PutOf<Task>, StoreError> {
        let key = Key::Task(task.id);
        Ok(match self.put(&key, task, expect)? {
            PutOf::Lost(Some((there, revision))) => PutOf::Lost(Some((adopt(&key, there).0, revision))),
            other => other,
        })
    }

    /// Removes a task if it is as expected.
    pub fn delete_task(&self, id: TaskId, expect: Revision) -> Result<PutOf<Task>, StoreError> {
        self.delete(&Key::Task(id), expect)
    }

    /// Changes a task by a rule, which is asked again about what is there when somebody else was quicker.
    pub fn update_task(&self, id: TaskId, mut rule: impl FnMut(&Task) -> Result<Task, Refusal>) -> Result<(Task, Revision), UpdateError> {
        self.change_task(id, |task| Ok(rule(task)?))
    }

    fn change_task(&self, id: TaskId, mut rule: impl FnMut(&Task) -> Result<Task, UpdateError>) -> Result<(Task, Revision), UpdateError> {
        let key = Key::Task(id);
        self.update(&key, |there: Option<&Task>| {
            let there = there.ok_or(Refusal::UnknownTask(id))?;
            let (task, _) = adopt(&key, there.clone());
            Ok(Task { id, ..rule(&task)? })
        })
    }

    /// Claims a task for a member: exactly one of many claimers, in threads or processes, wins; the others learn from the
    /// refusal who did, or what the task waits for. The task and its blockers are read from the store. That a member has
    /// no other task in progress is for the caller to check: it takes the whole board.
    pub fn claim(&self, id: TaskId, by: &MemberName, at: Timestamp) -> Result<(Task, Revision), UpdateError> {
        self.change_task(id, |task| {
            let mut board = Board::default();
            for blocker in task.blocked_by.iter().filter(|blocker| **blocker != id) {
                if let Some((blocker, _)) = self.task(*blocker)? {
                    board.insert(Arc::new(blocker));
                }
            }
            board.insert(Arc::new(task.clone()));
            board.check_claim(id, by)?;
            let mut claimed = Task { status: TaskStatus::InProgress, owner: Some(by.clone()), ..task.clone() };
            claimed.note(at, Party::Member(by.clone()), "claimed");
            Ok(claimed)
        })
    }
}
