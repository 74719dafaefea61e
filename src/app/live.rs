//! Streaming text: what is complete is wrapped once, only the unfinished tail is wrapped again for each frame. So a
//! frame costs what is visible, however long the answer gets.

use super::markdown;
use super::msg::LiveKind;
use super::rich::{Ink, RichLine};
use crate::domain::MemberName;

/// The tail is cut here even without a blank line, so that one endless paragraph stays cheap.
const TAIL_MAX: usize = 4096;
/// More streaming text than this is dropped from its head; the finished answer has all of it.
const TEXT_MAX: usize = 512 * 1024;

/// The streaming text of the member that is watched.
#[derive(Clone, Debug, Default)]
pub struct LiveText {
    /// Whose.
    pub name: Option<MemberName>,
    /// What.
    pub kind: LiveKind,
    text: String,
    done: usize,
    fence: Option<String>,
    lines: Vec<RichLine>,
    tail: Vec<RichLine>,
    cols: usize,
    fresh: bool,
    /// The finished answer that this text may merely repeat (see [`LiveText::finish`]).
    last: Option<String>,
}

impl LiveText {
    /// Nothing yet, of this member.
    pub fn of(name: MemberName) -> Self {
        Self { name: Some(name), ..Self::default() }
    }

    /// Adds text, or begins anew.
    pub fn push(&mut self, kind: LiveKind, text: &str, reset: bool) {
        if reset || kind != self.kind {
            self.restart(kind);
        }
        self.text.push_str(text);
        self.fresh = false;
        if self.text.len() > TEXT_MAX {
            let cut = (TEXT_MAX / 4..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            self.text.drain(..cut);
            self.rewind();
        }
    }

    /// Begins anew with another kind.
    pub fn restart(&mut self, kind: LiveKind) {
        self.kind = kind;
        self.text.clear();
        self.rewind();
    }

    /// The answer is in the feed now. A late piece of the same text must not show it twice: text that is a head of
    /// `answer` stays hidden until it differs.
    pub fn finish(&mut self, answer: Option<&str>) {
        self.restart(self.kind);
        self.last = answer.map(str::to_owned);
    }

    fn rewind(&mut self) {
        self.done = 0;
        self.fence = None;
        self.lines.clear();
        self.tail.clear();
        self.fresh = false;
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() || self.last.as_deref().is_some_and(|last| last.starts_with(self.text.as_str()))
    }

    /// How many lines there are at `cols` cells.
    pub fn len(&mut self, cols: usize) -> usize {
        self.layout(cols);
        if self.is_empty() { 0 } else { self.lines.len() + self.tail.len() }
    }

    /// Line `at`, after [`LiveText::len`] with the same width.
    pub fn line(&self, at: usize) -> Option<&RichLine> {
        self.lines.get(at).or_else(|| self.tail.get(at.checked_sub(self.lines.len())?))
    }

    fn layout(&mut self, cols: usize) {
        if self.cols != cols {
            self.cols = cols;
            self.rewind();
        }
        if self.fresh {
            return;
        }
        while let Some((end, gap)) = self.next_piece() {
            let piece = self.render(&self.text[self.done..end]);
            self.fence = self.fence_after(end);
            self.lines.extend(piece);
            if gap {
                self.lines.push(Vec::new());
            }
            self.done = end;
        }
        self.tail = self.render(&self.text[self.done..]);
        self.fresh = true;
    }

    /// Where the next complete piece ends, and whether a blank line follows it.
    fn next_piece(&self) -> Option<(usize, bool)> {
        let tail = &self.text[self.done..];
        let mut fence = self.fence.clone();
        let mut at = 0;
        let mut blank = false;
        let mut last_newline = 0;
        for row in tail.split_inclusive('\n') {
            if blank && fence.is_none() && row.starts_with(|c: char| !c.is_whitespace()) {
                return Some((self.done + at, true));
            }
            step_fence(&mut fence, row);
            blank = row.trim().is_empty() && at > 0;
            at += row.len();
            if row.ends_with('\n') {
                last_newline = at;
            }
            if at > TAIL_MAX {
                break;
            }
        }
        if at <= TAIL_MAX {
            return None;
        }
        let cut =
            if last_newline > 0 { last_newline } else { tail[..floor(tail, TAIL_MAX)].rfind(' ').map_or(floor(tail, TAIL_MAX), |p| p + 1) };
        Some((self.done + cut, false))
    }

    fn fence_after(&self, end: usize) -> Option<String> {
        let mut fence = self.fence.clone();
        self.text[self.done..end].split_inclusive('\n').for_each(|row| step_fence(&mut fence, row));
        fence
    }

    fn render(&self, piece: &str) -> Vec<RichLine> {
        match self.kind {
            LiveKind::Text => match &self.fence {
                Some(open) => markdown::render(&format!("{open}\n{piece}"), self.cols),
                None => markdown::render(piece, self.cols),
            },
            LiveKind::Reasoning => markdown::plain_text(piece, Ink::Dim, self.cols),
            LiveKind::Output => markdown::plain_text(piece, Ink::Code, self.cols),
        }
    }
}

fn step_fence(fence: &mut Option<String>, row: &str) {
    let trimmed = row.trim();
    let mark = if trimmed.starts_with("```") {
        "```"
    } else if trimmed.starts_with("~~~") {
        "~~~"
    } else {
        return;
    };
    match fence {
        None => *fence = Some(trimmed.to_owned()),
        Some(open) if open.starts_with(mark) && trimmed.chars().all(|c| mark.starts_with(c)) => *fence = None,
        Some(_) => {}
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
