//! Values that a script may write in two ways: one text or a list, seconds as a number or with a unit.

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::time::Duration;

/// The longest wait a script may ask for.
const WAIT_MAX: f64 = 24.0 * 3600.0;

/// One text, or a list of texts.
pub(super) fn words<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<String>, D::Error> {
    d.deserialize_any(Words)
}

/// `0.4`, `"400ms"`, `"1.5s"` or `"2m"`.
pub(super) fn wait<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
    d.deserialize_any(Wait)
}

/// The same, for a key that may be left out.
pub(super) fn maybe_wait<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
    wait(d).map(Some)
}

struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![text.to_owned()])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(text) = seq.next_element()? {
            all.push(text);
        }
        Ok(all)
    }
}

struct Wait;

impl Visitor<'_> for Wait {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time of at most one day, such as 0.4, \"400ms\", \"1.5s\" or \"2m\"")
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Duration, E> {
        if (0.0..=WAIT_MAX).contains(&seconds) {
            return Ok(Duration::from_secs_f64(seconds));
        }
        Err(E::invalid_value(serde::de::Unexpected::Float(seconds), &self))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Duration, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Duration, E> {
        self.visit_f64(seconds as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            _ => return Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        };
        match digits.trim().parse::<f64>() {
            Ok(number) => self.visit_f64(number * factor),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
        }
    }
}
