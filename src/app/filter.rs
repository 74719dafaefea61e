//! Fuzzy filters: what is typed after `/`, and the search of the palette.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// A fuzzy filter.
pub struct Filter {
    text: String,
    pattern: Pattern,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl Filter {
    /// A filter; `None` when nothing is typed.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let pattern = Pattern::parse(text, CaseMatching::Smart, Normalization::Smart);
        Some(Self { text: text.to_owned(), pattern, matcher: Matcher::new(Config::DEFAULT), buffer: Vec::new() })
    }

    /// What was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How well `text` fits; `None` when it does not.
    pub fn score(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, &mut self.buffer), &mut self.matcher)
    }

    /// Whether `text` fits.
    pub fn fits(&mut self, text: &str) -> bool {
        self.score(text).is_some()
    }
}
