//! The approvals: what waits for the person, the oldest first; below it what was decided.

use super::{empty, filter_note, selection};
use crate::app::clip::one_line;
use crate::app::pane::keep_visible;
use crate::app::view::Area;
use crate::app::words;
use crate::app::{Pane, State};
use crate::domain::{Request, RequestState, Timestamp};
use crate::tui::style::Role;
use crate::tui::widget::Painter;

/// Cells of the word for kind or verdict: one width for all rows, so that names and titles stand below each other.
const WORD: usize = 8;

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area, now: Timestamp) -> String {
    let list = state.approvals.list(&state.team);
    let at = state.approvals.selected.as_ref().and_then(|id| list.iter().position(|request| request.id == *id));
    let height = usize::from(area.height);
    state.approvals.top = keep_visible(state.approvals.top, at, height, list.len());
    if list.is_empty() {
        let text = if state.approvals.filter.is_some() {
            "Nothing fits the filter. Esc clears it."
        } else {
            "Nothing waits for you. Plans and permissions come here."
        };
        empty(painter, area, text);
    }
    let names = list.iter().map(|r| r.target.as_str().len()).max().unwrap_or(0).min(usize::from(area.width) / 4);
    for (row, (index, request)) in (0u16..).zip(list.iter().enumerate().skip(state.approvals.top).take(height)) {
        let place = Area { y: area.y + row, height: 1, ..area };
        draw_row(painter, place, request, names);
        if Some(index) == at {
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, selection(state, Pane::Approvals));
            state.view.request_row = place;
            state.view.show_request(request, state.approvals.choice, now);
        }
    }
    let pending = state.team.requests.pending_len();
    let note = filter_note(state.approvals.filter.as_ref(), list.len(), list.len());
    note.unwrap_or_else(|| match (pending, at) {
        (0, _) => String::new(),
        (1, _) => "(1)".into(),
        (_, Some(at)) if at < pending => format!("{} of {pending}", at + 1),
        (_, _) => format!("({pending})"),
    })
}

fn draw_row(painter: &mut Painter<'_>, place: Area, request: &Request, names: usize) {
    let (sign, role) = match request.state {
        RequestState::Pending => ("◆", Role::Attention),
        RequestState::Approved => ("✓", Role::Success),
        RequestState::Rejected => ("✗", Role::Error),
        RequestState::Withdrawn | RequestState::Expired => ("○", Role::Dim),
    };
    let cols = usize::from(place.width);
    let word = match request.state {
        RequestState::Pending => words::kind(request.kind),
        // Ten letters would cost every row of the list two cells of its title.
        RequestState::Withdrawn => "dropped",
        RequestState::Approved | RequestState::Rejected | RequestState::Expired => request.state.word(),
    };
    let used = painter.text(place.x + 1, place.y, 1, sign, role);
    let x = place.x + 2 + used;
    painter.text(x, place.y, WORD, word, if request.is_pending() { role } else { Role::Dim });
    let x = x + u16::try_from(WORD).unwrap_or(0) + 1;
    painter.text(x, place.y, names, request.target.as_str(), if request.is_pending() { Role::Text } else { Role::Dim });
    let x = x + u16::try_from(names).unwrap_or(0) + 1;
    let rest = cols.saturating_sub(usize::from(x - place.x));
    painter.text(x, place.y, rest, &one_line(&request.title, rest), if request.is_pending() { Role::Text } else { Role::Dim });
}
