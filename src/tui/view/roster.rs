//! The roster: who is there, what each one does or waits for in words, and for how long.

use super::{empty, filter_note, selection};
use crate::app::clip::{one_line, width};
use crate::app::pane::keep_visible;
use crate::app::projection::MemberView;
use crate::app::view::Area;
use crate::app::words::{self, StateWords, Tone};
use crate::app::{Pane, State};
use crate::domain::Timestamp;
use crate::tui::style::Role;
use crate::tui::widget::Painter;

/// Cells of a time: `12:03` or `59 s`.
const TIME: usize = 5;
/// Cells that a row needs beside the name: signs, `working`, the time.
const NAMES_LESS: usize = 18;
/// Below this width names matter more than times.
const TIMED: usize = 24;
/// From this width on the row has a column of its own for context and money.
const WIDE: usize = 40;
/// From this width on the columns have heads.
const HEADED: usize = 60;

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area, now: Timestamp) -> String {
    let list = state.roster.list(&state.team);
    let at = state.roster.selected.as_ref().and_then(|name| list.iter().position(|other| other == name));
    let headed = usize::from(area.width) >= HEADED && area.height > 2 && !list.is_empty();
    let whole = area;
    let area = if headed { Area { y: area.y + 1, height: area.height - 1, ..area } } else { area };
    state.view.panes[Pane::Team.index()] = area;
    let height = usize::from(area.height);
    state.roster.top = keep_visible(state.roster.top, at, height, list.len());
    if list.is_empty() {
        let text =
            if state.roster.filter.is_some() { "Nobody fits the filter. Esc clears it." } else { "Nobody yet. n spawns a teammate." };
        empty(painter, area, text);
    }
    let less = if usize::from(area.width) < TIMED { NAMES_LESS - TIME - 1 } else { NAMES_LESS };
    let names =
        list.iter().map(|name| name.as_str().len()).max().unwrap_or(0).clamp(4, usize::from(area.width).saturating_sub(less).max(4));
    if headed {
        head(painter, whole, names);
    }
    for (row, (index, name)) in (0u16..).zip(list.iter().enumerate().skip(state.roster.top).take(height)) {
        let Some(view) = state.team.member(name) else { continue };
        let place = Area { y: area.y + row, height: 1, ..area };
        member(painter, place, view, names, now, state.options.utc_offset);
        if Some(index) == at {
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, selection(state, Pane::Team));
        }
    }
    let hidden = list.len().saturating_sub(state.roster.top + height);
    let note = filter_note(state.roster.filter.as_ref(), list.len(), state.team.order().len());
    note.unwrap_or_else(|| match (list.len(), hidden + state.roster.top) {
        (0 | 1, _) => String::new(),
        (all, 0) => all.to_string(),
        (all, _) if hidden == 0 => all.to_string(),
        (all, _) => format!("{all} · {hidden} below"),
    })
}

/// What the columns are, where there are so many that it is not plain.
fn head(painter: &mut Painter<'_>, area: Area, names: usize) {
    let end = area.x + area.width;
    let column = |offset: usize| area.x.saturating_add(u16::try_from(offset).unwrap_or(u16::MAX));
    painter.text(area.x + 3, area.y, names, "name", Role::Dim);
    painter.text(column(4 + names), area.y, 12, "state", Role::Dim);
    painter.right(end.saturating_sub(21), area.y, 7, "time", Role::Dim);
    painter.right(end.saturating_sub(13), area.y, 4, "ctx", Role::Dim);
    painter.right(end.saturating_sub(8), area.y, 8, "cost", Role::Dim);
}

fn member(painter: &mut Painter<'_>, place: Area, view: &MemberView, names: usize, now: Timestamp, utc_offset: i32) {
    let words = words::member(view.member.status, &view.activity, view.member.reason.as_deref(), now, utc_offset);
    let role = tone(words.tone);
    let cols = usize::from(place.width);
    let (x, y) = (place.x, place.y);
    painter.text(x + 1, y, 1, words.tone.glyph(), role);
    painter.text(x + 3, y, names, view.member.name.as_str(), Role::Text);
    let state_x = 4 + names;
    let wide = cols >= WIDE;
    let money = if wide { 14 } else { 0 };
    let time = if cols < TIMED || (words.time.is_empty() && !wide) { 0 } else { TIME + 1 };
    let room = cols.saturating_sub(state_x + time + 1 + money);
    let state_role = if matches!(words.tone, Tone::Attention | Tone::Failed) { role } else { Role::Text };
    let column = |offset: usize| x.saturating_add(u16::try_from(offset).unwrap_or(u16::MAX));
    painter.text(column(state_x), y, room, &state_text(view, &words, room), state_role);
    if time > 0 {
        painter.right(column(state_x + room + 1), y, TIME, &words.time, Role::Dim);
    }
    if wide {
        let spend = if view.spend.calls > 0 { words::cost(&view.spend) } else { String::new() };
        let context = view.context_percent().map(|p| format!("{p}%")).unwrap_or_default();
        painter.right(column(state_x + room + TIME + 2), y, 4, &context, Role::Dim);
        painter.right(column(state_x + room + TIME + 7), y, 8, &spend, Role::Dim);
    }
}

/// The state, with the member's task where there is room.
fn state_text(view: &MemberView, words: &StateWords, room: usize) -> String {
    let text = one_line(&words.text, room);
    match view.member.task {
        Some(task) if width(&text) + width(&task.to_string()) + 2 <= room && !text.contains(&task.to_string()) => format!("{text} {task}"),
        Some(_) | None => text,
    }
}

/// The role that goes with a tone.
pub fn tone(tone: Tone) -> Role {
    match tone {
        Tone::Active => Role::Accent,
        Tone::Attention => Role::Attention,
        Tone::Quiet => Role::Dim,
        Tone::Failed => Role::Error,
        Tone::Done => Role::Success,
    }
}
