//! Moving and filtering in the panes.

use super::Move;
use crate::app::action::Action;
use crate::app::feed::Depth;
use crate::app::filter::Filter;
use crate::app::scroll::Source;
use crate::app::state::{Pane, State};

/// A movement in the focused pane.
pub fn go(state: &mut State, action: Action) {
    let rows = state.view.panes.get(state.focus.index()).map_or(1, |area| area.height.saturating_sub(1).max(1));
    let page = isize::try_from(rows).unwrap_or(1);
    let step = match action {
        Action::Up => Move::By(-1),
        Action::Down => Move::By(1),
        Action::PageUp => Move::By(-page),
        Action::PageDown => Move::By(page),
        Action::Top => Move::First,
        _ => Move::Last,
    };
    step_in(state, state.focus, step);
}

/// Moves in a pane, focused or not (the mouse wheel does that too).
pub fn step_in(state: &mut State, pane: Pane, step: Move) {
    let selected = state.roster.selected.clone();
    let view = selected.as_ref().and_then(|name| state.team.member(name));
    match pane {
        Pane::Team => state.roster.go(step, &state.team),
        Pane::Approvals => state.approvals.go(step, &state.team),
        Pane::Board => state.board.go(step),
        Pane::Inbox => {
            if let Some(view) = view {
                state.inbox.go(step, view);
            }
        }
        Pane::Activity => {
            let Some(view) = view else { return };
            let live = Some(&mut state.live);
            let mut source = Source { items: &view.feed, live, depth: Depth::Brief, cache: &mut state.view.cache };
            match step {
                Move::First => state.activity.scroll.to_start(&source),
                Move::Last => state.activity.scroll.follow(),
                Move::By(lines) => state.activity.scroll.scroll(lines, &mut source),
            }
        }
    }
}

/// Filters a pane.
pub fn set_filter(state: &mut State, pane: Pane, text: &str) {
    let filter = Filter::new(text);
    match pane {
        Pane::Team => state.roster.filter = filter,
        Pane::Approvals => state.approvals.filter = filter,
        Pane::Board => state.board.set_filter(text, &state.team),
        Pane::Inbox => state.inbox.filter = filter,
        Pane::Activity => {}
    }
}
