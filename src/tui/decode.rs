//! Bytes from the terminal, decoded: keys, mouse, focus, bracketed paste. Pure; moments and reads stay outside.
//!
//! An own decoder, because crossterm's waits for the end of a bracketed paste for ever and keeps its state in a global
//! that nothing can reset: a program that prints the beginning of a paste would take the keyboard away. Here every
//! state is bounded in size, and [`Decoder::give_up`] ends it.
//! Deliberately absent: any request to the terminal, so no answer is ever waited for; late answers to somebody else's
//! questions are swallowed and never become keys.

mod csi;

use crate::app::msg::{Key, KeyCode};
use csi::{Outcome, Pointer};

/// A bracketed paste keeps at most this many bytes; the rest is dropped. 10,000 long lines fit.
pub const PASTE_MAX: usize = 8 * 1024 * 1024;
/// No control sequence of a terminal is longer.
const SEQUENCE_MAX: usize = 128;
/// An answer of the terminal (a string sequence) is swallowed up to this length.
const STRING_MAX: usize = 64 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";

/// Something that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed or repeats.
    Key(Key),
    /// A bracketed paste, whole, with `\n` line ends.
    Paste(String),
    /// The left button was pressed; column and row from 0.
    Press(u16, u16),
    /// The wheel went up there.
    WheelUp(u16, u16),
    /// The wheel went down there.
    WheelDown(u16, u16),
    /// The window got or lost the focus.
    Focus(bool),
}

/// What bytes in the middle of a sequence wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Nothing: between two inputs.
    No,
    /// The rest of a key; a lone Esc is one of these.
    Sequence,
    /// The end of a bracketed paste.
    Paste,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    /// `ESC [`, with the bytes after it.
    Csi(Vec<u8>),
    /// `ESC O`.
    Ss3,
    /// `ESC ]`, `ESC P`, `ESC X`, `ESC ^`, `ESC _`: an answer, swallowed until its end.
    String {
        introducer: u8,
        length: usize,
        escape: bool,
    },
    /// An old mouse report: so many bytes are to be dropped.
    Skip(u8),
    /// The beginning of a character in UTF-8.
    Utf8(Vec<u8>),
    Paste(Vec<u8>),
}

/// The decoder's state between two reads.
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
}

impl Decoder {
    /// Decodes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        for byte in bytes {
            self.step(*byte, &mut out);
        }
        out
    }

    /// What the bytes so far wait for.
    pub fn waiting(&self) -> Waiting {
        match self.state {
            State::Ground => Waiting::No,
            State::Paste(_) => Waiting::Paste,
            State::Escape | State::Csi(_) | State::Ss3 | State::String { .. } | State::Skip(_) | State::Utf8(_) => Waiting::Sequence,
        }
    }

    /// Nothing more came in time: a lone Esc is the key, an unfinished paste is a paste, other beginnings are dropped.
    pub fn give_up(&mut self) -> Vec<Input> {
        match std::mem::take(&mut self.state) {
            State::Ground | State::Skip(_) | State::Utf8(_) => Vec::new(),
            State::Escape => vec![Input::Key(plain(KeyCode::Esc))],
            State::Csi(bytes) if bytes.is_empty() => vec![Input::Key(alt(KeyCode::Char('[')))],
            State::Csi(_) => Vec::new(),
            State::Ss3 => vec![Input::Key(alt(KeyCode::Char('O')))],
            State::String { introducer, length: 0, .. } => vec![Input::Key(alt(KeyCode::Char(char::from(introducer))))],
            State::String { .. } => Vec::new(),
            State::Paste(bytes) => paste(&bytes).into_iter().collect(),
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<Input>) {
        match &mut self.state {
            State::Ground => self.state = ground(byte, out),
            State::Escape => self.state = escape(byte, out),
            State::Csi(bytes) => {
                if let Some(next) = csi_byte(bytes, byte, out) {
                    self.state = next;
                }
            }
            State::Ss3 => {
                out.extend(csi::ss3(byte).map(|code| Input::Key(plain(code))));
                self.state = State::Ground;
            }
            State::String { length, escape, .. } => {
                let ends = byte == 0x07 || (*escape && byte == b'\\') || *length >= STRING_MAX;
                *length += 1;
                *escape = byte == 0x1b;
                if ends {
                    self.state = State::Ground;
                }
            }
            State::Skip(left) => match left.checked_sub(1) {
                Some(0) | None => self.state = State::Ground,
                Some(fewer) => *left = fewer,
            },
            State::Utf8(bytes) => {
                if byte & 0xc0 != 0x80 {
                    self.state = State::Ground;
                    return self.step(byte, out);
                }
                bytes.push(byte);
                if bytes.len() >= utf8_length(bytes[0]) {
                    out.extend(utf8(bytes).map(|c| Input::Key(character(c))));
                    self.state = State::Ground;
                }
            }
            State::Paste(bytes) => {
                if bytes.len() >= PASTE_MAX {
                    // Full: only the last bytes keep moving, so that the end is still recognised.
                    bytes.remove(PASTE_MAX - PASTE_END.len());
                }
                bytes.push(byte);
                if bytes.ends_with(PASTE_END) {
                    bytes.truncate(bytes.len() - PASTE_END.len());
                    out.extend(paste(bytes));
                    self.state = State::Ground;
                }
            }
        }
    }
}

