//! Activity as lines, and a scroll position that stays with its text: entries are rendered when they are looked at,
//! once for each width, so a frame costs what is visible.

use super::clip::one_line;
use super::live::LiveText;
use super::markdown;
use super::projection::{FeedItem, FeedKind, ToolState};
use super::rich::{Ink, RichLine, Span, line, wrap};
use super::words::took;
use crate::domain::event::NoticeLevel;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Rendered entries that are kept.
const CACHE_MAX: usize = 2_048;
/// Lines of a tool's output that a transcript shows.
const OUTPUT_LINES: usize = 12;
/// The place of streaming text: after every entry.
const LIVE: u64 = u64::MAX;

/// How much of an entry is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// Tools are one line.
    Brief,
    /// Tools with their output, answers with their reasoning.
    Full,
}

/// Rendered entries by entry, edition, width and depth.
#[derive(Debug, Default)]
pub struct LineCache {
    map: HashMap<(u64, u32, usize, Depth), Arc<Vec<RichLine>>>,
}

impl LineCache {
    fn lines(&mut self, item: &FeedItem, cols: usize, depth: Depth) -> Arc<Vec<RichLine>> {
        let key = (item.id, item.edition, cols, depth);
        if let Some(lines) = self.map.get(&key) {
            return lines.clone();
        }
        if self.map.len() >= CACHE_MAX {
            self.map.clear();
        }
        let lines = Arc::new(render(&item.kind, cols, depth));
        self.map.insert(key, lines.clone());
        lines
    }
}

/// An entry as lines.
pub fn render(kind: &FeedKind, cols: usize, depth: Depth) -> Vec<RichLine> {
    let mut out = Vec::new();
    match kind {
        FeedKind::Answer { text, reasoning } => {
            if let (Depth::Full, Some(reasoning)) = (depth, reasoning) {
                out.push(line("thinking", Ink::Dim));
                out.extend(markdown::plain_text(reasoning, Ink::Dim, cols));
            }
            out.extend(markdown::render(text, cols));
            out.push(Vec::new());
        }
        FeedKind::Tool { tool, summary, state, output, .. } => {
            out.push(tool_line(tool, summary, *state, cols));
            if depth == Depth::Full {
                out.extend(extract(output, cols));
            }
        }
        FeedKind::Turn(cause) => out.push(line(one_line(&format!("── {cause}"), cols), Ink::Dim)),
        FeedKind::Heard(text) => {
            let text = if depth == Depth::Full { text.clone() } else { one_line(text, 400) };
            let lines = markdown::render(&text, cols.saturating_sub(2));
            out.extend(lines.into_iter().map(|mut row| {
                row.insert(0, Span::new("> ", Ink::Accent));
                row
            }));
            out.push(Vec::new());
        }
        FeedKind::Note(text) => wrapped(text, Ink::Dim, cols, &mut out),
        FeedKind::Notice(level, text) => {
            let (sign, ink) = match level {
                NoticeLevel::Info => ("· ", Ink::Dim),
                NoticeLevel::Warning => ("! ", Ink::Attention),
                NoticeLevel::Error => ("✗ ", Ink::Error),
            };
            wrapped(&format!("{sign}{text}"), ink, cols, &mut out);
        }
    }
    out
}

fn wrapped(text: &str, ink: Ink, cols: usize, out: &mut Vec<RichLine>) {
    let spans = [Span::new(one_line(text, 2_000), ink)];
    wrap(&spans, cols, &super::rich::Indent::default(), out);
}

