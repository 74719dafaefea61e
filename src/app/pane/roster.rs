//! The roster: who is selected. Members are never hidden and never change places.

use super::Move;
use crate::app::filter::Filter;
use crate::app::projection::{MemberView, Projection};
use crate::domain::MemberName;

/// The roster's state.
#[derive(Default)]
pub struct RosterPane {
    /// Selecting a member drives inbox and activity.
    pub selected: Option<MemberName>,
    /// The first row on the screen.
    pub top: usize,
    /// What is typed after `/`.
    pub filter: Option<Filter>,
}

impl RosterPane {
    /// The members that are listed.
    pub fn list(&mut self, team: &Projection) -> Vec<MemberName> {
        match &mut self.filter {
            None => team.order().to_vec(),
            Some(filter) => team.members().filter(|view| filter.fits(&haystack(view))).map(|v| v.member.name.clone()).collect(),
        }
    }

    /// Moves the selection.
    pub fn go(&mut self, step: Move, team: &Projection) {
        let list = self.list(team);
        let at = self.selected.as_ref().and_then(|name| list.iter().position(|other| other == name));
        if let Some(at) = step.target(at, list.len()) {
            self.selected = list.get(at).cloned();
        }
    }

    /// Selects the lead (or whoever is there) when nobody is selected any more.
    pub fn sync(&mut self, team: &Projection) {
        if self.selected.as_ref().is_none_or(|name| team.member(name).is_none()) {
            self.selected = team.order().first().cloned();
        }
    }
}

fn haystack(view: &MemberView) -> String {
    format!("{} {} {}", view.member.name, view.member.role, view.member.status.word())
}
