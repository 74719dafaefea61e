//! The mouse moves and opens; it never decides.

use super::action::Action;
use super::msg::{Cmd, Mouse};
use super::pane::Move;
use super::pane::moves::step_in;
use super::reading;
use super::state::{Pane, State};
use crate::domain::Timestamp;

/// Rows that one turn of the wheel moves.
const WHEEL: isize = 3;

/// Carries out what the mouse did.
pub fn act(state: &mut State, event: Mouse, now: Timestamp) -> Vec<Cmd> {
    let reading = state.detail.is_some() || state.help.is_some() || state.needs.is_some() || state.protocols.is_some();
    match event {
        Mouse::ScrollUp { .. } if reading => (0..WHEEL).for_each(|_| reading::go(state, Action::Up)),
        Mouse::ScrollDown { .. } if reading => (0..WHEEL).for_each(|_| reading::go(state, Action::Down)),
        Mouse::Click { .. } | Mouse::DoubleClick { .. } if reading => {}
        Mouse::ScrollUp { column, row } => wheel(state, column, row, -WHEEL),
        Mouse::ScrollDown { column, row } => wheel(state, column, row, WHEEL),
        Mouse::Click { column, row } => click(state, column, row),
        Mouse::DoubleClick { column, row } => {
            click(state, column, row);
            if pane_at(state, column, row).is_some() {
                return super::act::run(state, Action::Open, now);
            }
        }
    }
    Vec::new()
}

fn pane_at(state: &State, column: u16, row: u16) -> Option<Pane> {
    Pane::ALL.into_iter().find(|pane| state.view.panes[pane.index()].contains(column, row))
}

fn wheel(state: &mut State, column: u16, row: u16, rows: isize) {
    if let Some(pane) = pane_at(state, column, row) {
        step_in(state, pane, Move::By(rows));
    }
}

fn click(state: &mut State, column: u16, row: u16) {
    if let Some(pane) = Pane::ALL.into_iter().find(|pane| state.view.titles[pane.index()].contains(column, row)) {
        state.focus = pane;
        return;
    }
    let Some(pane) = pane_at(state, column, row) else { return };
    state.focus = pane;
    let at = usize::from(row - state.view.panes[pane.index()].y);
    match pane {
        Pane::Team => {
            let at = state.roster.top + at;
            if let Some(name) = state.roster.list(&state.team).get(at) {
                state.roster.selected = Some(name.clone());
            }
        }
        Pane::Approvals => {
            let at = state.approvals.top + at;
            if let Some(request) = state.approvals.list(&state.team).get(at) {
                state.approvals.select(request.id.clone());
            }
        }
        // The board's first row is its head.
        Pane::Board => {
            if let Some(id) = at.checked_sub(1).and_then(|at| state.board.list().get(state.board.top + at)) {
                state.board.selected = Some(*id);
            }
        }
        Pane::Inbox => {
            let view = state.roster.selected.as_ref().and_then(|name| state.team.member(name));
            if let Some(view) = view {
                let list = state.inbox.list(view);
                let place = state.view.inbox_rows.get(at).copied();
                state.inbox.selected = place.and_then(|place| list.get(place).cloned());
            }
        }
        Pane::Activity => {}
    }
}
