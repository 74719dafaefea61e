//! One simple command.

use super::word::Word;

pub use super::unsure::Unsure;

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its words, quotes taken off, with variables that are set for it in front. None where a redirection belongs to a
    /// group of commands.
    pub words: Vec<Word>,
    /// Files that its redirections write.
    pub writes: Vec<String>,
}

impl Part {
    /// The program, where it is known.
    pub fn program(&self) -> Option<String> {
        self.words.first().and_then(Word::known)
    }
}
