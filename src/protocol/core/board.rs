//! Commands on the board.

use super::super::effect::{AgentInput, Effect, Mark};
use super::super::format;
use super::TeamCore;
use crate::domain::board::Stuck;
use crate::domain::event::TaskChange;
use crate::domain::{MemberName, Party, Refusal, Reply, Task, TaskId, TaskStatus, TeamEvent, Timestamp};
use std::sync::Arc;

/// Longest subject, in characters.
const SUBJECT_MAX: usize = 500;

type Decision = Result<Vec<Effect>, Refusal>;

impl TeamCore {
    pub(super) fn create_task(&self, by: &Party, subject: &str, description: &str, blocked_by: &[TaskId], now: Timestamp) -> Decision {
        let subject = checked_subject(subject)?;
        let id = self.board.next_id().max(TaskId(self.taken.saturating_add(1)));
        self.board.check_blockers(id, blocked_by)?;
        let mut task = Task::new(id, subject);
        task.description = description.to_owned();
        task.blocked_by = unique(blocked_by.to_vec());
        task.note(now, by.clone(), "created");
        let task = Arc::new(task);
        let mut effects = vec![Effect::CreateTask(task.clone()), changed(&task, TaskChange::Created, by)];
        effects.extend(self.work_given());
        effects.push(Effect::Reply(Reply::Task(task)));
        Ok(effects)
    }

    pub(super) fn claim_task(&self, by: &Party, id: TaskId, now: Timestamp) -> Decision {
        let name = by.member().ok_or_else(|| Refusal::Invalid("only members claim tasks".into()))?;
        self.board.check_claim(id, name)?;
        let (task, mut effects) = self.claim_effects(name, id, now)?;
        effects.push(Effect::Reply(Reply::Task(task)));
        Ok(effects)
    }

    /// The effects of a claim that was checked: the task's file, the fact, the member's record and gate.
    pub(super) fn claim_effects(&self, name: &MemberName, id: TaskId, now: Timestamp) -> Result<(Arc<Task>, Vec<Effect>), Refusal> {
        let party = Party::Member(name.clone());
        let task = self.changed_task(id, &party, now, "claimed", |task| {
            task.status = TaskStatus::InProgress;
            task.owner = Some(name.clone());
        })?;
        let mut effects = vec![Effect::SaveTask(task.clone()), changed(&task, TaskChange::Claimed, &party)];
        effects.extend(self.set_task(name, Some(id)));
        effects.push(Effect::Mark(Mark::Gate { name: name.clone(), gate: self.gate_for_task(name, id) }));
        effects.push(Effect::Mark(Mark::Nudged { name: name.clone(), task: None }));
        Ok((task, effects))
    }

    pub(super) fn complete_task(&self, by: &Party, id: TaskId, now: Timestamp) -> Decision {
        let task = self.board.find(id)?;
        if task.status == TaskStatus::Completed {
            return Err(Refusal::Finished(id));
        }
        let overrides = *by == Party::Human || *by == Party::System || by.is_lead();
        let owns = by.member().is_some() && task.owner.as_ref() == by.member();
        if !owns && !overrides {
            let owner = task.owner.as_ref().map_or_else(|| "nobody claimed it yet, claim it first".to_owned(), |o| format!("{o} owns it"));
            return Err(Refusal::NotOwner { task: id, owner });
        }
        let blockers = self.board.blockers(id);
        if !blockers.is_empty() && *by != Party::Human {
            return Err(Refusal::Blocked { task: id, blockers: crate::domain::board::describe(&blockers) });
        }
        if let Some(name) = by.member() {
            self.check_gate(name)?;
        }
        let words = if owns { "completed".to_owned() } else { format!("completed by {by} (override)") };
        let done = self.changed_task(id, by, now, &words, |task| task.status = TaskStatus::Completed)?;
        let mut effects = vec![Effect::SaveTask(done.clone()), changed(&done, TaskChange::Completed, by)];
        effects.extend(self.owner_lost_task(task, by, "was completed"));
        effects.extend(self.work_given());
        effects.push(Effect::Reply(Reply::Task(done)));
        effects.extend(self.plan_lost_task(task, "was completed"));
        Ok(effects)
    }

