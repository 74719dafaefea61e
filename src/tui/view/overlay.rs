//! What lies over the panes for a moment: the palette, and the progress of leaving.

use super::Painter;
use crate::app::clip::{one_line, width};
use crate::app::overlay::palette;
use crate::app::pane::keep_visible;
use crate::app::view::Area;
use crate::app::words;
use crate::app::{Action, State};
use crate::tui::style::Role;
use crate::tui::widget::Grid;

/// What lies over the panes, and so over the lines between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Over {
    quitting: Option<Area>,
    palette: Option<Area>,
}

impl Over {
    /// Makes room in the lines of the frame, and joins them with the palette's lower edge.
    pub fn join(self, grid: &mut Grid, body: Area) {
        if let Some(area) = self.quitting {
            grid.clear(area);
        }
        let Some(area) = self.palette.filter(|area| area.height > 1) else { return };
        let y = area.y + area.height - 1;
        grid.clear(Area { height: area.height - 1, ..area });
        let framed = u16::from(body.x > 0);
        let (left, right) = (area.x - framed, area.x + area.width - 1 + framed);
        grid.horizontal(y, left, right);
        if framed > 0 {
            grid.vertical(left, area.y, y);
            grid.vertical(right, area.y, y);
        }
    }
}

pub fn draw(painter: &mut Painter<'_>, state: &mut State, body: Area) -> Over {
    let mut over = Over::default();
    if state.quitting.is_some() {
        let covered = quitting(painter, state, body);
        state.view.hide_below(covered);
        over.quitting = Some(covered);
    }
    if state.palette.is_some() {
        draw_palette(painter, state, body);
        over.palette = Some(palette_area(body));
    }
    over
}

fn palette_area(body: Area) -> Area {
    let width = body.width.min(84);
    let height = body.height.min(16);
    Area { x: body.x + (body.width - width) / 2, y: body.y, width, height }
}

/// Where the cursor stands in the palette.
pub fn palette_cursor(state: &State, body: Area) -> Option<(u16, u16)> {
    let palette = state.palette.as_ref()?;
    let area = palette_area(body);
    let (_, (column, _)) = palette.editor.rows(usize::from(area.width.saturating_sub(4)));
    (area.height > 0).then(|| (area.x + 3 + u16::try_from(column).unwrap_or(0), area.y))
}

fn draw_palette(painter: &mut Painter<'_>, state: &State, body: Area) {
    let Some(open) = &state.palette else { return };
    let area = palette_area(body);
    painter.clear(area);
    let cols = usize::from(area.width);
    painter.text(area.x + 1, area.y, 1, ":", Role::Accent);
    painter.text(area.x + 3, area.y, cols.saturating_sub(4), &one_line(&open.editor.value(), cols), Role::Strong);
    let rows = palette::rows(state);
    if rows.is_empty() {
        painter.text(area.x + 3, area.y + 1, cols.saturating_sub(3), "No action has that name.", Role::Dim);
    }
    // The last row says the selected one in whole, where there is room for both.
    let told = u16::from(area.height >= 6);
    let height = usize::from(area.height.saturating_sub(2 + told));
    let top = keep_visible(0, Some(open.at), height, rows.len());
    for (line, (index, row)) in (1u16..).zip(rows.iter().enumerate().skip(top).take(height)) {
        let place = Area { y: area.y + line, height: 1, ..area };
        let (role, note) = if row.available { (Role::Text, "") } else { (Role::Dim, "(not now) ") };
        painter.text(place.x + 1, place.y, 17, row.action.name(), if row.available { Role::Strong } else { Role::Dim });
        painter.right(place.x + 18, place.y, 9, &row.keys, Role::Accent);
        let rest = cols.saturating_sub(29);
        painter.text(place.x + 28, place.y, rest, &format!("{note}{}", row.desc), role);
        if index == open.at {
            if told > 0 && width(note) + width(&row.desc) > rest {
                painter.text(place.x + 3, area.y + area.height - 2, cols.saturating_sub(4), &row.desc, Role::Dim);
            }
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, Role::Selection);
        }
    }
}

fn quitting(painter: &mut Painter<'_>, state: &State, body: Area) -> Area {
    let Some(quit) = state.quitting else { return Area::default() };
    let live: Vec<_> = state.team.members().filter(|view| view.member.status.is_live()).collect();
    let key = state.key_name(Action::Quit);
    let head = match quit.forced {
        None => format!("Waiting for {} to stop; {key} again stops them now, Esc stays.", live.len()),
        Some(_) => format!("Stopping {} now; {key} again leaves at once.", live.len()),
    };
    let framed = body.height >= 8;
    let edge = u16::from(framed);
    let wanted = u16::try_from(live.len() + 2).unwrap_or(u16::MAX).clamp(3, 12);
    let height = wanted.min(body.height - 2 * edge);
    let cols = u16::try_from(width(&head) + 2).unwrap_or(u16::MAX).clamp(30, 90).min(body.width - 2 * edge);
    let area = Area { x: body.x + (body.width - cols) / 2, y: body.y + (body.height - height) / 2, width: cols, height };
    let outer = Area { x: area.x - edge, y: area.y - edge, width: cols + 2 * edge, height: height + 2 * edge };
    painter.clear(outer);
    if framed {
        let mut grid = Grid::new(outer);
        grid.outline(outer);
        grid.draw(painter, Some(area));
    }
    let room = usize::from(cols.saturating_sub(2));
    painter.text(area.x + 1, area.y, room, &head, Role::Attention);
    let fits = usize::from(height.saturating_sub(2));
    for (row, view) in (1u16..).zip(live.iter().take(fits)) {
        let name = one_line(view.member.name.as_str(), 20);
        painter.text(area.x + 3, area.y + row, 21, &name, Role::Text);
        painter.text(area.x + 25, area.y + row, room.saturating_sub(25), doing(view.member.status), Role::Dim);
    }
    if live.len() > fits && height > 1 {
        let more = format!("and {} more", words::thousands((live.len() - fits) as u64));
        painter.text(area.x + 3, area.y + height - 1, room, &more, Role::Dim);
    }
    outer
}

fn doing(status: crate::domain::MemberStatus) -> &'static str {
    match status {
        crate::domain::MemberStatus::Working => "finishes its step",
        crate::domain::MemberStatus::WaitingApproval => "waits for an approval",
        crate::domain::MemberStatus::Stopping => "was asked to stop",
        _ => "still there",
    }
}
