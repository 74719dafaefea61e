//! A small multi-line text editor, pure: grapheme-aware, with undo, and with long pastes held as one sign.
//!
//! A paste of more than a few lines is kept aside and stands in the text as one private-use character that is shown as
//! `[pasted 10,000 lines]`: typing stays cheap, nothing inside it submits, and one undo takes it out again.

use super::action::Action;
use super::clip::width;
use super::words::thousands;
use crate::domain::text::sanitise;
use unicode_segmentation::UnicodeSegmentation;

/// Pastes with more lines or bytes than these are folded into a placeholder.
const FOLD_LINES: usize = 8;
const FOLD_BYTES: usize = 1024;
/// The first of the private-use characters that stand for pastes.
const MARK: u32 = 0xF0000;
/// How many pastes one text can hold; a later one is inserted as it is.
const PASTES_MAX: u32 = 1000;
/// Steps that undo goes back.
const UNDO_MAX: usize = 200;

/// A text being written.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    text: String,
    cursor: usize,
    pastes: Vec<String>,
    undo: Vec<(String, usize)>,
    typing: bool,
}

impl Editor {
    /// An editor that begins with `text`, the cursor at its end.
    pub fn new(text: &str) -> Self {
        let text = safe(text);
        Self { cursor: text.len(), text, ..Self::default() }
    }

    /// The whole text, pastes written out.
    pub fn value(&self) -> String {
        if self.pastes.is_empty() {
            return self.text.clone();
        }
        let mut out = String::new();
        for c in self.text.chars() {
            match self.paste_of(c) {
                Some(paste) => out.push_str(paste),
                None => out.push(c),
            }
        }
        out
    }

    /// Whether nothing but white space is there.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Throws the text away.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Replaces the text in one undoable step.
    pub fn set(&mut self, text: &str) {
        self.remember();
        self.text = safe(text);
        self.cursor = self.text.len();
    }

