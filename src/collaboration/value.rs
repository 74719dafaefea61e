//! A tiny value: arguments of protocol tools, and the form of what a protocol remembers.
//!
//! The room names no JSON library; models write JSON all the same (a status object, a tool call as text), so a small
//! bounded reader is here. Imports domain and std (serde derive for snapshots).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Deepest nesting that [`ArgValue::read_json`] takes: no model writes deeper by intent, and recursion stays bounded.
pub const DEPTH_MAX: usize = 16;
/// Longest text, in bytes, that is searched for JSON objects (its end counts).
pub const SEARCH_MAX: usize = 64 * 1024;
/// At most this many opening braces are tried, so that odd text costs no more than linear time.
const TRIES_MAX: usize = 256;

/// A value as a model or a snapshot gives it. Serialises as plain JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArgValue {
    /// Nothing.
    #[default]
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<ArgValue>),
    /// Values by name.
    Map(BTreeMap<String, ArgValue>),
}

impl From<&str> for ArgValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for ArgValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<ArgValue>> From<Vec<T>> for ArgValue {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<const N: usize> From<[(&str, ArgValue); N]> for ArgValue {
    fn from(fields: [(&str, ArgValue); N]) -> Self {
        Self::Map(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

impl ArgValue {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Map(_) => None,
        }
    }

    /// A finite number, also where a model wrote it as text (`"80"`, `"80%"`).
    pub fn as_number(&self) -> Option<f64> {
        let number = match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.trim().trim_end_matches('%').trim_end().parse().ok(),
            Self::Null | Self::Bool(_) | Self::List(_) | Self::Map(_) => None,
        };
        number.filter(|n: &f64| n.is_finite())
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[ArgValue]> {
        match self {
            Self::List(list) => Some(list),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Map(_) => None,
        }
    }

    /// The field of a map.
    pub fn get(&self, key: &str) -> Option<&ArgValue> {
        match self {
            Self::Map(map) => map.get(key),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The JSON object, array or scalar that `text` begins with, and how many bytes it takes. `None`: no JSON there.
    pub fn read_json(text: &str) -> Option<(Self, usize)> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        Some((value, reader.at))
    }

    /// The last whole JSON object in `text` that has the field `key`; objects inside another one do not count.
    pub fn find_object(text: &str, key: &str) -> Option<Self> {
        let start = text.len().saturating_sub(SEARCH_MAX);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at))?;
        let text = &text[start..];
        let mut found = None;
        let mut at = 0;
        for _ in 0..TRIES_MAX {
            let Some(offset) = text[at..].find('{') else { break };
            at += offset;
            match Self::read_json(&text[at..]) {
                Some((value, length)) => {
                    at += length;
                    found = if value.get(key).is_some() { Some(value) } else { found };
                }
                None => at += 1,
            }
        }
        found
    }
}

/// Text as it is; everything else as compact JSON.
impl fmt::Display for ArgValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(yes) => write!(f, "{yes}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => {
                let items: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Map(map) => {
                let items: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {value}")).collect();
                write!(f, "{{{}}}", items.join(", "))
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Option<ArgValue> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.map(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(ArgValue::Text),
            _ => self.word(),
        }
    }

    fn map(&mut self, depth: usize) -> Option<ArgValue> {
        self.at += 1;
        let mut map = BTreeMap::new();
        while !self.eat(b'}') {
            if !map.is_empty() && !self.eat(b',') {
                return None;
            }
            if self.eat(b'}') {
                break; // a trailing comma: models write it, and the meaning is clear
            }
            if self.peek()? != b'"' {
                return None;
            }
            let key = self.string()?;
            if !self.eat(b':') {
                return None;
            }
            map.insert(key, self.value(depth + 1)?);
        }
        Some(ArgValue::Map(map))
    }

    fn list(&mut self, depth: usize) -> Option<ArgValue> {
        self.at += 1;
        let mut list = Vec::new();
        while !self.eat(b']') {
            if !list.is_empty() && !self.eat(b',') {
                return None;
            }
            if self.eat(b']') {
                break;
            }
            list.push(self.value(depth + 1)?);
        }
        Some(ArgValue::List(list))
    }

    fn string(&mut self) -> Option<String> {
        self.at += 1;
        let mut out = String::new();
        let mut chars = self.text[self.at..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += offset + 1;
                    return Some(out);
                }
                '\\' => match chars.next()?.1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'u' => {
                        let hex: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        out.push(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    other => out.push(other),
                },
                other => out.push(other),
            }
        }
        None
    }

    fn word(&mut self) -> Option<ArgValue> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let value = match &rest[..end] {
            "null" => ArgValue::Null,
            "true" => ArgValue::Bool(true),
            "false" => ArgValue::Bool(false),
            number => ArgValue::Number(number.parse().ok().filter(|n: &f64| n.is_finite())?),
        };
        self.at += end;
        Some(value)
    }
}
