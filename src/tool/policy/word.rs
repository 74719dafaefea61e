//! A word of a command as far as it is known before the shell runs, read from the syntax tree and checked against the text.
//!
//! The tree says where words and substitutions are; the characters in between are read here once more by the shell's own
//! rules for quotes, so that a slip of the grammar ends in [`Unsure`] and not in a word that is something else.

use super::unsure::Unsure;
use tree_sitter::Node;

/// How deep words within words are read (`"${a}$(b "$(c)")"`).
const DEPTH_MAX: usize = 16;

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These characters.
    Text(String),
    /// Anything, but within this word.
    Hole,
    /// Anything, and perhaps several words or none.
    Open,
}

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub(super) pieces: Vec<Piece>,
    /// Holds `*`, `?`, `[` or a leading `~` outside quotes.
    pub(super) expands: bool,
    /// Something in it was quoted, so that it is no keyword and no assignment.
    pub(super) quoted: bool,
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())], ..Self::default() }
    }
}

impl Word {
    /// What it is, when all of it is known.
    pub fn known(&self) -> Option<String> {
        let known = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Hole | Piece::Open => None,
        };
        self.pieces.iter().map(known).collect()
    }

    /// The same with `before` in front of it.
    pub(super) fn after(mut self, before: &str) -> Self {
        self.pieces.insert(0, Piece::Text(before.to_owned()));
        self
    }

    /// Whether the text occurs in it, or could.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        self.known().is_none_or(|known| known.contains(text))
    }

    fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Hole | Piece::Open) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    fn join(&mut self, other: Self) {
        for piece in other.pieces {
            match piece {
                Piece::Text(text) => self.push(&text),
                Piece::Hole | Piece::Open => self.pieces.push(piece),
            }
        }
        self.expands |= other.expands;
        self.quoted |= other.quoted;
    }
}

/// Reads words; the commands that run within them are put aside.
pub(super) struct Words<'a, 'tree> {
    pub(super) source: &'a str,
    /// Substitutions whose statements have not been read yet.
    pub(super) nested: Vec<Node<'tree>>,
}

impl<'tree> Words<'_, 'tree> {
    fn text(&self, node: Node<'tree>) -> Result<&str, Unsure> {
        self.source.get(node.byte_range()).ok_or(Unsure("characters that are cut"))
    }

    /// The word that a node stands for.
    pub(super) fn read(&mut self, node: Node<'tree>) -> Result<Word, Unsure> {
        let word = self.piece(node, 0)?;
        if braces_expand(&self.outside_quotes(node)?) {
            return Err(Unsure("a brace expansion"));
        }
        Ok(word)
    }

    /// What of a word stands outside quotes and substitutions.
    fn outside_quotes(&self, node: Node<'tree>) -> Result<String, Unsure> {
        let mut plain = String::new();
        let mut cursor = node.walk();
        match node.kind() {
            "concatenation" => {
                for child in node.children(&mut cursor) {
                    plain.push_str(if matches!(child.kind(), "word" | "number") { self.text(child)? } else { "x" });
                }
            }
            "word" | "number" => plain.push_str(self.text(node)?),
            _ => {}
        }
        Ok(plain)
    }

    fn piece(&mut self, node: Node<'tree>, depth: usize) -> Result<Word, Unsure> {
        if depth > DEPTH_MAX {
            return Err(Unsure("words that are nested too deep"));
        }
        let text = self.text(node)?.to_owned();
        match node.kind() {
            "word" | "number" | "=" | "==" | "=~" | "$" if node.child_count() == 0 => bare(&text),
            "raw_string" => raw(&text),
            "string" => self.string(node, depth),
            "concatenation" => self.concatenation(node, depth),
            "ansi_c_string" => Ok(Word { pieces: vec![Piece::Hole], quoted: true, ..Word::default() }),
            "simple_expansion" | "expansion" | "arithmetic_expansion" => expansion(node.kind(), &text).map(only),
            "command_substitution" => {
                self.substitution(node, &text)?;
                Ok(only(Piece::Open))
            }
            "process_substitution" => {
                self.nested.push(node);
                Ok(only(Piece::Hole))
            }
            _ => Err(Unsure("a word that is not plain")),
        }
    }

    fn substitution(&mut self, node: Node<'tree>, text: &str) -> Result<(), Unsure> {
        if text.starts_with('`') && text.contains('\\') {
            return Err(Unsure("backslashes between backquotes"));
        }
        self.nested.push(node);
        Ok(())
    }

    fn concatenation(&mut self, node: Node<'tree>, depth: usize) -> Result<Word, Unsure> {
        let mut word = Word::default();
        let (mut cursor, mut at) = (node.walk(), node.start_byte());
        for child in node.children(&mut cursor) {
            if child.start_byte() != at {
                return Err(Unsure("a word with something between its parts"));
            }
            at = child.end_byte();
            word.join(self.piece(child, depth + 1)?);
        }
        if at == node.end_byte() { Ok(word) } else { Err(Unsure("a word that is not plain")) }
    }

    fn string(&mut self, node: Node<'tree>, depth: usize) -> Result<Word, Unsure> {
        let mut word = Word { quoted: true, ..Word::default() };
        let end = node.end_byte().saturating_sub(1);
        let mut at = node.start_byte() + 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.kind() == "string_content" {
                continue;
            }
            word.push(&quoted(self.source.get(at..child.start_byte()))?);
            let inner = self.piece(child, depth + 1)?;
            word.pieces.extend(inner.pieces.iter().map(|_| Piece::Hole));
            at = child.end_byte();
        }
        word.push(&quoted(self.source.get(at..end))?);
        let whole = self.text(node)?;
        let closed = whole.len() > 1 && whole.starts_with('"') && whole.ends_with('"');
        if closed { Ok(word) } else { Err(Unsure("a quote that is not closed")) }
    }
}

