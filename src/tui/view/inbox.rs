//! The inbox of the selected member: a message takes as many lines as it needs, up to a bound; the newest is followed.

use super::{empty, filter_note, selected, selection};
use crate::app::clip::one_line;
use crate::app::rich::{Indent, Ink, RichLine, Span, line, wrap};
use crate::app::view::Area;
use crate::app::words::clock;
use crate::app::{Pane, State};
use crate::domain::{Envelope, MemberName};
use crate::tui::style::Role;
use crate::tui::widget::Painter;
use std::sync::Arc;

/// From this width on a message names sender and receiver.
const ROUTE: usize = 34;
/// From this width on a message begins with its time.
const WIDE: usize = 44;
/// Lines of one message at most: the rest is one key away.
const LINES_MAX: usize = 6;

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area) -> String {
    let name = state.roster.selected.clone();
    let list = match name.as_ref().and_then(|name| state.team.member(name)) {
        Some(view) => state.inbox.list(view),
        None => Vec::new(),
    };
    let at = state.inbox.index(&list);
    if list.is_empty() {
        let text = match (&state.inbox.filter, selected(state)) {
            (Some(_), _) => "No message fits the filter. Esc clears it.".to_owned(),
            (None, Some(view)) => format!("No mail. m writes to {}.", view.member.name),
            (None, None) => "Select a member: 1 goes to the team.".to_owned(),
        };
        empty(painter, area, &text);
    }
    let page = Page { area, owner: name.as_ref(), utc_offset: state.options.utc_offset };
    state.inbox.top = page.top(&list, state.inbox.top, at);
    state.view.inbox_rows.clear();
    let mut y = area.y;
    let mut end = state.inbox.top;
    for (index, message) in list.iter().enumerate().skip(state.inbox.top) {
        let lines = page.lines(message);
        let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).min((area.y + area.height).saturating_sub(y));
        if height == 0 {
            break;
        }
        let place = Area { y, height, ..area };
        for (row, line) in (0..height).zip(&lines) {
            painter.spans(place.x + 1, place.y + row, usize::from(place.width.saturating_sub(2)), line);
            state.view.inbox_rows.push(index);
        }
        // Following the newest needs no mark unless keys go here.
        if Some(index) == at && (state.focus == Pane::Inbox || state.inbox.selected.is_some()) {
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, selection(state, Pane::Inbox));
        }
        y += height;
        end = index + 1;
    }
    let below = list.len().saturating_sub(end);
    filter_note(state.inbox.filter.as_ref(), list.len(), list.len()).unwrap_or_else(|| match below {
        0 => String::new(),
        n => format!("↓ {n} below"),
    })
}

struct Page<'a> {
    area: Area,
    owner: Option<&'a MemberName>,
    utc_offset: i32,
}

impl Page<'_> {
    /// The first message that is drawn: where it was, as far as the selected one is whole on the screen and no line of it
    /// is wasted below the last.
    fn top(&self, list: &[Arc<Envelope>], top: usize, at: Option<usize>) -> usize {
        let Some(last) = list.len().checked_sub(1) else { return 0 };
        let at = at.unwrap_or(last);
        let lowest = self.first_that_fits(list, at);
        top.min(at).max(lowest).min(self.first_that_fits(list, last).max(lowest))
    }

    /// The first of the messages that end with `last` and fit on the screen together.
    fn first_that_fits(&self, list: &[Arc<Envelope>], last: usize) -> usize {
        let height = usize::from(self.area.height);
        let mut used = self.lines(&list[last]).len();
        let mut first = last;
        while first > 0 {
            used += self.lines(&list[first - 1]).len();
            if used > height {
                break;
            }
            first -= 1;
        }
        first
    }

    fn lines(&self, message: &Envelope) -> Vec<RichLine> {
        let cols = usize::from(self.area.width);
        let mut head = Vec::new();
        if cols >= WIDE {
            head.push(Span::new(format!("{} ", clock(message.at, self.utc_offset)), Ink::Dim));
        }
        // Where there is little room, whose inbox this is need not be said again in every row.
        let incoming = self.owner.is_some_and(|name| name.same(&message.to));
        let who = match (cols >= ROUTE, incoming) {
            (true, _) => format!("{} → {}", message.from, message.to),
            (false, true) => message.from.to_string(),
            (false, false) => format!("→ {}", message.to),
        };
        head.push(Span::new(one_line(&who, cols / 2), Ink::Accent));
        head.push(Span::new("  ", Ink::Text));
        let room = cols.saturating_sub(2);
        let most = LINES_MAX.min(usize::from(self.area.height / 2)).max(1);
        let text = one_line(&message.content, most * room);
        let mut lines = Vec::new();
        wrap(&[Span::new(text, Ink::Text)], room, &Indent { first: head, rest: line("  ", Ink::Text) }, &mut lines);
        if lines.len() > most {
            lines.truncate(most);
            if let Some(last) = lines.last_mut() {
                if let Some(text) = last.last_mut().map(|span| &mut span.text) {
                    text.truncate(text.trim_end().len());
                }
                last.push(Span::new(" …", Ink::Dim));
            }
        }
        lines
    }
}