/// `bash cargo test … ok 3.1 s`.
fn tool_line(tool: &str, summary: &str, state: ToolState, cols: usize) -> RichLine {
    let (end, ink) = match state {
        ToolState::Running => ("running".to_owned(), Ink::Accent),
        ToolState::Ended { ok: true, millis } => (format!("ok {}", took(millis)).trim_end().to_owned(), Ink::Success),
        ToolState::Ended { ok: false, millis } => (format!("failed {}", took(millis)).trim_end().to_owned(), Ink::Error),
        ToolState::Cut => ("cut off".to_owned(), Ink::Attention),
    };
    let tool = one_line(tool, 20);
    let used = super::clip::width(&tool) + super::clip::width(&end) + 2;
    // A plan begins with a heading; its mark says nothing in a line.
    let summary = one_line(summary.strip_prefix("# ").unwrap_or(summary), cols.saturating_sub(used));
    vec![Span::new(tool, Ink::Strong), Span::new(format!(" {summary} "), Ink::Text), Span::new(end, ink)]
}

/// Head and tail of a tool's output.
fn extract(output: &str, cols: usize) -> Vec<RichLine> {
    let rows: Vec<&str> = output.lines().collect();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let skipped = rows.len().saturating_sub(OUTPUT_LINES);
        if skipped > 0 && at == OUTPUT_LINES / 2 {
            text.push_str(&format!("… {skipped} lines …\n"));
        }
        if skipped == 0 || at < OUTPUT_LINES / 2 || at >= rows.len() - OUTPUT_LINES / 2 {
            text.push_str(row);
            text.push('\n');
        }
    }
    let mut lines = markdown::plain_text(&text, Ink::Dim, cols.saturating_sub(2));
    lines.iter_mut().for_each(|row| row.insert(0, Span::new("  ", Ink::Text)));
    lines
}

/// A line of a feed: the entry, and the line in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    item: u64,
    line: usize,
}

/// A position in a feed. It follows the end until it is moved up; then it stays with its text while more arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scroll {
    top: Option<Place>,
    drawn_top: Option<Place>,
    seen: u64,
    at_start: bool,
    height: usize,
    cols: usize,
}

/// What a scroll position looks at.
pub struct Source<'a> {
    /// Entries, ids growing.
    pub items: &'a VecDeque<FeedItem>,
    /// Streaming text after them.
    pub live: Option<&'a mut LiveText>,
    /// How much of each.
    pub depth: Depth,
    /// Rendered entries.
    pub cache: &'a mut LineCache,
}

impl Source<'_> {
    fn index(&self, id: u64) -> usize {
        self.items.partition_point(|item| item.id < id)
    }

    fn height(&mut self, at: usize, cols: usize) -> usize {
        match self.items.get(at) {
            Some(item) => self.cache.lines(item, cols, self.depth).len(),
            None if at == self.items.len() => self.live.as_mut().map_or(0, |live| live.len(cols)),
            None => 0,
        }
    }

    fn id(&self, at: usize) -> u64 {
        self.items.get(at).map_or(LIVE, |item| item.id)
    }

    fn push_lines(&mut self, at: usize, cols: usize, lines: std::ops::Range<usize>, out: &mut Vec<RichLine>) {
        if let Some(item) = self.items.get(at) {
            out.extend_from_slice(self.cache.lines(item, cols, self.depth).get(lines).unwrap_or_default());
        } else if let Some(live) = &self.live {
            out.extend(lines.filter_map(|at| live.line(at).cloned()));
        }
    }
}

impl Scroll {
    /// Whether it follows the end.
    pub fn is_following(&self) -> bool {
        self.top.is_none()
    }

    /// Follows the end from now on.
    pub fn follow(&mut self) {
        self.top = None;
    }

    /// Goes to the beginning.
    pub fn to_start(&mut self, source: &Source<'_>) {
        self.leave(source);
        self.top = Some(Place { item: source.id(0), line: 0 });
    }

    /// Puts an entry at the top.
    pub fn to_item(&mut self, id: u64, source: &Source<'_>) {
        self.leave(source);
        self.top = Some(Place { item: id, line: 0 });
    }

    /// The entry at the top of what was drawn last.
    pub fn top_item(&self) -> Option<u64> {
        self.drawn_top.map(|place| place.item)
    }