fn only(piece: Piece) -> Word {
    Word { pieces: vec![piece], ..Word::default() }
}

/// Characters outside quotes.
fn bare(text: &str) -> Result<Word, Unsure> {
    let mut word = Word::default();
    if text.starts_with('#') {
        return Err(Unsure("a comment that is none"));
    }
    word.expands = text.starts_with('~');
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                word.quoted = true;
                match chars.next() {
                    Some('\n') => {}
                    Some(c) => plain.push(c),
                    None => return Err(Unsure("a backslash at the end")),
                }
            }
            '$' if chars.peek().is_none() => plain.push(c),
            '\'' | '"' | '`' | '$' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => return Err(Unsure("a word that is not plain")),
            c if c.is_whitespace() => return Err(Unsure("unusual white space")),
            c => {
                word.expands |= matches!(c, '*' | '?' | '[');
                plain.push(c);
            }
        }
    }
    word.pieces.push(Piece::Text(plain));
    Ok(word)
}

fn raw(text: &str) -> Result<Word, Unsure> {
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    match inner.filter(|inner| !inner.contains('\'')) {
        Some(inner) => Ok(Word { pieces: vec![Piece::Text(inner.to_owned())], quoted: true, ..Word::default() }),
        None => Err(Unsure("a quote that is not closed")),
    }
}

/// Characters between double quotes in which nothing is expanded.
fn quoted(text: Option<&str>) -> Result<String, Unsure> {
    let text = text.ok_or(Unsure("characters that are cut"))?;
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"' | '`', _) => return Err(Unsure("a quote that is not plain")),
            ('$', Some(next)) if !next.is_whitespace() && !matches!(next, '.' | ',' | '/' | '%' | '^' | ':' | ';' | ')' | ']' | '|') => {
                return Err(Unsure("a variable or a substitution"));
            }
            ('\\', Some('\n')) => {
                chars.next();
            }
            ('\\', Some(escaped @ ('$' | '`' | '"' | '\\'))) => {
                plain.push(*escaped);
                chars.next();
            }
            (c, _) => plain.push(c),
        }
    }
    Ok(plain)
}

/// Expansions that run nothing, whatever the variables hold: no arithmetic with names, no indirection, no `@P`.
fn expansion(kind: &str, text: &str) -> Result<Piece, Unsure> {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let special = |text: &str| matches!(text, "@" | "*" | "#" | "?" | "$" | "!" | "-");
    if kind == "arithmetic_expansion" {
        let inner = text.strip_prefix("$((").and_then(|text| text.strip_suffix("))"));
        let plain = inner.is_some_and(|inner| inner.chars().all(|c| c.is_ascii_digit() || " +-*/%".contains(c)));
        return if plain { Ok(Piece::Hole) } else { Err(Unsure("arithmetic")) };
    }
    let Some(rest) = text.strip_prefix('$') else { return Err(Unsure("a variable that is not plain")) };
    let plain = match rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        None => special(rest) || (!rest.is_empty() && rest.chars().all(name)),
        Some(inner) => {
            let inner = inner.strip_prefix('#').filter(|rest| !rest.is_empty() && rest.chars().all(name)).unwrap_or(inner);
            let length = inner.chars().take_while(|c| name(*c)).count();
            let (variable, operation) = inner.split_at(length);
            let known = operation.is_empty()
                || [":-", ":+", "-", "+", "%", "#", "/", "^", ","].iter().any(|operator| operation.starts_with(operator));
            let harmless = operation.chars().all(|c| name(c) || ":-+%#/^,.*? ".contains(c));
            special(inner) || (!variable.is_empty() && known && harmless)
        }
    };
    if plain { Ok(Piece::Open) } else { Err(Unsure("a variable that is not plain")) }
}

fn braces_expand(plain: &str) -> bool {
    plain.contains('{') && (plain.contains(',') || plain.contains(".."))
}
