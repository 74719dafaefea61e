//! The person's side: reads the terminal, and gives messages for the screen.
//!
//! [`Reader`] is pure: bytes and moments in, messages out. [`Input`] is the thin part that waits. While an editor has
//! the terminal, [`Input::next`] is simply not called, so not one key is taken away from it.

use super::decode::{Decoder, Input as Decoded, Waiting};
use super::device::Device;
use crate::app::msg::{Key, KeyCode, Mouse, Msg};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep_until};

/// After Esc the rest of a key sequence comes within this time, also over a slow link.
const ESCAPE_WAIT: Duration = Duration::from_millis(40);
/// A bracketed paste that brought nothing in bulk for so long is over, although its end never came. Single keys, which
/// a person presses when the keyboard seems dead, do not prolong it.
const PASTE_WAIT: Duration = Duration::from_secs(2);
/// More bytes than this in one read are no typing.
const BULK: usize = 16;
/// So many keys at once with a newline among them are text that was pasted without brackets (as tmux does): folded
/// into one paste, so that its newlines submit nothing.
pub const BURST_KEYS: usize = 50;
/// A burst is over when nothing came for so long.
const BURST_WAIT: Duration = Duration::from_millis(30);
/// Two clicks on one cell within this time are a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);
/// One read; the kernel's terminal buffer holds 4 KiB.
const READ_SIZE: usize = 8 * 1024;
/// So much is read before the screen may draw again.
const READ_MAX: usize = 256 * 1024;

/// Turns bytes into messages.
#[derive(Debug, Default)]
pub struct Reader {
    decoder: Decoder,
    burst: String,
    deadline: Option<Instant>,
    click: Option<(Instant, u16, u16)>,
    typed_ahead: Ahead,
}

/// Keys typed before we took the terminal went through its line discipline, which turned Enter into a newline.
#[derive(Debug, Default, PartialEq, Eq)]
enum Ahead {
    #[default]
    Possible,
    Past,
}

impl Reader {
    /// Takes bytes that were read at one time.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) -> Vec<Msg> {
        let before = self.decoder.waiting();
        let decoded = self.decoder.feed(bytes);
        let mut out = self.assemble(decoded, now);
        if std::mem::replace(&mut self.typed_ahead, Ahead::Past) == Ahead::Possible {
            out.iter_mut().for_each(newline_to_enter);
        }
        let more = if bytes.len() > BULK || before != Waiting::Paste { Some(now + PASTE_WAIT) } else { self.deadline };
        self.deadline = self.next_deadline(more, now);
        out
    }

    /// When [`Reader::expire`] is to be called if nothing comes.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Nothing came until the deadline.
    pub fn expire(&mut self, now: Instant) -> Vec<Msg> {
        self.deadline = None;
        if self.decoder.waiting() == Waiting::Paste {
            tracing::warn!("a paste had no end; its text was taken as it was");
        }
        let decoded = self.decoder.give_up();
        let mut out: Vec<Msg> = self.end_burst().into_iter().collect();
        out.extend(self.assemble(decoded, now));
        out
    }

    fn next_deadline(&self, paste: Option<Instant>, now: Instant) -> Option<Instant> {
        let burst = (!self.burst.is_empty()).then(|| now + BURST_WAIT);
        match self.decoder.waiting() {
            Waiting::No => burst,
            Waiting::Sequence => burst.or(Some(now + ESCAPE_WAIT)),
            Waiting::Paste => paste,
        }
    }

    fn assemble(&mut self, decoded: Vec<Decoded>, now: Instant) -> Vec<Msg> {
        let mut out = Vec::new();
        let mut typed: Vec<Key> = Vec::new();
        for input in decoded {
            match input {
                Decoded::Key(key) if text_of(key).is_some() => typed.push(key),
                other => {
                    self.take_typed(&mut typed, &mut out);
                    out.extend(self.end_burst());
                    out.push(self.message(other, now));
                }
            }
        }
        self.take_typed(&mut typed, &mut out);
        out
    }

    /// A run of keys that write text: typing, or the next part of a burst.
    fn take_typed(&mut self, typed: &mut Vec<Key>, out: &mut Vec<Msg>) {
        let is_burst = typed.len() > BURST_KEYS && typed.iter().any(|key| text_of(*key) == Some('\n'));
        if is_burst || !self.burst.is_empty() {
            self.burst.extend(typed.drain(..).filter_map(text_of));
        } else {
            out.extend(typed.drain(..).map(Msg::Key));
        }
    }

    fn end_burst(&mut self) -> Option<Msg> {
        (!self.burst.is_empty()).then(|| Msg::Paste(std::mem::take(&mut self.burst)))
    }

    fn message(&mut self, input: Decoded, now: Instant) -> Msg {
        match input {
            Decoded::Key(key) => Msg::Key(key),
            Decoded::Paste(text) => Msg::Paste(text),
            Decoded::Focus(focus) => Msg::Focused(focus),
            Decoded::WheelUp(column, row) => Msg::Mouse(Mouse::ScrollUp { column, row }),
            Decoded::WheelDown(column, row) => Msg::Mouse(Mouse::ScrollDown { column, row }),
            Decoded::Press(column, row) => Msg::Mouse(self.press(column, row, now)),
        }
    }

    fn press(&mut self, column: u16, row: u16, now: Instant) -> Mouse {
        let doubled = self.click.take().is_some_and(|(at, c, r)| (c, r) == (column, row) && now.duration_since(at) <= DOUBLE_CLICK);
        if doubled {
            return Mouse::DoubleClick { column, row };
        }
        self.click = Some((now, column, row));
        Mouse::Click { column, row }
    }
}