    /// Entries that arrived below since the end was left.
    pub fn new_below(&self, items: &VecDeque<FeedItem>) -> usize {
        if self.is_following() { 0 } else { items.len() - items.partition_point(|item| item.id <= self.seen) }
    }

    fn leave(&mut self, source: &Source<'_>) {
        if self.top.is_none() {
            self.seen = source.items.back().map_or(0, |item| item.id);
        }
    }

    /// Moves by `lines`; negative is up. Uses the geometry of the last frame.
    pub fn scroll(&mut self, lines: isize, source: &mut Source<'_>) {
        let Some(from) = self.top.or(self.drawn_top) else { return };
        if lines < 0 && self.at_start {
            return;
        }
        if lines > 0 && self.top.is_none() {
            return;
        }
        self.leave(source);
        let mut at = if from.item == LIVE { source.items.len() } else { source.index(from.item) };
        let mut line = from.line;
        let mut left = lines.unsigned_abs();
        if lines < 0 {
            while left > line && at > 0 {
                left -= line + 1;
                at -= 1;
                line = source.height(at, self.cols).saturating_sub(1);
            }
            line = line.saturating_sub(left);
        } else {
            while at <= source.items.len() {
                let below = source.height(at, self.cols).saturating_sub(line + 1);
                if left <= below {
                    line += left;
                    break;
                }
                left -= below + 1;
                at += 1;
                line = 0;
            }
        }
        self.top = Some(Place { item: source.id(at), line });
    }

    /// A page for this position: the height of the last frame less one line.
    pub fn page(&self) -> isize {
        isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(1)
    }

    /// The lines to draw. A position that shows the end begins to follow it again.
    pub fn window(&mut self, source: &mut Source<'_>, cols: usize, height: usize) -> Vec<RichLine> {
        (self.cols, self.height) = (cols, height);
        if let Some(top) = self.top {
            let lines = self.lines_down(top, source);
            if lines.len() >= height {
                return lines;
            }
            self.top = None;
        }
        self.lines_up(source)
    }

    fn lines_down(&mut self, top: Place, source: &mut Source<'_>) -> Vec<RichLine> {
        let mut at = if top.item == LIVE { source.items.len() } else { source.index(top.item) };
        // When the ring dropped the entry, its successor begins at its first line.
        let mut line = if source.id(at) == top.item { top.line } else { 0 };
        self.drawn_top = Some(Place { item: source.id(at), line });
        self.at_start = at == 0 && line == 0;
        let mut out = Vec::new();
        // One line more than fits tells whether there is something below.
        while out.len() <= self.height && at <= source.items.len() {
            let lines = source.height(at, self.cols);
            let end = lines.min(line + self.height + 1 - out.len());
            source.push_lines(at, self.cols, line.min(end)..end, &mut out);
            at += 1;
            line = 0;
        }
        let more = out.len() > self.height;
        out.truncate(self.height);
        if !more && !self.at_start {
            // The end is in sight: fill the page from the end.
            out.clear();
        }
        out
    }

    fn lines_up(&mut self, source: &mut Source<'_>) -> Vec<RichLine> {
        let mut pieces: Vec<(usize, std::ops::Range<usize>)> = Vec::new();
        let mut left = self.height;
        let mut at = source.items.len() + 1;
        while left > 0 && at > 0 {
            at -= 1;
            let lines = source.height(at, self.cols);
            let take = lines.min(left);
            if take > 0 {
                pieces.push((at, lines - take..lines));
            }
            left -= take;
        }
        let top = pieces.last().map(|(at, range)| (*at, range.start));
        self.drawn_top = top.map(|(at, line)| Place { item: source.id(at), line });
        self.at_start = left > 0 || top == Some((0, 0));
        let mut out = Vec::new();
        for (at, range) in pieces.into_iter().rev() {
            source.push_lines(at, self.cols, range, &mut out);
        }
        out
    }
}
