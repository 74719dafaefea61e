//! Server-sent events, read the way real servers write them.
//!
//! Pure: bytes in, payloads out. Taken beyond the specification: a byte order mark, CR, CRLF and LF mixed, `[DONE]` with
//! spaces, empty `data:`, events without a blank line between them, a last event without one, bare JSON lines, and an
//! `event: error` whose data is the bare error. Comments are dropped here; the caller sees that bytes came.

use serde::de::IgnoredAny;

/// Longest event in bytes. Arguments of one tool call that writes a big file come in one piece from some servers.
const EVENT_MAX: usize = 32 << 20;

/// What an event holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A JSON document on one line.
    Json(String),
    /// `[DONE]`.
    Done,
    /// Something else than JSON, or too long: its length in bytes.
    Unreadable(usize),
}

/// Puts events together from bytes in pieces of any size.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    data: String,
    balance: Balance,
    event: String,
    after_cr: bool,
    begun: bool,
}

impl Decoder {
    /// Takes bytes, gives the events that are whole.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Payload>) {
        for &byte in bytes {
            let after_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if after_cr => {}
                b'\n' => self.end_line(out),
                b'\r' => {
                    self.after_cr = true;
                    self.end_line(out);
                }
                _ if self.line.len() < EVENT_MAX => self.line.push(byte),
                _ => {}
            }
        }
    }

    /// The stream ended: gives what the last line and event still hold.
    pub fn finish(&mut self, out: &mut Vec<Payload>) {
        self.end_line(out);
        self.dispatch(out);
    }

    fn end_line(&mut self, out: &mut Vec<Payload>) {
        let bytes = std::mem::take(&mut self.line);
        let mut line = bytes.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(out);
        }
        let text = String::from_utf8_lossy(line);
        if text.starts_with('{') {
            return self.add(&text, out);
        }
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.add(value, out),
            "event" => self.event = value.trim().to_owned(),
            _ => {}
        }
    }

    fn add(&mut self, value: &str, out: &mut Vec<Payload>) {
        if self.balance.is_whole(&self.data) {
            self.dispatch(out);
        }
        if self.data.len() + value.len() > EVENT_MAX {
            out.push(Payload::Unreadable(self.data.len() + value.len()));
            self.data.clear();
            self.balance = Balance::default();
            return;
        }
        if !self.data.is_empty() {
            self.data.push(' ');
        }
        self.data.push_str(value);
        self.balance.add(value);
    }

    fn dispatch(&mut self, out: &mut Vec<Payload>) {
        let data = std::mem::take(&mut self.data);
        self.balance = Balance::default();
        let event = std::mem::take(&mut self.event);
        let text = data.trim();
        match text {
            "" => {}
            "[DONE]" => out.push(Payload::Done),
            text if !is_json(text) => out.push(Payload::Unreadable(text.len())),
            text if event == "error" && !text.contains("\"error\"") => out.push(Payload::Json(format!("{{\"error\":{text}}}"))),
            text => out.push(Payload::Json(text.to_owned())),
        }
    }
}

/// Tells when gathered data has become a whole document, without reading all of it again for each line: an event of a
/// million short lines must not cost a million times its length.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// It was balanced once and no JSON: more of it does not make it so.
    hopeless: bool,
}

impl Balance {
    fn add(&mut self, value: &str) {
        for byte in value.bytes() {
            if self.in_text {
                match byte {
                    _ if std::mem::take(&mut self.escaped) => {}
                    b'\\' => self.escaped = true,
                    b'"' => self.in_text = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_whole(&mut self, data: &str) -> bool {
        if data.is_empty() || self.depth > 0 || self.in_text || self.hopeless {
            return false;
        }
        let whole = data.trim() == "[DONE]" || is_json(data);
        self.hopeless = !whole;
        whole
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Payload> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        pieces.iter().for_each(|piece| decoder.push(piece, &mut out));
        decoder.finish(&mut out);
        out
    }

    fn json(text: &str) -> Payload {
        Payload::Json(text.to_owned())
    }

    #[test]
    fn line_ends_of_every_kind_are_the_same() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: {{\"a\":1}}{end}{end}data: [DONE]{end}{end}");
            assert_eq!(read(&[text.as_bytes()]), [json("{\"a\":1}"), Payload::Done], "{end:?}");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(read(&bytes), [json("{\"a\":1}"), Payload::Done], "{end:?} byte by byte");
        }
    }

    #[test]
    fn a_mark_empty_data_comments_and_done_with_a_space_do_no_harm() {
        let text = b"\xef\xbb\xbfdata:{\"a\":1}\n\ndata:\n\n: ping\n\ndata: [DONE] \n\n";
        assert_eq!(read(&[text]), [json("{\"a\":1}"), Payload::Done]);
    }

    #[test]
    fn events_without_a_blank_line_between_them_are_two() {
        assert_eq!(read(&[b"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n"]), [json("{\"a\":1}"), json("{\"b\":2}"), Payload::Done]);
    }

    #[test]
    fn data_over_several_lines_is_one_event() {
        assert_eq!(read(&[b"data: {\"a\":\ndata: 1}\n\n"]), [json("{\"a\": 1}")]);
    }

    #[test]
    fn an_event_of_very_many_lines_costs_its_length_and_not_its_square() {
        let closing = format!("data: [[1]\n{}data: ]\n\n", "data: ,[1]\n".repeat(200_000));
        assert_eq!(read(&[closing.as_bytes()]).len(), 1);
        let hopeless = format!("data: [{}1]x]\n{}\n", "1,".repeat(200_000), "data: ]\n".repeat(200_000));
        assert!(matches!(read(&[hopeless.as_bytes()])[..], [Payload::Unreadable(_)]));
    }

    #[test]
    fn half_an_event_is_unreadable_and_does_not_hide_the_next() {
        assert_eq!(read(&[b"data: {oops}\n\ndata: {}\n\ndata: {\"a\""]), [Payload::Unreadable(6), json("{}"), Payload::Unreadable(4)]);
    }

    #[test]
    fn a_named_or_bare_error_is_an_error() {
        assert_eq!(read(&[b"event: error\ndata: {\"message\":\"x\"}\n\n"]), [json("{\"error\":{\"message\":\"x\"}}")]);
        assert_eq!(read(&[b"{\"error\":{\"message\":\"x\"}}\n"]), [json("{\"error\":{\"message\":\"x\"}}")]);
    }
}
