//! Patterns for simple commands: shell words in which `*` stands for anything within the command.
//!
//! `git *` fits `git`, `git log` and `git commit -m 'two words'`; `\*` or `'*'` stands for itself; white space between words
//! may be any.

use super::word::{Piece, Word};

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    marks: Vec<Mark>,
    operators: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Char(char),
    /// Between two words.
    Gap,
    Star,
    /// In a command: anything. Only a star covers it.
    Hole,
}

impl Pattern {
    /// Reads a pattern. A quote that is not closed reaches to the end.
    pub fn parse(text: &str) -> Self {
        let (mut marks, mut operators, mut quote) = (Vec::new(), false, None);
        let mut chars = text.trim().chars();
        while let Some(c) = chars.next() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('"') | None, '\\') => marks.extend(chars.next().map(Mark::Char)),
                (Some(_), c) => marks.push(Mark::Char(c)),
                (None, '\'' | '"') => quote = Some(c),
                (None, '*') => marks.push(Mark::Star),
                (None, c) if c.is_whitespace() => {
                    operators |= c == '\n';
                    if marks.last() != Some(&Mark::Gap) {
                        marks.push(Mark::Gap);
                    }
                }
                (None, c) => {
                    operators |= is_operator(c);
                    marks.push(Mark::Char(c));
                }
            }
        }
        Self { marks, operators }
    }

    /// Whether the pattern holds shell operators, so that no simple command can fit it.
    pub fn has_operators(&self) -> bool {
        self.operators
    }

    /// Whether a `*` in it stands for anything.
    pub fn has_stars(&self) -> bool {
        self.marks.contains(&Mark::Star)
    }

    /// Whether the words of a simple command fit, whatever those parts of them turn out to be that are not known yet. What may
    /// become several words is covered by a `*` at the end only.
    pub fn covers(&self, words: &[Word]) -> bool {
        if self.operators || self.marks.is_empty() || words.is_empty() {
            return false;
        }
        let mut subject = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                subject.push(Mark::Gap);
            }
            for piece in &word.pieces {
                match piece {
                    Piece::Text(text) => subject.extend(text.chars().map(Mark::Char)),
                    Piece::Hole => subject.push(Mark::Hole),
                    // Whatever comes after it: only a star at the end covers that, as nothing else is left to fit it.
                    Piece::Open => {
                        subject.push(Mark::Hole);
                        return fits(&self.marks, &subject);
                    }
                }
            }
        }
        self.fit(&subject)
    }

    /// Whether the words of a simple command fit. A last ` *` also fits nothing.
    pub fn matches(&self, words: &[String]) -> bool {
        if self.operators || self.marks.is_empty() || words.is_empty() {
            return false;
        }
        let mut subject = Vec::new();
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                subject.push(Mark::Gap);
            }
            subject.extend(word.chars().map(Mark::Char));
        }
        self.fit(&subject)
    }

    fn fit(&self, subject: &[Mark]) -> bool {
        let shorter = self.marks.strip_suffix(&[Mark::Gap, Mark::Star]);
        fits(&self.marks, subject) || shorter.is_some_and(|marks| fits(marks, subject))
    }
}

fn is_operator(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '$' | '`')
}

/// Glob matching that goes back to the last star only: time is at most the product of both lengths.
fn fits(pattern: &[Mark], subject: &[Mark]) -> bool {
    let (mut at, mut seen, mut star) = (0, 0, None);
    while seen < subject.len() {
        match pattern.get(at) {
            Some(Mark::Star) => {
                star = Some((at, seen));
                at += 1;
            }
            Some(mark) if *mark == subject[seen] => {
                at += 1;
                seen += 1;
            }
            Some(_) | None => {
                let Some((back, from)) = star else { return false };
                star = Some((back, from + 1));
                at = back + 1;
                seen = from + 1;
            }
        }
    }
    pattern[at..].iter().all(|mark| *mark == Mark::Star)
}

/// Whether a pattern with operators fits some part of the command's text, white space squeezed.
pub(super) fn within(pattern: &str, command: &str) -> bool {
    let squeeze = |text: &str, star: bool| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mark = |c| if star && c == '*' { Mark::Star } else { Mark::Char(c) };
        words.join(" ").chars().map(mark).collect::<Vec<_>>()
    };
    let mut marks = vec![Mark::Star];
    marks.extend(squeeze(pattern, true));
    marks.push(Mark::Star);
    fits(&marks, &squeeze(command, false))
}

/// The pattern that fits exactly these words.
pub(super) fn literal(words: &[String]) -> String {
    words.iter().map(|word| literal_word(word)).collect::<Vec<_>>().join(" ")
}

fn literal_word(word: &str) -> String {
    let odd = |c: char| c.is_whitespace() || c == '\'' || c == '"' || c == '\\' || is_operator(c);
    if word.is_empty() || word.contains(odd) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    word.replace('*', "\\*")
}
