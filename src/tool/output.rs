//! Output of commands: captured in bounded memory, cut to a bounded text, free of escape sequences.
//!
//! Deliberately absent: who produces it.

use crate::domain::text::sanitise;

/// `text` cut to about `limit` characters: head and tail are kept, the middle is named.
pub fn bound(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit / 2).collect();
    let tail_length = limit - limit / 2;
    let tail: String = text.chars().skip(count - tail_length).collect();
    join(&head, &tail, count - limit)
}

fn join(head: &str, tail: &str, left_out: usize) -> String {
    format!("{head}\n… {left_out} characters left out …\n{tail}")
}

/// Bytes without escape sequences, invalid UTF-8 replaced, unsafe characters replaced: what may be shown.
pub fn clean(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut text = cleaner.push(bytes);
    text.push_str(&cleaner.finish());
    text
}

/// Keeps the first and the last bytes of a stream of any length.
pub struct Capture {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes that each end keeps: half the limit in characters of at most 4 bytes.
    keep: usize,
    limit: usize,
    characters: usize,
    dropped: bool,
}

impl Capture {
    /// For a text of at most about `limit` characters; memory stays below 8 times that, whatever comes.
    pub fn new(limit: usize) -> Self {
        Self { head: Vec::new(), tail: Vec::new(), keep: limit.saturating_mul(2).max(64), limit, characters: 0, dropped: false }
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let count = if bytes.is_ascii() { bytes.len() } else { String::from_utf8_lossy(bytes).chars().count() };
        self.characters = self.characters.saturating_add(count);
        let room = self.keep.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let last = &rest[rest.len().saturating_sub(self.keep)..];
        self.dropped |= last.len() < rest.len();
        self.tail.extend_from_slice(last);
        // Trimmed at twice the size, so that a flood in small pieces is not copied once a piece.
        if self.tail.len() > self.keep * 2 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let surplus = self.tail.len().saturating_sub(self.keep);
        self.dropped |= surplus > 0;
        self.tail.drain(..surplus);
    }

    /// What is shown.
    pub fn finish(mut self) -> String {
        self.trim();
        if !self.dropped {
            self.head.append(&mut self.tail);
            return bound(&clean(&self.head), self.limit);
        }
        let head: String = clean(&self.head).chars().take(self.limit / 2).collect();
        let tail = clean(&self.tail);
        let tail_length = self.limit - self.limit / 2;
        let tail: String = tail.chars().skip(tail.chars().count().saturating_sub(tail_length)).collect();
        let kept = head.chars().count() + tail.chars().count();
        join(&head, &tail, self.characters.saturating_sub(kept))
    }
}

/// Turns bytes that arrive in pieces into showable text: sequences and characters may be cut anywhere.
#[derive(Default)]
pub struct Cleaner {
    /// A character's first bytes, whose rest has not come yet.
    partial: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After a carriage return: a newline that follows belongs to it.
    Return,
    /// After ESC.
    Escape,
    /// In `ESC [ …`, up to its final letter.
    Control,
    /// In `ESC ]`, `ESC P` and the like, up to BEL or ST. A newline ends it too: an unterminated one hides one line.
    Words,
    /// ESC within words: perhaps the start of ST.
    WordsEscape,
}

impl Cleaner {
    /// The text of more bytes.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut out = String::with_capacity(all.len());
        let mut done = 0;
        for chunk in all.utf8_chunks() {
            self.text(chunk.valid(), &mut out);
            done += chunk.valid().len() + chunk.invalid().len();
            let cut = done == all.len() && std::str::from_utf8(chunk.invalid()).is_err_and(|e| e.error_len().is_none());
            if cut {
                self.partial = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.text("\u{fffd}", &mut out);
            }
        }
        sanitise(&out).into_owned()
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> String {
        let cut = !std::mem::take(&mut self.partial).is_empty();
        self.state = State::Text;
        if cut { "\u{fffd}".into() } else { String::new() }
    }

    fn text(&mut self, text: &str, out: &mut String) {
        if self.state == State::Text && !text.contains(['\u{1b}', '\r']) {
            out.push_str(text);
            return;
        }
        for c in text.chars() {
            self.state = step(self.state, c, out);
        }
    }
}

fn step(state: State, c: char, out: &mut String) -> State {
    match (state, c) {
        (State::Return, '\n') | (State::Words, '\u{7}') | (State::WordsEscape, '\\') => State::Text,
        (State::Text | State::Return | State::Escape | State::Control, '\u{1b}') => State::Escape,
        (State::Words | State::WordsEscape, '\u{1b}') => State::WordsEscape,
        (State::Escape, '[') => State::Control,
        (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Words,
        // Intermediate bytes (`ESC ( B`): the sequence goes on.
        (State::Escape, ' '..='/') => State::Escape,
        (State::Control, ' '..='?') => State::Control,
        (State::Escape, '0'..='~') | (State::Control, '@'..='~') => State::Text,
        (State::Words | State::WordsEscape, c) if c != '\n' => State::Words,
        // A progress bar's carriage return begins a line: nothing printed is lost.
        (_, '\r') => {
            out.push('\n');
            State::Return
        }
        (_, c) => {
            out.push(c);
            State::Text
        }
    }
}
