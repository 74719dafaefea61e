//! The board: all tasks, what is ready, and the rules for claiming and depending. Pure and incremental: a change costs
//! the number of its dependants, whatever the size of the board.
//!
//! Readiness is derived: pending, no owner, and every id in `blockedBy` exists and is completed.

use super::{MemberName, Refusal, Task, TaskId, TaskStatus};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Something a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocker {
    /// Exists and is not completed.
    Open(TaskId),
    /// Does not exist.
    Missing(TaskId),
}

/// Why a task can never become ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// A blocker is gone.
    Missing(Vec<TaskId>),
    /// It waits in a circle; the path begins and ends with the task.
    Cycle(Vec<TaskId>),
}

/// How many tasks stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pending and ready.
    pub ready: usize,
    /// Pending and not ready.
    pub blocked: usize,
    /// In progress.
    pub doing: usize,
    /// Completed.
    pub done: usize,
}

/// All tasks with an index of dependants, readiness and owners.
#[derive(Clone, Debug, Default)]
pub struct Board {
    tasks: BTreeMap<TaskId, Arc<Task>>,
    dependants: HashMap<TaskId, BTreeSet<TaskId>>,
    ready: BTreeSet<TaskId>,
    doing: BTreeMap<MemberName, BTreeSet<TaskId>>,
    unowned: BTreeSet<TaskId>,
    done: usize,
    in_progress: usize,
}

impl Board {
    /// Adds or replaces a task. Returns the ids whose readiness may have changed, itself included.
    pub fn insert(&mut self, task: Arc<Task>) -> Vec<TaskId> {
        self.unlink(task.id);
        for blocker in &task.blocked_by {
            self.dependants.entry(*blocker).or_default().insert(task.id);
        }
        match task.status {
            TaskStatus::Completed => self.done += 1,
            TaskStatus::InProgress => {
                self.in_progress += 1;
                match &task.owner {
                    Some(owner) => self.doing.entry(owner.clone()).or_default().insert(task.id),
                    None => self.unowned.insert(task.id),
                };
            }
            TaskStatus::Pending => {}
        }
        let id = task.id;
        self.tasks.insert(id, task);
        self.refresh(id)
    }

    /// Takes a task off the board. Dependants then wait for a missing task.
    pub fn remove(&mut self, id: TaskId) -> Option<Arc<Task>> {
        self.unlink(id);
        let task = self.tasks.remove(&id);
        self.refresh(id);
        task
    }

    fn unlink(&mut self, id: TaskId) {
        let Some(old) = self.tasks.get(&id).cloned() else { return };
        for blocker in &old.blocked_by {
            if let Some(set) = self.dependants.get_mut(blocker) {
                set.remove(&id);
                if set.is_empty() {
                    self.dependants.remove(blocker);
                }
            }
        }
        match old.status {
            TaskStatus::Completed => self.done -= 1,
            TaskStatus::InProgress => {
                self.in_progress -= 1;
                self.unowned.remove(&id);
                if let Some(owner) = &old.owner
                    && let Some(set) = self.doing.get_mut(owner)
                {
                    set.remove(&id);
                    if set.is_empty() {
                        self.doing.remove(owner);
                    }
                }
            }
            TaskStatus::Pending => {}
        }
    }

    fn refresh(&mut self, id: TaskId) -> Vec<TaskId> {
        let mut touched: Vec<TaskId> = vec![id];
        touched.extend(self.dependants.get(&id).into_iter().flatten());
        for id in &touched {
            if self.compute_ready(*id) {
                self.ready.insert(*id);
            } else {
                self.ready.remove(id);
            }
        }
        touched
    }

    fn compute_ready(&self, id: TaskId) -> bool {
        self.tasks.get(&id).is_some_and(|task| {
            task.status == TaskStatus::Pending && task.owner.is_none() && task.blocked_by.iter().all(|b| self.is_completed(*b))
        })
    }

    fn is_completed(&self, id: TaskId) -> bool {
        self.tasks.get(&id).is_some_and(|task| task.status == TaskStatus::Completed)
    }

    /// The task, if it exists.
    pub fn get(&self, id: TaskId) -> Option<&Arc<Task>> {
        self.tasks.get(&id)
    }

    /// The task, or the refusal that says it does not exist.
    pub fn find(&self, id: TaskId) -> Result<&Arc<Task>, Refusal> {
        self.tasks.get(&id).ok_or(Refusal::UnknownTask(id))
    }

    /// All tasks by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Task>> + Clone {
        self.tasks.values()
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The tasks that can be claimed, by number.
    pub fn ready(&self) -> impl Iterator<Item = TaskId> {
        self.ready.iter().copied()
    }

    /// Whether a task can be claimed.
    pub fn is_ready(&self, id: TaskId) -> bool {
        self.ready.contains(&id)
    }

    /// How many tasks stand where.
    pub fn counts(&self) -> Counts {
        let ready = self.ready.len();
        let pending = self.tasks.len() - self.done - self.in_progress;
        Counts { ready, blocked: pending - ready, doing: self.in_progress, done: self.done }
    }

    /// Whether every task is completed (an empty board is, too).
    pub fn is_finished(&self) -> bool {
        self.done == self.tasks.len()
    }

    /// The number the next task gets: one more than the highest.
    pub fn next_id(&self) -> TaskId {
        TaskId(self.tasks.keys().next_back().map_or(1, |id| id.0.saturating_add(1)))
    }

