//! The screen as cells: one file a pane, one for each thing that lies over them.
//!
//! Reads the state, writes only its view memory (heights, places for the mouse, the request that is readable). A frame
//! costs what is visible. Deliberately absent: keys, commands, waiting, the terminal itself.

mod activity;
mod approvals;
mod board;
mod footer;
mod greeting;
mod header;
mod inbox;
mod layout;
mod overlay;
mod prompt;
mod reading;
mod roster;

use super::style::{Role, Style};
use super::widget::{Grid, Painter};
use crate::app::clip::width;
use crate::app::projection::MemberView;
use crate::app::view::Area;
use crate::app::{Pane, State};
use crate::domain::Timestamp;
use layout::{Covered, Layout, Placed};
use ratatui::Frame;

/// The smallest window, in cells.
pub const MIN_WIDTH: u16 = 20;
/// See [`MIN_WIDTH`].
pub const MIN_HEIGHT: u16 = 6;

/// Draws a frame. Any size, down to nothing, is safe.
pub fn draw(frame: &mut Frame<'_>, state: &mut State, style: &Style, now: Timestamp) {
    let size = frame.area();
    let area = Area { x: size.x, y: size.y, width: size.width, height: size.height };
    state.view.begin_frame((area.width, area.height));
    let mut painter = Painter::new(frame.buffer_mut(), style);
    let cursor = if area.width < MIN_WIDTH || area.height < MIN_HEIGHT {
        too_small(&mut painter, area);
        state.view.end_frame();
        None
    } else {
        screen(&mut painter, state, area, now)
    };
    if let Some(cursor) = cursor {
        frame.set_cursor_position(cursor);
    }
}

fn too_small(painter: &mut Painter<'_>, area: Area) {
    let text = format!("too small: {MIN_WIDTH}x{MIN_HEIGHT} needed");
    let mut rest = text.as_str();
    for y in 0..area.height {
        let (row, tail) = crate::app::clip::split(rest, usize::from(area.width));
        painter.text(area.x, area.y + y, usize::from(area.width), row, Role::Attention);
        rest = tail.trim_start();
    }
}

fn screen(painter: &mut Painter<'_>, state: &mut State, area: Area, now: Timestamp) -> Option<(u16, u16)> {
    let layout = Layout::new(area, state);
    let prompt_rows = prompt::rows(state, layout.inner);
    let (body, lower) = layout::split_lower(layout.inner, prompt_rows);
    let covered = if reading::is_open(state) { Covered::Yes } else { Covered::No };
    if reading::is_open(state) {
        let place = layout.reading(body);
        if let Some(rest) = place.beside {
            panes(painter, state, &layout.only(rest, body), now);
        }
        reading::draw(painter, state, place.main, now);
    } else {
        panes(painter, state, &layout.above(body), now);
    }
    let over = overlay::draw(painter, state, body);
    let mut grid = Grid::new(area);
    layout.lines(&mut grid, covered, lower);
    over.join(&mut grid, body);
    grid.draw(painter, layout.focused(state).filter(|_| covered == Covered::No));
    header::draw(painter, state, &layout, now);
    let cursor = prompt::draw(painter, state, lower);
    let palette_cursor = overlay::palette_cursor(state, body);
    // The footer offers what can be decided on this frame, not on the one before.
    state.view.end_frame();
    footer::draw(painter, state, &layout);
    cursor.or(palette_cursor)
}

fn panes(painter: &mut Painter<'_>, state: &mut State, placed: &[Placed], now: Timestamp) {
    for place in placed {
        pane(painter, state, place, now);
    }
}

/// A pane: its title in the first row, its rows below.
fn pane(painter: &mut Painter<'_>, state: &mut State, place: &Placed, now: Timestamp) {
    let area = place.area;
    if area.height == 0 || area.width == 0 {
        return;
    }
    let title = Area { height: 1, ..area };
    let rows = Area { y: area.y + 1, height: area.height - 1, ..area };
    state.view.titles[place.pane.index()] = title;
    state.view.panes[place.pane.index()] = rows;
    let note = match place.pane {
        Pane::Team => roster::draw(painter, state, rows, now),
        Pane::Approvals => approvals::draw(painter, state, rows, now),
        Pane::Board => board::draw(painter, state, rows),
        Pane::Inbox => inbox::draw(painter, state, rows),
        Pane::Activity => activity::draw(painter, state, rows),
    };
    heading(painter, state, place.pane, title, &note);
}

/// `3 Board   5 ready · 2 doing · 7 done`.
fn heading(painter: &mut Painter<'_>, state: &State, pane: Pane, area: Area, note: &str) {
    let focused = state.focus == pane && !reading::is_open(state);
    let who = match pane {
        Pane::Inbox | Pane::Activity => state.selected_member().map(|view| format!(": {}", view.member.name)).unwrap_or_default(),
        Pane::Team | Pane::Approvals | Pane::Board => String::new(),
    };
    let mark = if focused { "▸" } else { " " };
    let title = format!("{mark}{} {}{who}", pane.index() + 1, pane.title());
    let cols = usize::from(area.width);
    let role = if focused { Role::TitleFocused } else { Role::Title };
    let used = painter.text(area.x, area.y, cols, &title, role);
    let x = area.x.saturating_add(used + 2);
    let room = cols.saturating_sub(usize::from(used) + 3);
    // Of several numbers the last ones go before one is cut in the middle.
    let mut note = note;
    while width(note) > room
        && let Some((head, _)) = note.rsplit_once(" · ")
    {
        note = head;
    }
    painter.text(x, area.y, room, note, Role::Dim);
}

/// Whether the pane's selection is where keys go.
fn selection(state: &State, pane: Pane) -> Role {
    if state.focus == pane { Role::Selection } else { Role::SelectionQuiet }
}

/// Says in an empty pane what to do next, wrapped.
fn empty(painter: &mut Painter<'_>, area: Area, text: &str) {
    let mut lines = Vec::new();
    let span = [crate::app::rich::Span::new(text, crate::app::rich::Ink::Dim)];
    crate::app::rich::wrap(&span, usize::from(area.width.saturating_sub(2)), &crate::app::rich::Indent::default(), &mut lines);
    for (row, line) in (0..area.height).zip(&lines) {
        painter.spans(area.x + 1, area.y + row, usize::from(area.width.saturating_sub(1)), line);
    }
}

/// `/text` when a filter is on.
fn filter_note(filter: Option<&crate::app::filter::Filter>, shown: usize, all: usize) -> Option<String> {
    filter.map(|f| format!("/{} ({shown} of {all})", crate::app::clip::one_line(f.text(), 20)))
}

fn selected(state: &State) -> Option<&MemberView> {
    state.selected_member()
}