    pub(super) fn release_task(&self, by: &Party, id: TaskId, note: Option<&str>, now: Timestamp) -> Decision {
        let task = self.board.find(id)?;
        let owns = by.member().is_some() && task.owner.as_ref() == by.member();
        if !owns {
            self.check_steers(by, &format!("release task {id}, which is not yours"))?;
        }
        if task.status == TaskStatus::Pending && task.owner.is_none() {
            return Err(Refusal::Invalid(format!("task {id} is on the board already: nobody has it")));
        }
        let words = note.map_or_else(|| "released".to_owned(), |n| format!("released: {n}"));
        let mut effects = self.release_effects(task, by, &words, now)?;
        effects.extend(self.owner_lost_task(task, by, "was released"));
        effects.extend(self.work_given());
        let reply = self.changed_task(id, by, now, &words, released)?;
        effects.push(Effect::Reply(Reply::Task(reply)));
        effects.extend(self.plan_lost_task(task, "was given back"));
        Ok(effects)
    }

    /// The effects that give a task back to the board with a note.
    pub(super) fn release_effects(&self, task: &Task, by: &Party, words: &str, now: Timestamp) -> Decision {
        let free = self.changed_task(task.id, by, now, words, released)?;
        let mut effects = vec![Effect::SaveTask(free.clone()), changed(&free, TaskChange::Released, by)];
        if let Some(owner) = task.owner.as_ref().filter(|_| task.status == TaskStatus::InProgress) {
            effects.extend(self.set_task(owner, self.other_task(owner, task.id)));
        }
        Ok(effects)
    }

    /// Gives back all that `name` has in progress: it shut down, failed, or timed out.
    pub(super) fn release_all_of(&self, name: &MemberName, words: &str, now: Timestamp) -> Vec<Effect> {
        let held: Vec<TaskId> = self.board.in_progress_of(name).collect();
        let tasks = held.iter().filter_map(|id| self.board.get(*id));
        let released = tasks.filter_map(|task| self.release_effects(task, &Party::System, words, now).ok()).flatten();
        released.chain(self.set_task(name, None)).collect()
    }

    pub(super) fn delete_task(&self, by: &Party, id: TaskId) -> Decision {
        self.check_steers(by, "delete tasks")?;
        let task = self.board.find(id)?;
        let mut effects = vec![Effect::DeleteTask(id), Effect::Emit(TeamEvent::TaskRemoved { id, by: by.clone() })];
        effects.extend(self.owner_lost_task(task, by, "was deleted"));
        effects.push(Effect::Reply(Reply::Done));
        effects.extend(self.plan_lost_task(task, "was deleted"));
        Ok(effects)
    }

    pub(super) fn edit_blockers(&self, by: &Party, id: TaskId, add: &[TaskId], remove: &[TaskId], now: Timestamp) -> Decision {
        self.board.find(id)?;
        self.board.check_blockers(id, add)?;
        let task = self.changed_task(id, by, now, "dependencies changed", |task| {
            task.blocked_by.retain(|b| !remove.contains(b));
            task.blocked_by.extend(add);
            task.blocked_by = unique(std::mem::take(&mut task.blocked_by));
        })?;
        Ok(vec![Effect::SaveTask(task.clone()), changed(&task, TaskChange::Edited, by), Effect::Reply(Reply::Task(task))])
    }

