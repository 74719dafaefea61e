//! The board: tasks by number. Only the visible rows are looked at, however many there are.

use super::{empty, filter_note, selection};
use crate::app::clip::one_line;
use crate::app::pane::keep_visible;
use crate::app::view::Area;
use crate::app::words;
use crate::app::{Action, Pane, State};
use crate::domain::board::Stuck;
use crate::domain::{TaskId, TaskStatus};
use crate::tui::style::Role;
use crate::tui::view::roster::tone;
use crate::tui::widget::{Painter, columns};

/// From this width on owner and blockers have columns of their own; below they share one.
const WIDE: usize = 66;

/// The columns: number, state, task, owner, blockers.
struct Columns {
    widths: Vec<usize>,
    wide: bool,
}

impl Columns {
    fn new(cols: usize, highest: TaskId) -> Self {
        let number = highest.0.to_string().len().max(2);
        let wide = cols >= WIDE;
        let tail = if wide {
            14
        } else if cols >= 44 {
            12
        } else {
            0
        };
        let wanted = if wide {
            vec![Some(number), Some(9), None, Some(10), Some(tail)]
        } else if tail > 0 {
            vec![Some(number), Some(9), None, Some(tail)]
        } else {
            vec![Some(number), Some(9), None]
        };
        Self { widths: columns(cols.saturating_sub(2), &wanted), wide }
    }

    fn x(&self, area: Area, at: usize) -> u16 {
        let before: usize = self.widths.iter().take(at).map(|w| w + 1).sum();
        area.x.saturating_add(u16::try_from(before + 1).unwrap_or(u16::MAX))
    }

    fn width(&self, at: usize) -> usize {
        self.widths.get(at).copied().unwrap_or(0)
    }
}

pub fn draw(painter: &mut Painter<'_>, state: &mut State, area: Area) -> String {
    let counts = state.team.board.counts();
    let height = usize::from(area.height.saturating_sub(1));
    let at = state.board.index();
    state.board.top = keep_visible(state.board.top, at, height, state.board.list().len());
    if state.team.board.is_empty() && super::greeting::is_due(state) {
        super::greeting::draw(painter, state, area);
    } else if state.board.list().is_empty() {
        let text = if state.board.filter().is_some() {
            "No task fits the filter. Esc clears it.".to_owned()
        } else {
            format!("No tasks yet. {} adds one; the lead adds its own.", state.key_name(Action::NewTask))
        };
        empty(painter, area, &text);
    } else {
        rows(painter, state, area, height, at);
    }
    let all = state.team.board.len();
    filter_note(state.board.filter(), state.board.list().len(), all).unwrap_or_else(|| {
        let numbers = [(counts.ready, "ready"), (counts.doing, "doing"), (counts.blocked, "blocked"), (counts.done, "done")];
        let shown = numbers.iter().filter(|(n, _)| *n > 0);
        shown.map(|(n, word)| format!("{} {word}", words::thousands(*n as u64))).collect::<Vec<_>>().join(" · ")
    })
}

fn rows(painter: &mut Painter<'_>, state: &State, area: Area, height: usize, at: Option<usize>) {
    let list = state.board.list();
    let highest = state.team.board.iter().next_back().map_or(TaskId(1), |task| task.id);
    let columns = Columns::new(usize::from(area.width), highest);
    head(painter, area, &columns);
    for (row, (index, id)) in (1u16..).zip(list.iter().enumerate().skip(state.board.top).take(height)) {
        let place = Area { y: area.y + row, height: 1, ..area };
        draw_row(painter, state, place, &columns, *id);
        if Some(index) == at {
            painter.text(place.x, place.y, 1, "▸", Role::Accent);
            painter.tint(place, selection(state, Pane::Board));
        }
    }
}

fn head(painter: &mut Painter<'_>, area: Area, columns: &Columns) {
    painter.right(columns.x(area, 0), area.y, columns.width(0), "#", Role::Dim);
    painter.text(columns.x(area, 1), area.y, columns.width(1), "state", Role::Dim);
    painter.text(columns.x(area, 2), area.y, columns.width(2), "task", Role::Dim);
    let owner = if columns.wide { "owner" } else { "owner/waits" };
    painter.text(columns.x(area, 3), area.y, columns.width(3), owner, Role::Dim);
    painter.text(columns.x(area, 4), area.y, columns.width(4), "waits for", Role::Dim);
}

fn draw_row(painter: &mut Painter<'_>, state: &State, place: Area, columns: &Columns, id: TaskId) {
    let board = &state.team.board;
    let Some(task) = board.get(id) else { return };
    let stuck = state.team.stuck(id);
    let (task_tone, word) = words::task(board, task, stuck.is_some());
    let role = tone(task_tone);
    let quiet = if task.status == TaskStatus::Completed { Role::Dim } else { Role::Text };
    painter.right(columns.x(place, 0), place.y, columns.width(0), &id.0.to_string(), Role::Dim);
    painter.text(columns.x(place, 1), place.y, columns.width(1), &format!("{} {word}", task_tone.glyph()), role);
    painter.text(columns.x(place, 2), place.y, columns.width(2), &one_line(&task.subject, columns.width(2)), quiet);
    let owner = task.owner.as_ref().map_or("", |name| name.as_str());
    let waits = match stuck {
        Some(Stuck::Cycle(_)) => "in a circle".to_owned(),
        Some(Stuck::Missing(_)) | None => words::blockers(board, id),
    };
    let waits_role = if stuck.is_some() { Role::Attention } else { Role::Dim };
    if columns.wide {
        painter.text(columns.x(place, 3), place.y, columns.width(3), owner, quiet);
        painter.text(columns.x(place, 4), place.y, columns.width(4), &waits, waits_role);
    } else if owner.is_empty() {
        painter.text(columns.x(place, 3), place.y, columns.width(3), &waits, waits_role);
    } else {
        painter.text(columns.x(place, 3), place.y, columns.width(3), owner, quiet);
    }
}