/// The character a key writes into a text, where it does.
fn text_of(key: Key) -> Option<char> {
    match key {
        Key { code: KeyCode::Char(c), ctrl: false, alt: false, .. } => Some(c),
        Key { code: KeyCode::Enter, ctrl: false, alt: false, .. } | Key { code: KeyCode::Char('j'), ctrl: true, alt: false, .. } => {
            Some('\n')
        }
        Key { code: KeyCode::Tab, ctrl: false, alt: false, .. } => Some('\t'),
        _ => None,
    }
}

fn newline_to_enter(msg: &mut Msg) {
    if let Msg::Key(key) = msg
        && key.ctrl
        && key.code == KeyCode::Char('j')
    {
        *key = Key { code: KeyCode::Enter, ctrl: false, ..*key };
    }
}

/// Reads the terminal.
pub struct Input {
    fd: Arc<AsyncFd<Arc<Device>>>,
    reader: Reader,
    buffer: Vec<u8>,
}

impl Input {
    /// Nothing is read yet; what was typed before is kept by the terminal.
    pub fn new(fd: Arc<AsyncFd<Arc<Device>>>) -> Self {
        Self { fd, reader: Reader::default(), buffer: vec![0; READ_SIZE] }
    }

    /// Forgets half a key, after somebody else had the terminal.
    pub fn reset(&mut self) {
        self.reader = Reader { typed_ahead: Ahead::Past, ..Reader::default() };
    }