    /// The tasks that `name` has in progress.
    pub fn in_progress_of(&self, name: &MemberName) -> impl Iterator<Item = TaskId> {
        self.doing.get(name).into_iter().flatten().copied()
    }

    /// Who has tasks in progress, with those tasks.
    pub fn in_progress(&self) -> impl Iterator<Item = (&MemberName, &BTreeSet<TaskId>)> {
        self.doing.iter()
    }

    /// Tasks in progress without an owner: only files written by others have them.
    pub fn unowned(&self) -> impl Iterator<Item = TaskId> {
        self.unowned.iter().copied()
    }

    /// What a task still waits for.
    pub fn blockers(&self, id: TaskId) -> Vec<Blocker> {
        let Some(task) = self.tasks.get(&id).filter(|task| task.status != TaskStatus::Completed) else { return Vec::new() };
        let blocker = |b: &TaskId| match self.tasks.get(b) {
            None => Some(Blocker::Missing(*b)),
            Some(other) if other.status == TaskStatus::Completed => None,
            Some(_) => Some(Blocker::Open(*b)),
        };
        task.blocked_by.iter().filter_map(blocker).collect()
    }

    /// The tasks that wait for `id`.
    pub fn dependants(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        self.dependants.get(&id).into_iter().flatten().copied()
    }

    /// The tasks that are not done and wait for `id`.
    pub fn waiting_for(&self, id: TaskId) -> impl Iterator<Item = TaskId> {
        self.dependants(id).filter(|other| self.tasks.get(other).is_some_and(|task| task.status != TaskStatus::Completed))
    }

    /// Whether `by` may claim the task now; the refusal says exactly why not.
    pub fn check_claim(&self, id: TaskId, by: &MemberName) -> Result<&Arc<Task>, Refusal> {
        let task = self.find(id)?;
        if task.status == TaskStatus::Completed {
            return Err(Refusal::Finished(id));
        }
        if let Some(owner) = &task.owner {
            return Err(Refusal::Owned { task: id, owner: owner.clone() });
        }
        let blockers = self.blockers(id);
        if !blockers.is_empty() {
            return Err(Refusal::Blocked { task: id, blockers: describe(&blockers) });
        }
        if let Some(current) = self.in_progress_of(by).next() {
            return Err(Refusal::Busy { member: by.clone(), task: current });
        }
        Ok(task)
    }

    /// Whether `id` may wait for all of `blockers`: they exist, and no circle comes of it. For a task that is not on the
    /// board yet only existence and self-reference matter.
    pub fn check_blockers(&self, id: TaskId, blockers: &[TaskId]) -> Result<(), Refusal> {
        for blocker in blockers {
            // A task that is only being made cannot be meant by its own number.
            if *blocker == id && self.tasks.contains_key(&id) {
                return Err(Refusal::Cycle(vec![id, id]));
            }
            if !self.tasks.contains_key(blocker) {
                return Err(Refusal::MissingBlocker { task: id, missing: *blocker });
            }
            if let Some(path) = self.path(*blocker, id, |_| true) {
                let mut circle = vec![id];
                circle.extend(path);
                return Err(Refusal::Cycle(circle));
            }
        }
        Ok(())
    }

    /// A path along `blockedBy` from one task to another, both included, over tasks that `through` lets pass.
    fn path(&self, from: TaskId, to: TaskId, through: impl Fn(&Task) -> bool) -> Option<Vec<TaskId>> {
        let mut parent: HashMap<TaskId, TaskId> = HashMap::new();
        let mut seen = HashSet::from([from]);
        let mut queue = vec![from];
        while let Some(at) = queue.pop() {
            if at == to {
                let mut path = vec![to];
                let mut step = to;
                while let Some(before) = parent.get(&step) {
                    path.push(*before);
                    step = *before;
                }
                path.reverse();
                return Some(path);
            }
            for next in self.tasks.get(&at).filter(|t| through(t)).map(|t| t.blocked_by.as_slice()).unwrap_or_default() {
                if seen.insert(*next) {
                    parent.insert(*next, at);
                    queue.push(*next);
                }
            }
        }
        None
    }

    /// Why a task can never become ready by itself, if that is so.
    pub fn stuck(&self, id: TaskId) -> Option<Stuck> {
        let task = self.tasks.get(&id).filter(|task| task.status == TaskStatus::Pending)?;
        let missing: Vec<TaskId> = task.blocked_by.iter().filter(|b| !self.tasks.contains_key(b)).copied().collect();
        if !missing.is_empty() {
            return Some(Stuck::Missing(missing));
        }
        // A completed task holds nobody up, whatever it waited for itself.
        let open = |task: &Task| task.status != TaskStatus::Completed;
        let blockers = task.blocked_by.iter().filter(|b| !self.is_completed(**b));
        blockers.into_iter().find_map(|blocker| self.path(*blocker, id, open)).map(|path| {
            let mut circle = vec![id];
            circle.extend(path);
            Stuck::Cycle(circle)
        })
    }
}

/// `#3, #4, missing #9`.
pub fn describe(blockers: &[Blocker]) -> String {
    let word = |b: &Blocker| match b {
        Blocker::Open(id) => id.to_string(),
        Blocker::Missing(id) => format!("missing {id}"),
    };
    blockers.iter().map(word).collect::<Vec<_>>().join(", ")
}
