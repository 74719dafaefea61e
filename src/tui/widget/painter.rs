//! Writes text into cells: never outside of its place, cut with `…`, in ASCII where that is asked for.

use crate::app::clip::{cut, width};
use crate::app::rich::Span;
use crate::app::view::Area;
use crate::tui::style::{Role, Style};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::borrow::Cow;

/// Our own signs and what stands for them in ASCII.
const ASCII: [(char, char); 24] = [
    ('…', '~'),
    ('▸', '>'),
    ('●', '*'),
    ('◆', '!'),
    ('○', 'o'),
    ('✓', '+'),
    ('✗', 'x'),
    ('→', '>'),
    ('↓', 'v'),
    ('·', '-'),
    ('•', '*'),
    ('⋯', '~'),
    ('─', '-'),
    ('│', '|'),
    ('┌', '+'),
    ('┐', '+'),
    ('└', '+'),
    ('┘', '+'),
    ('├', '+'),
    ('┤', '+'),
    ('┬', '+'),
    ('┴', '+'),
    ('┼', '+'),
    ('▏', '|'),
];

/// Draws into a buffer with a style.
pub struct Painter<'a> {
    buffer: &'a mut Buffer,
    style: &'a Style,
}

impl<'a> Painter<'a> {
    /// A painter for the whole buffer.
    pub fn new(buffer: &'a mut Buffer, style: &'a Style) -> Self {
        Self { buffer, style }
    }

    fn fit<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if !self.style.ascii || text.is_ascii() {
            return text;
        }
        let map = |c: char| ASCII.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to);
        Cow::Owned(text.chars().map(map).collect())
    }

    /// Writes `text` into at most `cols` cells and returns the cells used. Newlines have no place here.
    pub fn text(&mut self, x: u16, y: u16, cols: usize, text: &str, role: Role) -> u16 {
        if !self.contains(x, y) || cols == 0 || text.is_empty() {
            return 0;
        }
        let room = cols.min(usize::from(self.buffer.area.right().saturating_sub(x)));
        let text = self.fit(cut(text, room));
        let (end, _) = self.buffer.set_stringn(x, y, &text, room, self.style.of(role));
        end.saturating_sub(x)
    }

    /// Writes `text` so that it ends at the right edge of `cols` cells.
    pub fn right(&mut self, x: u16, y: u16, cols: usize, text: &str, role: Role) {
        let text = cut(text, cols);
        let offset = u16::try_from(cols.saturating_sub(width(&text))).unwrap_or(0);
        self.text(x.saturating_add(offset), y, cols, &text, role);
    }

    /// Writes pieces one after the other into at most `cols` cells.
    pub fn spans(&mut self, x: u16, y: u16, cols: usize, spans: &[Span]) {
        let mut used = 0usize;
        for span in spans {
            let at = x.saturating_add(u16::try_from(used).unwrap_or(u16::MAX));
            used += usize::from(self.text(at, y, cols.saturating_sub(used), &span.text, span.ink.into()));
            if used >= cols {
                return;
            }
        }
    }

    /// Gives a whole area a look, text and all.
    pub fn tint(&mut self, area: Area, role: Role) {
        let rect = Rect::new(area.x, area.y, area.width, area.height).intersection(self.buffer.area);
        self.buffer.set_style(rect, self.style.of(role));
    }

    /// Empties an area.
    pub fn clear(&mut self, area: Area) {
        let rect = Rect::new(area.x, area.y, area.width, area.height).intersection(self.buffer.area);
        for y in rect.top()..rect.bottom() {
            for x in rect.left()..rect.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    /// A horizontal line.
    pub fn rule(&mut self, x: u16, y: u16, cols: u16, role: Role) {
        self.text(x, y, usize::from(cols), &"─".repeat(usize::from(cols)), role);
    }

    fn contains(&self, x: u16, y: u16) -> bool {
        self.buffer.area.contains((x, y).into())
    }
}

/// Splits `total` cells: fixed columns keep theirs, `None` gets the rest; one blank stands between columns.
pub fn columns(total: usize, wanted: &[Option<usize>]) -> Vec<usize> {
    let gaps = wanted.len().saturating_sub(1);
    let fixed: usize = wanted.iter().flatten().sum();
    let rest = total.saturating_sub(fixed + gaps);
    wanted.iter().map(|width| width.unwrap_or(rest)).collect()
}
