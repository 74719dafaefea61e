//! The approvals: which request is selected, and how it came to be. Pending requests stand first, oldest first, so that
//! an arriving one is added below; decided ones follow, so that a rejected plan stays readable.

use super::Move;
use crate::app::filter::Filter;
use crate::app::projection::Projection;
use crate::app::view::Choice;
use crate::domain::{Request, RequestId};
use std::sync::Arc;

/// Decided requests that are listed.
const DECIDED_LISTED: usize = 50;

/// The approvals' state.
#[derive(Default)]
pub struct ApprovalsPane {
    /// The selected request.
    pub selected: Option<RequestId>,
    /// Whether the person chose it.
    pub choice: Choice,
    /// The first row on the screen.
    pub top: usize,
    /// What is typed after `/`.
    pub filter: Option<Filter>,
}

impl ApprovalsPane {
    /// The requests that are listed.
    pub fn list(&mut self, team: &Projection) -> Vec<Arc<Request>> {
        let all = team.requests.pending().chain(team.requests.decided().take(DECIDED_LISTED));
        match &mut self.filter {
            None => all.cloned().collect(),
            Some(filter) => all.filter(|r| filter.fits(&haystack(r))).cloned().collect(),
        }
    }

    /// Moves the selection, by the person's hand.
    pub fn go(&mut self, step: Move, team: &Projection) {
        let list = self.list(team);
        let at = self.selected.as_ref().and_then(|id| list.iter().position(|request| request.id == *id));
        if let Some(request) = step.target(at, list.len()).and_then(|at| list.get(at)) {
            self.select(request.id.clone());
        }
    }

    /// Selects a request, by the person's hand.
    pub fn select(&mut self, id: RequestId) {
        // Pointing at what is selected already changes nothing: it still has to be seen first.
        if self.selected.as_ref() != Some(&id) {
            self.selected = Some(id);
            self.choice = Choice::Person;
        }
    }

    /// After requests changed: a selection that is still there stays. One that was just decided (or none) gives way to
    /// the oldest pending request, which then is selected by itself.
    pub fn sync(&mut self, team: &Projection, decided: Option<&RequestId>) {
        let gone = match &self.selected {
            None => true,
            Some(id) => decided == Some(id) || team.requests.get(id).is_none(),
        };
        if gone {
            self.selected = team.requests.pending().next().map(|request| request.id.clone());
            self.choice = Choice::Itself;
        }
    }
}

fn haystack(request: &Request) -> String {
    format!("{} {} {} {}", request.kind.word(), request.target, request.title, request.state.word())
}