fn ground(byte: u8, out: &mut Vec<Input>) -> State {
    match byte {
        0x1b => return State::Escape,
        0xc2..=0xf4 => return State::Utf8(vec![byte]),
        _ => out.extend(single(byte).map(Input::Key)),
    }
    State::Ground
}

/// The key of one byte below 0x80.
fn single(byte: u8) -> Option<Key> {
    Some(match byte {
        0x00 => control(' '),
        0x08 | 0x7f => plain(KeyCode::Backspace),
        b'\t' => plain(KeyCode::Tab),
        b'\r' => plain(KeyCode::Enter),
        0x01..=0x1a => control(char::from(byte - 1 + b'a')),
        0x1c..=0x1f => control(char::from(byte - 0x1c + b'\\')),
        0x20..=0x7e => character(char::from(byte)),
        _ => return None,
    })
}

fn escape(byte: u8, out: &mut Vec<Input>) -> State {
    match byte {
        b'[' => return State::Csi(Vec::new()),
        b'O' => return State::Ss3,
        b']' | b'P' | b'X' | b'^' | b'_' => return State::String { introducer: byte, length: 0, escape: false },
        0x1b => {
            out.push(Input::Key(plain(KeyCode::Esc)));
            return State::Escape;
        }
        _ => out.extend(single(byte).map(|key| Input::Key(Key { alt: true, ..key }))),
    }
    State::Ground
}

/// Takes a byte into a control sequence; the next state, or `None` to stay in it.
fn csi_byte(bytes: &mut Vec<u8>, byte: u8, out: &mut Vec<Input>) -> Option<State> {
    match byte {
        0x1b => return Some(State::Escape),
        // The Linux console's F1 to F5 are `ESC [ [ A` to `E`.
        b'[' if bytes.is_empty() => bytes.push(byte),
        0x20..=0x3f => bytes.push(byte),
        0x40..=0x7e => {
            return Some(match csi::finish(bytes, byte) {
                Outcome::Key(key) => {
                    out.push(Input::Key(key));
                    State::Ground
                }
                Outcome::Pointer(pointer, column, row) => {
                    out.push(match pointer {
                        Pointer::Press => Input::Press(column, row),
                        Pointer::WheelUp => Input::WheelUp(column, row),
                        Pointer::WheelDown => Input::WheelDown(column, row),
                    });
                    State::Ground
                }
                Outcome::Focus(focus) => {
                    out.push(Input::Focus(focus));
                    State::Ground
                }
                Outcome::PasteBegins => State::Paste(Vec::new()),
                Outcome::OldMouse => State::Skip(3),
                Outcome::Nothing => State::Ground,
            });
        }
        _ => return Some(State::Ground),
    }
    (bytes.len() > SEQUENCE_MAX).then_some(State::Ground)
}

fn paste(bytes: &[u8]) -> Option<Input> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    (!text.is_empty()).then_some(Input::Paste(text))
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

fn utf8(bytes: &[u8]) -> Option<char> {
    std::str::from_utf8(bytes).ok()?.chars().next()
}

/// A key without modifiers.
pub(super) fn plain(code: KeyCode) -> Key {
    Key { code, ctrl: false, alt: false, shift: false }
}

fn alt(code: KeyCode) -> Key {
    Key { alt: true, ..plain(code) }
}

fn control(c: char) -> Key {
    Key { ctrl: true, ..plain(KeyCode::Char(c)) }
}

/// A printed character; for letters alone it is known whether Shift was held.
fn character(c: char) -> Key {
    Key { shift: c.is_uppercase(), ..plain(KeyCode::Char(c)) }
}

#[cfg(test)]
mod tests;
