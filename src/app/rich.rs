//! Lines of text with roles instead of colours, wrapped by display width. What a role looks like is the theme's matter.

use super::clip::{split, width};

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ink {
    #[default]
    Text,
    Dim,
    Strong,
    Emphasis,
    Heading,
    Code,
    Link,
    Accent,
    Attention,
    Error,
    Success,
    Added,
    Removed,
}

/// A piece of text with its role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Safe to draw, without line breaks.
    pub text: String,
    /// What it is.
    pub ink: Ink,
}

impl Span {
    /// A piece.
    pub fn new(text: impl Into<String>, ink: Ink) -> Self {
        Self { text: text.into(), ink }
    }
}

/// One line.
pub type RichLine = Vec<Span>;

/// A line of one piece.
pub fn line(text: impl Into<String>, ink: Ink) -> RichLine {
    vec![Span::new(text, ink)]
}

/// The width of a line in cells.
pub fn line_width(line: &[Span]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// The text of a line.
pub fn plain(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

/// What stands before the first and before the following lines of a block.
#[derive(Clone, Debug, Default)]
pub struct Indent {
    /// Before the first line.
    pub first: RichLine,
    /// Before every other line.
    pub rest: RichLine,
}

/// Wraps `spans` at blanks to `cols` cells; words that are longer than a line are cut on grapheme boundaries.
pub fn wrap(spans: &[Span], cols: usize, indent: &Indent, out: &mut Vec<RichLine>) {
    let mut wrapper = Wrapper::new(cols, indent, out);
    for span in spans {
        for word in span.text.split_inclusive(' ') {
            wrapper.word(word, span.ink);
        }
    }
    wrapper.finish();
}

/// Cuts `text` into lines of `cols` cells and keeps every blank: for code and output. A line that is too long is cut after a
/// blank of its second half, if there is one.
pub fn hard_wrap(text: &str, ink: Ink, cols: usize, indent: &Indent, out: &mut Vec<RichLine>) {
    let mut wrapper = Wrapper::new(cols, indent, out);
    wrapper.fill(text, ink);
    wrapper.finish();
}

/// Where a line that goes on with `tail` ends: at its last word's start, if that is not too far back.
fn cut_after_blank(head: &str, tail: &str) -> usize {
    if tail.is_empty() || tail.starts_with(' ') {
        return head.len();
    }
    let cut = head.rfind(' ').map_or(0, |at| at + 1);
    let is_worth = cut >= head.len() / 2 && !head[..cut].trim().is_empty();
    if is_worth { cut } else { head.len() }
}

struct Wrapper<'a> {
    cols: usize,
    indent: &'a Indent,
    line: RichLine,
    used: usize,
    start: usize,
    out: &'a mut Vec<RichLine>,
}

impl<'a> Wrapper<'a> {
    fn new(cols: usize, indent: &'a Indent, out: &'a mut Vec<RichLine>) -> Self {
        let start = line_width(&indent.first);
        Self { cols: cols.max(1), indent, line: indent.first.clone(), used: start, start, out }
    }

    fn room(&self) -> usize {
        // An indent that fills the line must not stop the text from going on.
        self.cols.saturating_sub(self.used).max(usize::from(self.used == self.start))
    }

    fn word(&mut self, word: &str, ink: Ink) {
        let trimmed = word.trim_end_matches(' ');
        let needed = width(trimmed);
        let line_room = self.cols.saturating_sub(line_width(&self.indent.rest));
        if needed > self.room() && self.used > self.start && needed <= line_room {
            self.next_line();
        }
        if self.used == self.start && trimmed.is_empty() && !self.out.is_empty() {
            return;
        }
        if width(word) <= self.room() {
            self.push(word, ink);
        } else {
            self.fill(trimmed, ink);
        }
    }

    fn fill(&mut self, mut text: &str, ink: Ink) {
        while !text.is_empty() {
            let (head, tail) = split(text, self.room());
            if head.is_empty() && self.used > self.start {
                self.next_line();
                continue;
            }
            // A grapheme wider than the whole line is given up, or this would never end.
            if head.is_empty() {
                return;
            }
            let head = &head[..cut_after_blank(head, tail)];
            self.push(head, ink);
            text = &text[head.len()..];
            if !text.is_empty() {
                self.next_line();
            }
        }
    }

    fn push(&mut self, text: &str, ink: Ink) {
        self.used += width(text);
        match self.line.last_mut() {
            Some(last) if last.ink == ink => last.text.push_str(text),
            _ => self.line.push(Span::new(text, ink)),
        }
    }

    fn next_line(&mut self) {
        let line = std::mem::replace(&mut self.line, self.indent.rest.clone());
        self.out.push(line);
        self.start = line_width(&self.indent.rest);
        self.used = self.start;
    }

    fn finish(self) {
        self.out.push(self.line);
    }
}
