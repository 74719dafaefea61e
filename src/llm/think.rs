//! Reasoning that comes inside the text: `<think>…</think>` and its dialects, split off while it streams.
//!
//! Pure. A tag counts at the start of the text or of a line, outside fenced code; a closing tag without an opening one
//! counts once and makes everything before it reasoning. Quoted tags (`` `<think>` ``) stay text.

/// Opening and closing tags.
const TAGS: [(&str, &str); 4] = [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷")];

/// A piece of what was split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Visible text.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// All text so far was reasoning: its opening tag never came.
    WasThought,
}

/// Splits text that comes in pieces.
#[derive(Debug, Default)]
pub struct Splitter {
    held: String,
    inside: Option<&'static str>,
    closed_once: bool,
    trim: bool,
    last: Option<char>,
    line: String,
    fenced: bool,
}

impl Splitter {
    /// Takes text; what may be the start of a tag is held back.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        let mut out = Vec::new();
        let mut from = 0;
        while from < held.len() {
            let taken = self.step(&held[from..], &mut out);
            if taken == 0 {
                break;
            }
            from += taken;
        }
        self.held = held.split_off(from);
        out
    }

    /// The end: what was held back is no tag.
    pub fn finish(&mut self) -> Vec<Piece> {
        let rest = std::mem::take(&mut self.held);
        let mut out = Vec::new();
        self.emit(&rest, &mut out);
        out
    }

    /// Passes on plain text, or the tag that `text` begins with; 0 when it takes more text to tell.
    fn step(&mut self, text: &str, out: &mut Vec<Piece>) -> usize {
        let Some(first) = text.chars().next().filter(|c| matches!(c, '<' | '[' | '◁')) else {
            let plain = text.find(['<', '[', '◁']).unwrap_or(text.len());
            self.emit(&text[..plain], out);
            return plain;
        };
        let opens = self.inside.is_none() && self.at_line_start() && !self.fenced;
        let wanted = TAGS.iter().flat_map(|(open, close)| [(*open, *close, true), (*close, *close, false)]);
        let mut partial = false;
        for (tag, close, is_open) in wanted {
            let counts = if is_open { opens } else { self.closes(tag) };
            if counts && text.starts_with(tag) {
                self.turn(is_open.then_some(close), out);
                return tag.len();
            }
            partial |= counts && tag.starts_with(text);
        }
        if partial {
            return 0;
        }
        self.emit(&text[..first.len_utf8()], out);
        first.len_utf8()
    }

    fn closes(&self, tag: &str) -> bool {
        match self.inside {
            Some(close) => close == tag,
            None => !self.closed_once && !self.fenced && !self.last.is_some_and(|c| matches!(c, '`' | '"' | '\'')),
        }
    }

    fn turn(&mut self, inside: Option<&'static str>, out: &mut Vec<Piece>) {
        if inside.is_none() {
            if self.inside.is_none() {
                out.push(Piece::WasThought);
            }
            self.closed_once = true;
            self.line.clear();
        }
        self.inside = inside;
        self.trim = true;
    }

    fn at_line_start(&self) -> bool {
        self.line.trim().is_empty()
    }

    fn emit(&mut self, text: &str, out: &mut Vec<Piece>) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        self.last = text.chars().next_back();
        if self.inside.is_some() {
            return match out.last_mut() {
                Some(Piece::Thought(last)) => last.push_str(text),
                Some(Piece::Text(_) | Piece::WasThought) | None => out.push(Piece::Thought(text.to_owned())),
            };
        }
        for c in text.chars() {
            if c == '\n' {
                self.line.clear();
            } else if self.line.len() < 16 {
                self.line.push(c);
                if self.line.trim_start() == "```" {
                    self.fenced = !self.fenced;
                }
            }
        }
        match out.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Thought(_) | Piece::WasThought) | None => out.push(Piece::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, by: usize) -> (String, String) {
        let mut splitter = Splitter::default();
        let chars: Vec<char> = text.chars().collect();
        let mut pieces: Vec<Piece> = chars.chunks(by).flat_map(|c| splitter.push(&c.iter().collect::<String>())).collect();
        pieces.extend(splitter.finish());
        let (mut visible, mut thought) = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => visible.push_str(&text),
                Piece::Thought(text) => thought.push_str(&text),
                Piece::WasThought => thought.push_str(&std::mem::take(&mut visible)),
            }
        }
        (visible, thought)
    }

    #[test]
    fn p18_tags_split_in_any_way_leave_no_trace() {
        for by in 1..12 {
            assert_eq!(split("<think>\nplan\n</think>\n\nanswer", by), ("answer".into(), "plan\n".into()), "{by}");
            assert_eq!(split("plan\n</think>\nanswer", by), ("answer".into(), "plan\n".into()), "{by}");
            assert_eq!(split("<think>never ends", by), (String::new(), "never ends".into()), "{by}");
            assert_eq!(split("a < b and [x]", by), ("a < b and [x]".into(), String::new()), "{by}");
        }
    }

    #[test]
    fn tags_that_are_talked_about_stay_text() {
        for text in ["The `<think>` tag ends with `</think>`.", "Use <think> here", "```\n<think>\n```"] {
            assert_eq!(split(text, 3), (text.into(), String::new()));
        }
    }

    #[test]
    fn thinking_twice_is_folded_twice() {
        assert_eq!(split("<think>a</think>x\n<think>b</think>y", 4), ("x\ny".into(), "ab".into()));
    }
}
