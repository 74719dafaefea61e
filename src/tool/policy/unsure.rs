//! What is not certain about a command, and what a plain word is.

use std::fmt;

/// Why a command cannot be split with certainty: what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsure(pub &'static str);

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
