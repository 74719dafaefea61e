//! The inbox of the selected member: the newest message is selected and followed until the person moves up.

use super::Move;
use crate::app::filter::Filter;
use crate::app::projection::MemberView;
use crate::domain::Envelope;
use std::sync::Arc;

/// The inbox's state.
#[derive(Default)]
pub struct InboxPane {
    /// The selected message; `None` follows the newest.
    pub selected: Option<Arc<Envelope>>,
    /// The first row on the screen.
    pub top: usize,
    /// What is typed after `/`.
    pub filter: Option<Filter>,
}

impl InboxPane {
    /// The messages that are listed, oldest first.
    pub fn list(&mut self, view: &MemberView) -> Vec<Arc<Envelope>> {
        match &mut self.filter {
            None => view.inbox.iter().cloned().collect(),
            Some(filter) => view.inbox.iter().filter(|m| filter.fits(&haystack(m))).cloned().collect(),
        }
    }

    /// The place of the selected message.
    pub fn index(&self, list: &[Arc<Envelope>]) -> Option<usize> {
        match &self.selected {
            Some(message) => list.iter().position(|other| Arc::ptr_eq(other, message)).or(list.len().checked_sub(1)),
            None => list.len().checked_sub(1),
        }
    }

    /// Moves the selection; to the last means to follow.
    pub fn go(&mut self, step: Move, view: &MemberView) {
        let list = self.list(view);
        let target = step.target(self.index(&list), list.len());
        self.selected = target.filter(|at| at + 1 < list.len()).and_then(|at| list.get(at).cloned());
    }
}

fn haystack(message: &Envelope) -> String {
    let head: String = message.content.chars().take(400).collect();
    format!("{} {} {head}", message.from, message.to)
}
