//! The board: which tasks are listed, in the order of their numbers, so that rows keep their place when states change.
//! The list is kept up to date task by task: drawing looks at the visible part only.

use super::Move;
use crate::app::filter::Filter;
use crate::app::projection::Projection;
use crate::domain::{Task, TaskId};

/// The board's state.
#[derive(Default)]
pub struct BoardPane {
    /// The selected task.
    pub selected: Option<TaskId>,
    /// The first row on the screen.
    pub top: usize,
    list: Vec<TaskId>,
    filter: Option<Filter>,
}

impl BoardPane {
    /// The tasks that are listed, by number.
    pub fn list(&self) -> &[TaskId] {
        &self.list
    }

    /// What is typed after `/`.
    pub fn filter(&self) -> Option<&Filter> {
        self.filter.as_ref()
    }

    /// The place of the selected task in the list.
    pub fn index(&self) -> Option<usize> {
        self.list.binary_search(&self.selected?).ok()
    }

    /// A task is new, changed or gone.
    pub fn task_changed(&mut self, id: TaskId, task: Option<&Task>) {
        let listed = task.is_some_and(|task| self.filter.as_mut().is_none_or(|filter| filter.fits(&haystack(task))));
        match (self.list.binary_search(&id), listed) {
            (Err(at), true) => {
                self.list.insert(at, id);
                // A row that comes in above the screen must not push the rows on it down.
                if at < self.top {
                    self.top += 1;
                }
            }
            (Ok(at), false) => {
                self.list.remove(at);
                if at < self.top {
                    self.top -= 1;
                }
                if self.selected == Some(id) {
                    self.selected = self.list.get(at).or_else(|| self.list.last()).copied();
                }
            }
            (Ok(_), true) | (Err(_), false) => {}
        }
        if self.selected.is_none() {
            self.selected = self.list.first().copied();
        }
    }

    /// Filters anew: the one moment that looks at every task.
    pub fn set_filter(&mut self, text: &str, team: &Projection) {
        self.filter = Filter::new(text);
        self.list = match &mut self.filter {
            None => team.board.iter().map(|task| task.id).collect(),
            Some(filter) => team.board.iter().filter(|task| filter.fits(&haystack(task))).map(|task| task.id).collect(),
        };
        if self.index().is_none() {
            self.selected = self.list.first().copied();
        }
    }

    /// Moves the selection.
    pub fn go(&mut self, step: Move) {
        if let Some(at) = step.target(self.index(), self.list.len()) {
            self.selected = self.list.get(at).copied();
        }
    }
}

fn haystack(task: &Task) -> String {
    let owner = task.owner.as_ref().map_or("", |name| name.as_str());
    format!("{} {} {owner}", task.id, task.subject)
}
