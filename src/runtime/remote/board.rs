//! The board through its files: the same rules as in the running team, the person's rights.

use super::{Act, Files};
use crate::domain::board::Stuck;
use crate::domain::text::one_line;
use crate::domain::{Board, Party, Refusal, Reply, Task, TaskId, TaskStatus};
use crate::store::{PutOf, Revision};
use std::sync::Arc;

/// A subject is one line of at most so many characters.
const SUBJECT_MAX: usize = 200;
/// Times a deletion is tried against others who change the task.
const DELETE_TRIES: u32 = 20;

fn task(changed: (Task, Revision)) -> Reply {
    Reply::Task(Arc::new(changed.0))
}

fn subject(text: &str) -> Result<String, Refusal> {
    let line = one_line(text, SUBJECT_MAX);
    if line.trim().is_empty() { Err(Refusal::Invalid("a task needs a subject".into())) } else { Ok(line) }
}

impl Files {
    pub(super) fn board(&self) -> Result<Board, Refusal> {
        let mut board = Board::default();
        for (task, _) in self.store.tasks()?.items {
            board.insert(Arc::new(task));
        }
        Ok(board)
    }

    pub(super) fn create_task(
        &self,
        act: &Act<'_>,
        words: &str,
        description: String,
        mut blocked_by: Vec<TaskId>,
    ) -> Result<Reply, Refusal> {
        let subject = subject(words)?;
        blocked_by.sort_unstable();
        blocked_by.dedup();
        let board = self.board()?;
        board.check_blockers(board.next_id(), &blocked_by)?;
        let make = |id| {
            let mut task = Task { description: description.clone(), blocked_by: blocked_by.clone(), ..Task::new(id, subject.clone()) };
            task.note(act.at, act.by.clone(), "created");
            task
        };
        Ok(task(self.store.create_task(make)?))
    }

    pub(super) fn complete_task(&self, act: &Act<'_>, id: TaskId) -> Result<Reply, Refusal> {
        let board = self.board()?;
        board.find(id)?;
        let blockers = board.blockers(id);
        if !blockers.is_empty() {
            return Err(Refusal::Blocked { task: id, blockers: crate::domain::board::describe(&blockers) });
        }
        let rule = |there: &Task| {
            if there.status == TaskStatus::Completed {
                return Err(Refusal::Finished(id));
            }
            let mut done = Task { status: TaskStatus::Completed, ..there.clone() };
            done.note(act.at, act.by.clone(), overriding("completed", act.by, there));
            Ok(done)
        };
        Ok(task(self.store.update_task(id, rule)?))
    }

    pub(super) fn release_task(&self, act: &Act<'_>, id: TaskId, note: Option<&str>) -> Result<Reply, Refusal> {
        let rule = |there: &Task| {
            if there.status == TaskStatus::Completed {
                return Err(Refusal::Finished(id));
            }
            if there.status == TaskStatus::Pending && there.owner.is_none() {
                return Err(Refusal::Invalid(format!("nobody has task {id}: there is nothing to release")));
            }
            let mut free = Task { status: TaskStatus::Pending, owner: None, ..there.clone() };
            let words = note.map(|note| format!(": {note}")).unwrap_or_default();
            free.note(act.at, act.by.clone(), overriding("released", act.by, there) + &words);
            Ok(free)
        };
        Ok(task(self.store.update_task(id, rule)?))
    }

    pub(super) fn delete_task(&self, id: TaskId) -> Result<Reply, Refusal> {
        for _ in 0..DELETE_TRIES {
            let (_, revision) = self.store.task(id)?.ok_or(Refusal::UnknownTask(id))?;
            match self.store.delete_task(id, revision)? {
                PutOf::Applied(_) => return self.deleted(id),
                PutOf::Lost(Some(_)) => {}
                PutOf::Lost(None) => return Err(Refusal::UnknownTask(id)),
            }
        }
        Err(Refusal::Store(format!("task {id} is changed by others all the time: try again")))
    }

    fn deleted(&self, id: TaskId) -> Result<Reply, Refusal> {
        let waiting: Vec<String> = self.board()?.waiting_for(id).map(|task| task.to_string()).collect();
        if waiting.is_empty() {
            return Ok(Reply::Done);
        }
        Ok(Reply::Said(format!("task {id} is deleted; {} waited for it and cannot start before that is repaired", waiting.join(", "))))
    }

    pub(super) fn edit_blockers(&self, act: &Act<'_>, id: TaskId, add: &[TaskId], remove: &[TaskId]) -> Result<Reply, Refusal> {
        let board = self.board()?;
        board.find(id)?;
        board.check_blockers(id, add)?;
        let rule = |there: &Task| {
            let mut changed = there.clone();
            changed.blocked_by.retain(|blocker| !remove.contains(blocker));
            let new: Vec<TaskId> = add.iter().filter(|blocker| !changed.blocked_by.contains(blocker)).copied().collect();
            changed.blocked_by.extend(new);
            if changed.blocked_by != there.blocked_by {
                changed.note(act.at, act.by.clone(), "dependencies changed");
            }
            Ok(changed)
        };
        Ok(task(self.store.update_task(id, rule)?))
    }

    pub(super) fn edit_task(
        &self,
        act: &Act<'_>,
        id: TaskId,
        words: Option<String>,
        description: Option<String>,
    ) -> Result<Reply, Refusal> {
        let words = words.as_deref().map(subject).transpose()?;
        let rule = |there: &Task| {
            let mut changed = there.clone();
            changed.subject = words.clone().unwrap_or(changed.subject);
            changed.description = description.clone().unwrap_or(changed.description);
            if changed != *there {
                changed.note(act.at, act.by.clone(), "edited");
            }
            Ok(changed)
        };
        Ok(task(self.store.update_task(id, rule)?))
    }

    pub(super) fn repair_task(&self, act: &Act<'_>, id: TaskId) -> Result<Reply, Refusal> {
        let board = self.board()?;
        board.find(id)?;
        let (drop, why) = match board.stuck(id) {
            None => return Err(Refusal::Invalid(format!("task {id} needs no repair: nothing it waits for is missing or waits for it"))),
            Some(Stuck::Missing(missing)) => (missing, "no longer waits for what is missing"),
            Some(Stuck::Cycle(path)) => (path.get(1).copied().into_iter().collect(), "no longer waits in a circle"),
        };
        let rule = |there: &Task| {
            let mut changed = there.clone();
            changed.blocked_by.retain(|blocker| !drop.contains(blocker));
            changed.note(act.at, act.by.clone(), why);
            Ok(changed)
        };
        Ok(task(self.store.update_task(id, rule)?))
    }

    pub(super) fn get_task(&self, id: TaskId) -> Result<Reply, Refusal> {
        let there = self.store.task(id)?.ok_or(Refusal::UnknownTask(id))?;
        Ok(task(there))
    }

    pub(super) fn list_tasks(&self) -> Result<Reply, Refusal> {
        Ok(Reply::Tasks(self.store.tasks()?.items.into_iter().map(|(task, _)| Arc::new(task)).collect()))
    }
}

/// `released`, and whose it was where that is not the one who acts.
fn overriding(what: &str, by: &Party, task: &Task) -> String {
    match &task.owner {
        Some(owner) if by.member() != Some(owner) => format!("{what} by {by}; it was {owner}'s"),
        Some(_) | None => format!("{what} by {by}"),
    }
}
