//! The inbox of the selected member, one line a message; the newest is followed.

use super::{empty, filter_note, selected, selection};
use crate::app::clip::{one_line, width};
use crate::app::pane::keep_visible;
use crate::app::view::Area;
use crate::app::words::clock;
use crate::app::{Pane, State};
use crate::domain::{Envelope, MemberName};
use crate::tui::style::Role;
use crate::tui::widget::Painter;

/// From this width on a row names sender and receiver.
const ROUTE: usize = 34;
/// From this width on a row begins with its time.
const WIDE: usize = 44;

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area) -> String {
    let name = state.roster.selected.clone();
    let list = match name.as_ref().and_then(|name| state.team.member(name)) {
        Some(view) => state.inbox.list(view),
        None => Vec::new(),
    };
    let at = state.inbox.index(&list);
    let height = usize::from(area.height);
    state.inbox.top = keep_visible(state.inbox.top, at, height, list.len());
    if list.is_empty() {
        let text = match (&state.inbox.filter, selected(state)) {
            (Some(_), _) => "No message fits the filter. Esc clears it.".to_owned(),
            (None, Some(view)) => format!("No mail. m writes to {}.", view.member.name),
            (None, None) => "Select a member: 1 goes to the team.".to_owned(),
        };
        empty(painter, area, &text);
    }
    for (row, (index, message)) in (0u16..).zip(list.iter().enumerate().skip(state.inbox.top).take(height)) {
        let place = Area { y: area.y + row, height: 1, ..area };
        draw_row(painter, place, message, name.as_ref(), state.options.utc_offset);
        // Following the newest needs no mark unless keys go here.
        if Some(index) == at && (state.focus == Pane::Inbox || state.inbox.selected.is_some()) {
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, selection(state, Pane::Inbox));
        }
    }
    let below = list.len().saturating_sub(state.inbox.top + height);
    filter_note(state.inbox.filter.as_ref(), list.len(), list.len()).unwrap_or_else(|| match below {
        0 => String::new(),
        n => format!("↓ {n} below"),
    })
}

fn draw_row(painter: &mut Painter<'_>, place: Area, message: &Envelope, owner: Option<&MemberName>, utc_offset: i32) {
    let cols = usize::from(place.width);
    let mut x = place.x + 1;
    if cols >= WIDE {
        x += painter.text(x, place.y, 6, &format!("{} ", clock(message.at, utc_offset)), Role::Dim);
    }
    // Where there is little room, whose inbox this is need not be said again in every row.
    let incoming = owner.is_some_and(|name| name.same(&message.to));
    let who = match (cols >= ROUTE, incoming) {
        (true, _) => format!("{} → {}", message.from, message.to),
        (false, true) => message.from.to_string(),
        (false, false) => format!("→ {}", message.to),
    };
    let who = one_line(&who, cols / 3);
    x += painter.text(x, place.y, width(&who), &who, Role::Accent);
    let rest = cols.saturating_sub(usize::from(x - place.x) + 2);
    painter.text(x + 2, place.y, rest, &one_line(&message.content, rest), Role::Text);
}