    /// Types one character.
    pub fn insert(&mut self, c: char) {
        if !self.typing || c == '\n' || c == ' ' {
            self.remember();
        }
        self.typing = true;
        let mut bytes = [0; 4];
        let text = safe(c.encode_utf8(&mut bytes));
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Pastes text in one undoable step.
    pub fn paste(&mut self, text: &str) {
        self.remember();
        let text = safe(text);
        let lines = text.bytes().filter(|b| *b == b'\n').count();
        let mark = MARK + u32::try_from(self.pastes.len()).unwrap_or(u32::MAX - MARK);
        let folded = (lines >= FOLD_LINES || text.len() > FOLD_BYTES) && mark < MARK + PASTES_MAX;
        match char::from_u32(mark).filter(|_| folded) {
            Some(mark) => {
                self.pastes.push(text);
                self.text.insert(self.cursor, mark);
                self.cursor += mark.len_utf8();
            }
            None => {
                self.text.insert_str(self.cursor, &text);
                self.cursor += text.len();
            }
        }
    }

    fn paste_of(&self, c: char) -> Option<&str> {
        let at = u32::from(c).checked_sub(MARK)?;
        self.pastes.get(usize::try_from(at).ok()?).map(String::as_str)
    }

    fn remember(&mut self) {
        self.typing = false;
        if self.undo.len() >= UNDO_MAX {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    /// Carries out an editing action; `false` when it is none.
    pub fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Newline => self.insert('\n'),
            Action::Undo => {
                if let Some((text, cursor)) = self.undo.pop() {
                    (self.text, self.cursor) = (text, cursor);
                }
                self.typing = false;
            }
            Action::DeleteLeft => self.delete(self.left_of(self.cursor), self.cursor),
            Action::DeleteRight => self.delete(self.cursor, self.right_of(self.cursor)),
            Action::DeleteWord => self.delete(self.word_left(), self.cursor),
            Action::DeleteToStart => self.delete(self.line_start(), self.cursor),
            Action::DeleteToEnd => self.delete(self.cursor, self.line_end()),
            Action::CursorLeft => self.go(self.left_of(self.cursor)),
            Action::CursorRight => self.go(self.right_of(self.cursor)),
            Action::CursorHome => self.go(self.line_start()),
            Action::CursorEnd => self.go(self.line_end()),
            Action::WordLeft => self.go(self.word_left()),
            Action::WordRight => self.go(self.word_right()),
            Action::CursorUp => self.vertical(Vertical::Up),
            Action::CursorDown => self.vertical(Vertical::Down),
            _ => return false,
        }
        true
    }

    /// Whether the cursor stands on the first line.
    pub fn on_first_line(&self) -> bool {
        self.line_start() == 0
    }

    /// Whether the cursor stands on the last line.
    pub fn on_last_line(&self) -> bool {
        self.line_end() == self.text.len()
    }

    fn go(&mut self, at: usize) {
        self.cursor = at;
        self.typing = false;
    }

    fn delete(&mut self, from: usize, to: usize) {
        if from < to {
            self.remember();
            self.text.replace_range(from..to, "");
            self.cursor = from;
        }
    }

    fn left_of(&self, at: usize) -> usize {
        self.text[..at].grapheme_indices(true).next_back().map_or(0, |(i, _)| i)
    }

    fn right_of(&self, at: usize) -> usize {
        self.text[at..].graphemes(true).next().map_or(at, |g| at + g.len())
    }

    fn word_left(&self) -> usize {
        let head = self.text[..self.cursor].trim_end();
        head.rfind(char::is_whitespace).map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_right(&self) -> usize {
        let tail = &self.text[self.cursor..];
        let skip = tail.len() - tail.trim_start().len();
        tail[skip..].find(char::is_whitespace).map_or(self.text.len(), |at| self.cursor + skip + at)
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn vertical(&mut self, direction: Vertical) {
        let column = width(&self.shown(&self.text[self.line_start()..self.cursor]));
        let target = match direction {
            Vertical::Up => self.line_start().checked_sub(1).map(|end| self.text[..end].rfind('\n').map_or(0, |at| at + 1)),
            Vertical::Down => Some(self.line_end() + 1).filter(|at| *at <= self.text.len()),
        };
        let Some(start) = target else { return };
        let row = self.text[start..].split('\n').next().unwrap_or_default();
        let mut used = 0;
        let mut at = start;
        for grapheme in row.graphemes(true) {
            used += width(&self.shown(grapheme));
            if used > column {
                break;
            }
            at += grapheme.len();
        }
        self.go(at);
    }

    fn shown(&self, text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match self.paste_of(c) {
                Some(paste) => out.push_str(&placeholder(paste)),
                None if c == '\t' => out.push_str("    "),
                None => out.push(c),
            }
        }
        out
    }

    /// The text as it is shown, cut into rows of `cols` cells, and where the cursor stands (column, row).
    pub fn rows(&self, cols: usize) -> (Vec<String>, (usize, usize)) {
        let cols = cols.max(2);
        let mut rows = vec![String::new()];
        let mut used = 0;
        let mut cursor = (0, 0);
        for (at, grapheme) in self.text.grapheme_indices(true) {
            if at == self.cursor {
                cursor = (used, rows.len() - 1);
            }
            if grapheme == "\n" {
                rows.push(String::new());
                used = 0;
                continue;
            }
            let shown = self.shown(grapheme);
            for piece in shown.graphemes(true) {
                if used + width(piece) >= cols {
                    rows.push(String::new());
                    used = 0;
                    if at == self.cursor && cursor.0 + width(&shown) >= cols {
                        cursor = (0, rows.len() - 1);
                    }
                }
                used += width(piece);
                if let Some(row) = rows.last_mut() {
                    row.push_str(piece);
                }
            }
        }
        if self.cursor >= self.text.len() {
            cursor = (used, rows.len() - 1);
        }
        (rows, cursor)
    }
}

#[derive(Clone, Copy)]
enum Vertical {
    Up,
    Down,
}

/// `[pasted 10,000 lines]`.
fn placeholder(paste: &str) -> String {
    let lines = paste.lines().count();
    match lines {
        0 | 1 => format!("[pasted {} characters]", thousands(paste.chars().count() as u64)),
        _ => format!("[pasted {} lines]", thousands(lines as u64)),
    }
}

/// What may stand in the editor: no control characters, and none of the signs that stand for pastes.
fn safe(text: &str) -> String {
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() };
    let clean = sanitise(&text);
    let marks = MARK..MARK + PASTES_MAX;
    if clean.chars().any(|c| marks.contains(&u32::from(c))) {
        return clean.chars().map(|c| if marks.contains(&u32::from(c)) { '\u{fffd}' } else { c }).collect();
    }
    clean.into_owned()
}
