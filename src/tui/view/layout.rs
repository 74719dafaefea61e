//! Where everything is: five panes in a frame, or one pane at a time where there is no room (or when it is zoomed).

use crate::app::view::Area;
use crate::app::{Pane, State};
use crate::tui::widget::Grid;

/// Below this the panes are shown one at a time.
const SPLIT_WIDTH: u16 = 60;
const SPLIT_HEIGHT: u16 = 16;
/// Below this even the frame is left out.
const FRAME_HEIGHT: u16 = 10;
/// From this width on, what is open in full leaves the left column in sight.
const READING_WIDTH: u16 = 110;

/// A pane with its place, title row included.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub pane: Pane,
    pub area: Area,
}

/// Where what is open in full goes, and what stays beside it.
pub struct ReadingPlace {
    pub main: Area,
    pub beside: Option<Beside>,
}

/// Whether something that is open in full covers the panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covered {
    No,
    Yes,
}

/// The left column stays.
pub struct Beside;

/// The frame and its panes.
pub struct Layout {
    /// The whole window.
    pub area: Area,
    /// Inside of the frame.
    pub inner: Area,
    /// Whether there are lines around everything.
    pub framed: bool,
    /// The panes that are drawn.
    pub placed: Vec<Placed>,
    split: Option<Split>,
}

#[derive(Clone, Copy)]
struct Split {
    left: u16,
    middle: u16,
    row: u16,
}

impl Layout {
    /// For a window, with one pane or all.
    pub fn new(area: Area, state: &State) -> Self {
        let framed = area.height >= FRAME_HEIGHT && area.width >= 40;
        let inner = if framed {
            Area { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
        } else {
            Area { x: area.x, y: area.y + 1, width: area.width, height: area.height - 2 }
        };
        if state.zoom || area.width < SPLIT_WIDTH || area.height < SPLIT_HEIGHT {
            let placed = vec![Placed { pane: state.focus, area: inner }];
            return Self { area, inner, framed, placed, split: None };
        }
        let left = (area.width * 28 / 100).clamp(28, 48);
        let row = inner.y + (inner.height - 1) * 55 / 100;
        let right = inner.width - left - 1;
        let middle = inner.x + left + 1 + right * 45 / 100;
        let split = Split { left: inner.x + left, middle, row };
        Self { area, inner, framed, placed: place(inner, split), split: Some(split) }
    }

    /// The lines of the frame, between the panes that are in sight, and above what is being written.
    pub fn lines(&self, grid: &mut Grid, covered: Covered, lower: Area) {
        if !self.framed {
            return;
        }
        grid.outline(self.area);
        let (top, right) = (self.area.y, self.area.x + self.area.width - 1);
        let bottom = if lower.height > 0 { lower.y } else { self.area.y + self.area.height - 1 };
        if lower.height > 0 {
            grid.horizontal(lower.y, self.area.x, right);
        }
        let Some(split) = self.split else { return };
        let beside = self.area.width >= READING_WIDTH;
        if covered == Covered::No || beside {
            grid.vertical(split.left, top, bottom);
        }
        if covered == Covered::No && split.row < bottom {
            grid.horizontal(split.row, split.left, right);
            grid.vertical(split.middle, split.row, bottom);
        }
    }

    /// The area of the focused pane.
    pub fn focused(&self, state: &State) -> Option<Area> {
        self.placed.iter().find(|p| p.pane == state.focus).map(|p| p.area).filter(|_| self.split.is_some())
    }

    /// Where what is open in full goes.
    pub fn reading(&self, body: Area) -> ReadingPlace {
        match self.split.filter(|_| self.area.width >= READING_WIDTH) {
            Some(split) => {
                let x = split.left + 1;
                let main = Area { x, width: (body.x + body.width).saturating_sub(x), ..body };
                ReadingPlace { main, beside: Some(Beside) }
            }
            None => ReadingPlace { main: body, beside: None },
        }
    }

    /// The panes of the left column.
    pub fn only(&self, _: Beside, body: Area) -> Vec<Placed> {
        self.above(body).into_iter().filter(|p| matches!(p.pane, Pane::Team | Pane::Approvals)).collect()
    }

    /// The panes as far as they lie in `body`.
    pub fn above(&self, body: Area) -> Vec<Placed> {
        let end = body.y + body.height;
        let cut = |placed: &Placed| {
            let height = placed.area.height.min(end.saturating_sub(placed.area.y));
            Placed { area: Area { height, ..placed.area }, ..*placed }
        };
        self.placed.iter().map(cut).collect()
    }
}

fn place(inner: Area, split: Split) -> Vec<Placed> {
    let left = split.left - inner.x;
    let team = (inner.height * 58 / 100).max(3);
    let right_x = split.left + 1;
    let right = inner.x + inner.width - right_x;
    let lower_y = split.row + 1;
    let lower = inner.y + inner.height - lower_y;
    vec![
        Placed { pane: Pane::Team, area: Area { x: inner.x, y: inner.y, width: left, height: team } },
        Placed { pane: Pane::Approvals, area: Area { x: inner.x, y: inner.y + team, width: left, height: inner.height - team } },
        Placed { pane: Pane::Board, area: Area { x: right_x, y: inner.y, width: right, height: split.row - inner.y } },
        Placed { pane: Pane::Inbox, area: Area { x: right_x, y: lower_y, width: split.middle - right_x, height: lower } },
        Placed {
            pane: Pane::Activity,
            area: Area { x: split.middle + 1, y: lower_y, width: inner.x + inner.width - split.middle - 1, height: lower },
        },
    ]
}

/// Cuts `rows` off the lower edge.
pub fn split_lower(area: Area, rows: u16) -> (Area, Area) {
    let rows = rows.min(area.height);
    let upper = Area { height: area.height - rows, ..area };
    (upper, Area { y: area.y + upper.height, height: rows, ..area })
}
