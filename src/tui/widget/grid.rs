//! Box lines: strokes are gathered cell by cell, so that where they meet they join.

use super::Painter;
use crate::app::view::Area;
use crate::tui::style::Role;

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// Lines to be drawn within an area.
pub struct Grid {
    area: Area,
    /// Row by row; 0 where there is no line.
    cells: Vec<u8>,
}

impl Grid {
    /// No lines yet.
    pub fn new(area: Area) -> Self {
        Self { area, cells: vec![0; usize::from(area.width) * usize::from(area.height)] }
    }

    /// Lines outside of the area are not drawn.
    fn add(&mut self, x: u16, y: u16, bits: u8) {
        if !self.area.contains(x, y) {
            return;
        }
        let at = usize::from(y - self.area.y) * usize::from(self.area.width) + usize::from(x - self.area.x);
        if let Some(cell) = self.cells.get_mut(at) {
            *cell |= bits;
        }
    }

    /// A horizontal stroke from `x0` to `x1`, both included.
    pub fn horizontal(&mut self, y: u16, x0: u16, x1: u16) {
        for x in x0..=x1 {
            let bits = if x > x0 { LEFT } else { 0 } | if x < x1 { RIGHT } else { 0 };
            self.add(x, y, bits);
        }
    }

    /// A vertical stroke from `y0` to `y1`, both included.
    pub fn vertical(&mut self, x: u16, y0: u16, y1: u16) {
        for y in y0..=y1 {
            let bits = if y > y0 { UP } else { 0 } | if y < y1 { DOWN } else { 0 };
            self.add(x, y, bits);
        }
    }

    /// The outline of an area.
    pub fn outline(&mut self, area: Area) {
        let (right, bottom) = (area.x + area.width.saturating_sub(1), area.y + area.height.saturating_sub(1));
        self.horizontal(area.y, area.x, right);
        self.horizontal(bottom, area.x, right);
        self.vertical(area.x, area.y, bottom);
        self.vertical(right, area.y, bottom);
    }

    /// Takes the strokes out of an area, and from its neighbours the ends that would point into it.
    pub fn clear(&mut self, area: Area) {
        let (right, bottom) = (area.x + area.width, area.y + area.height);
        let columns = usize::from(self.area.width).max(1);
        for (y, row) in (self.area.y..).zip(self.cells.chunks_mut(columns)) {
            for (x, bits) in (self.area.x..).zip(row) {
                let (beside, above) = ((area.y..bottom).contains(&y), (area.x..right).contains(&x));
                if beside && above {
                    *bits = 0;
                } else if beside && x + 1 == area.x {
                    *bits &= !RIGHT;
                } else if beside && x == right {
                    *bits &= !LEFT;
                } else if above && y + 1 == area.y {
                    *bits &= !DOWN;
                } else if above && y == bottom {
                    *bits &= !UP;
                }
            }
        }
    }

    /// Draws the lines; those around `focused` stand out.
    pub fn draw(&self, painter: &mut Painter<'_>, focused: Option<Area>) {
        let outer = focused.map(|area| Area {
            x: area.x.saturating_sub(1),
            y: area.y.saturating_sub(1),
            width: area.width + 2,
            height: area.height + 2,
        });
        let columns = usize::from(self.area.width).max(1);
        for (y, row) in (self.area.y..).zip(self.cells.chunks(columns)) {
            for (x, bits) in (self.area.x..).zip(row).filter(|(_, bits)| **bits != 0) {
                let around = outer.is_some_and(|outer| outer.contains(x, y));
                painter.text(x, y, 1, sign(*bits), if around { Role::BorderFocused } else { Role::Border });
            }
        }
    }
}

const fn sign(bits: u8) -> &'static str {
    match bits {
        b if b == DOWN | RIGHT => "┌",
        b if b == DOWN | LEFT => "┐",
        b if b == UP | RIGHT => "└",
        b if b == UP | LEFT => "┘",
        b if b == UP | DOWN | RIGHT => "├",
        b if b == UP | DOWN | LEFT => "┤",
        b if b == DOWN | LEFT | RIGHT => "┬",
        b if b == UP | LEFT | RIGHT => "┴",
        b if b == UP | DOWN | LEFT | RIGHT => "┼",
        b if b & (UP | DOWN) == 0 => "─",
        _ => "│",
    }
}