    pub(super) fn edit_task(&self, by: &Party, id: TaskId, subject: Option<&str>, description: Option<&str>, now: Timestamp) -> Decision {
        self.check_steers(by, "change a task's words")?;
        let subject = subject.map(checked_subject).transpose()?;
        let task = self.changed_task(id, by, now, "edited", |task| {
            if let Some(subject) = subject {
                task.subject = subject.to_owned();
            }
            if let Some(description) = description {
                task.description = description.to_owned();
            }
        })?;
        Ok(vec![Effect::SaveTask(task.clone()), changed(&task, TaskChange::Edited, by), Effect::Reply(Reply::Task(task))])
    }

    pub(super) fn repair_task(&self, by: &Party, id: TaskId, now: Timestamp) -> Decision {
        self.check_steers(by, "repair tasks")?;
        self.board.find(id)?;
        let drop = match self.board.stuck(id) {
            None => return Err(Refusal::Invalid(format!("task {id} is not stuck: nothing to repair"))),
            Some(Stuck::Missing(missing)) => missing,
            Some(Stuck::Cycle(path)) => path.get(1).copied().into_iter().collect(),
        };
        let gone = drop.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let task = self.changed_task(id, by, now, &format!("no longer waits for {gone} (repair)"), |task| {
            task.blocked_by.retain(|b| !drop.contains(b));
        })?;
        Ok(vec![Effect::SaveTask(task.clone()), changed(&task, TaskChange::Edited, by), Effect::Reply(Reply::Task(task))])
    }

    fn changed_task(
        &self,
        id: TaskId,
        by: &Party,
        now: Timestamp,
        words: &str,
        change: impl FnOnce(&mut Task),
    ) -> Result<Arc<Task>, Refusal> {
        let mut task = Task::clone(self.board.find(id)?);
        change(&mut task);
        task.note(now, by.clone(), words);
        Ok(Arc::new(task))
    }

    /// The owner of a task that somebody else finished, released or deleted is told, and holds nothing any more.
    pub(super) fn owner_lost_task(&self, task: &Task, by: &Party, what: &str) -> Vec<Effect> {
        let Some(owner) = task.owner.as_ref().filter(|_| task.status == TaskStatus::InProgress) else { return Vec::new() };
        let mut effects = self.set_task(owner, self.other_task(owner, task.id));
        if by.member() != Some(owner) && self.is_live(owner) {
            let text = format::notice(&format!("Task {} ({}) {what} by {by}: stop working on it.", task.id, task.subject));
            effects.extend(self.call(owner, AgentInput::Tell { text, cause: "task taken away" }));
        }
        effects
    }

    /// A plan for a task that left its owner's hands is withdrawn.
    pub(super) fn plan_lost_task(&self, task: &Task, what: &str) -> Vec<Effect> {
        let Some(owner) = &task.owner else { return Vec::new() };
        self.withdraw_plan_for(owner, task.id, &format!("task {} {what}", task.id))
    }

    /// What else the member has in progress (others may write that into the files).
    fn other_task(&self, name: &MemberName, but: TaskId) -> Option<TaskId> {
        self.board.in_progress_of(name).find(|id| *id != but)
    }
}

fn checked_subject(subject: &str) -> Result<&str, Refusal> {
    let subject = subject.trim();
    if subject.is_empty() {
        return Err(Refusal::Invalid("a task needs a subject".into()));
    }
    if subject.chars().count() > SUBJECT_MAX {
        return Err(Refusal::Invalid(format!("a subject has at most {SUBJECT_MAX} characters: put the rest into the description")));
    }
    Ok(subject)
}

fn released(task: &mut Task) {
    task.status = TaskStatus::Pending;
    task.owner = None;
}

fn unique(mut ids: Vec<TaskId>) -> Vec<TaskId> {
    let mut seen = std::collections::HashSet::new();
    ids.retain(|id| seen.insert(*id));
    ids
}

/// The fact that a task changed.
pub(super) fn changed(task: &Arc<Task>, change: TaskChange, by: &Party) -> Effect {
    Effect::Emit(TeamEvent::TaskChanged { task: task.clone(), change, by: by.clone() })
}
