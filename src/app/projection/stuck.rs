//! Tasks that can never become ready by themselves, found without looking at the whole board.
//!
//! A circle needs at least one task that waits for itself or for a higher number, and rules forbid making one; so only
//! such tasks are followed. A missing blocker is seen when the task, or the blocker, changes.

use super::Projection;
use crate::domain::board::Stuck;
use crate::domain::{Task, TaskId};
use std::sync::Arc;

impl Projection {
    pub(super) fn task_changed(&mut self, id: TaskId, task: Option<Arc<Task>>) {
        let mut touched: Vec<TaskId> = match task {
            Some(task) => self.board.insert(task),
            None => {
                self.board.remove(id);
                std::iter::once(id).chain(self.board.dependants(id)).collect()
            }
        };
        if let Some(Stuck::Cycle(path)) = self.stuck.get(&id) {
            touched.extend(path.iter().copied());
        }
        for id in touched {
            self.recheck(id);
        }
    }

    fn recheck(&mut self, id: TaskId) {
        let suspect = self.board.get(id).is_some_and(|task| {
            task.blocked_by.iter().any(|blocker| *blocker >= id || self.board.get(*blocker).is_none()) || self.stuck.contains_key(&id)
        });
        match suspect.then(|| self.board.stuck(id)).flatten() {
            Some(Stuck::Cycle(path)) => {
                for member in &path {
                    self.stuck.insert(*member, Stuck::Cycle(path.clone()));
                }
            }
            Some(missing @ Stuck::Missing(_)) => {
                self.stuck.insert(id, missing);
            }
            None => {
                self.stuck.remove(&id);
            }
        }
    }

    /// Why a task can never become ready by itself.
    pub fn stuck(&self, id: TaskId) -> Option<&Stuck> {
        self.stuck.get(&id)
    }

    /// All tasks that can never become ready by themselves.
    pub fn stuck_tasks(&self) -> impl Iterator<Item = (TaskId, &Stuck)> {
        self.stuck.iter().map(|(id, why)| (*id, why))
    }
}
