//! A scroll position in a feed that stays with its text, so that a frame costs what is visible.

use super::feed::{Depth, LineCache};
use super::live::LiveText;
use super::projection::FeedItem;
use super::rich::RichLine;
use std::collections::VecDeque;

/// The place of streaming text: after every entry.
const LIVE: u64 = u64::MAX;

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