    /// The next messages, at least one. Cancel safe.
    ///
    /// # Errors
    /// `UnexpectedEof` or another error when the terminal is gone.
    pub async fn next(&mut self) -> io::Result<Vec<Msg>> {
        loop {
            let deadline = self.reader.deadline();
            let messages = tokio::select! {
                ready = self.fd.readable() => {
                    match ready?.try_io(|fd| take(fd.get_ref(), &mut self.buffer, &mut self.reader)) {
                        Ok(messages) => messages?,
                        Err(_nothing_there) => continue,
                    }
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => self.reader.expire(Instant::now()),
            };
            if !messages.is_empty() {
                return Ok(messages);
            }
        }
    }
}

/// Reads what is there, up to [`READ_MAX`]; `WouldBlock` when there is nothing at all.
fn take(device: &Device, buffer: &mut [u8], reader: &mut Reader) -> io::Result<Vec<Msg>> {
    let mut messages = Vec::new();
    let mut total = 0;
    while total < READ_MAX {
        match device.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                total += count;
                messages.extend(reader.feed(&buffer[..count], Instant::now()));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && total > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Typist {
        reader: Reader,
        now: Instant,
    }

    impl Typist {
        fn new() -> Self {
            let mut reader = Reader::default();
            let now = Instant::now();
            reader.feed(b"", now);
            Self { reader, now }
        }

        fn types(&mut self, bytes: &[u8]) -> Vec<String> {
            self.reader.feed(bytes, self.now).iter().map(show).collect()
        }

        fn waits(&mut self, time: Duration) -> Vec<String> {
            self.now += time;
            let due = self.reader.deadline().is_some_and(|deadline| deadline <= self.now);
            let got = if due { self.reader.expire(self.now) } else { Vec::new() };
            got.iter().map(show).collect()
        }
    }

    fn show(msg: &Msg) -> String {
        match msg {
            Msg::Key(key) => format!("{:?}", key.code),
            Msg::Paste(text) => format!("paste {}", text.len()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_few_keys_at_once_are_keys() {
        assert_eq!(Typist::new().types(b"ls\r"), ["Char('l')", "Char('s')", "Enter"]);
    }

    #[test]
    fn a_burst_with_newlines_is_one_paste_and_submits_nothing() {
        let mut typist = Typist::new();
        let lines = "some words of a line\r".repeat(200);
        for piece in lines.as_bytes().chunks(64) {
            assert_eq!(typist.types(piece), [""; 0]);
        }
        assert_eq!(typist.waits(BURST_WAIT), [format!("paste {}", lines.len())]);
        assert_eq!(typist.types(b"a"), ["Char('a')"]);
    }

    #[test]
    fn a_fast_typist_without_newlines_is_not_taken_for_a_paste() {
        assert_eq!(Typist::new().types(&[b'x'; 80]).len(), 80);
    }

    #[test]
    fn a_lone_escape_comes_after_a_short_wait() {
        let mut typist = Typist::new();
        assert_eq!(typist.types(b"\x1b"), [""; 0]);
        assert_eq!(typist.waits(ESCAPE_WAIT), ["Esc"]);
        assert_eq!(typist.reader.deadline(), None);
    }

    #[test]
    fn a_paste_that_never_ends_is_taken_after_two_seconds_whatever_is_typed() {
        let mut typist = Typist::new();
        assert_eq!(typist.types(b"\x1b[200~some text that was cut"), [""; 0]);
        for _ in 0..5 {
            assert_eq!(typist.waits(Duration::from_millis(300)), [""; 0]);
            assert_eq!(typist.types(b"q"), [""; 0]);
        }
        assert_eq!(typist.waits(Duration::from_millis(600)), ["paste 27"]);
        assert_eq!(typist.types(b"q"), ["Char('q')"]);
    }

    #[test]
    fn enter_that_was_typed_ahead_is_enter() {
        let mut reader = Reader::default();
        let got = reader.feed(b"a\n", Instant::now());
        assert_eq!(got.iter().map(show).collect::<Vec<_>>(), ["Char('a')", "Enter"]);
        let later = reader.feed(b"\n", Instant::now());
        assert_eq!(later.iter().map(show).collect::<Vec<_>>(), ["Char('j')"]);
    }

    #[test]
    fn two_clicks_on_one_cell_are_a_double_click_and_a_third_is_a_click() {
        let mut typist = Typist::new();
        let click = b"\x1b[<0;5;3M\x1b[<0;5;3m";
        assert!(typist.types(click)[0].contains("(Click"));
        assert!(typist.types(click)[0].contains("(DoubleClick"));
        assert!(typist.types(click)[0].contains("(Click"));
        typist.now += DOUBLE_CLICK * 2;
        assert!(typist.types(click)[0].contains("(Click"));
    }
}
