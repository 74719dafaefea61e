//! A command line as simple commands, read strictly: it gives up where the shell could do something else than what is
//! seen. For rules that allow. A whole shell grammar may take this place one day; nobody but [`split`] would change.

use std::fmt;

/// Longest command that is read, in bytes.
const COMMAND_MAX: usize = 64 * 1024;

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Its words, quotes taken off.
    pub words: Vec<String>,
    /// Files that its redirections write.
    pub writes: Vec<String>,
}

/// Why a command cannot be split with certainty: what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsure(pub &'static str);

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Words that begin something else than a simple command, or change what later ones mean.
const RESERVED: [&str; 30] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function", "time", "coproc",
    "in", "!", "{", "}", "[[", "eval", "source", ".", "exec", "trap", "alias", "set", "export", "enable",
];

/// Splits a command line into its simple commands, or says what makes that uncertain.
pub fn split(command: &str) -> Result<Vec<Part>, Unsure> {
    if command.len() > COMMAND_MAX {
        return Err(Unsure("too much to read"));
    }
    if command.chars().any(|c| c == '\u{200d}' || !crate::domain::text::is_safe(c)) {
        return Err(Unsure("control or invisible characters"));
    }
    let mut lexer = Lexer { chars: command.chars().collect(), at: 0 };
    let mut parts = Vec::new();
    let mut builder = Builder::default();
    while let Some(token) = lexer.next()? {
        match token {
            Token::Separator => parts.extend(std::mem::take(&mut builder).finish()?),
            Token::Word(word) => builder.word(word)?,
            Token::Redirect(direction) => builder.redirect(direction)?,
        }
    }
    parts.extend(builder.finish()?);
    if parts.is_empty() { Err(Unsure("no command")) } else { Ok(parts) }
}

#[derive(Default)]
struct Builder {
    part: Part,
    waiting: Option<Direction>,
}

impl Builder {
    fn word(&mut self, word: Word) -> Result<(), Unsure> {
        match self.waiting.take() {
            Some(_) if word.expands => return Err(Unsure("a redirection to a pattern")),
            Some(Direction::Out) => self.part.writes.push(word.text),
            Some(Direction::In) => {}
            None => {
                if self.part.words.is_empty() {
                    check_program(&word)?;
                }
                self.part.words.push(word.text);
            }
        }
        Ok(())
    }

    fn redirect(&mut self, direction: Direction) -> Result<(), Unsure> {
        if self.waiting.replace(direction).is_some() { Err(Unsure("a redirection without a target")) } else { Ok(()) }
    }

    fn finish(self) -> Result<Option<Part>, Unsure> {
        if self.waiting.is_some() {
            return Err(Unsure("a redirection without a target"));
        }
        if self.part.words.is_empty() && !self.part.writes.is_empty() {
            return Err(Unsure("a redirection without a command"));
        }
        Ok((!self.part.words.is_empty()).then_some(self.part))
    }
}

fn check_program(word: &Word) -> Result<(), Unsure> {
    if word.expands {
        return Err(Unsure("a pattern where a program belongs"));
    }
    if is_assignment(&word.text) {
        return Err(Unsure("a variable set before a command"));
    }
    if RESERVED.contains(&word.text.as_str()) {
        return Err(Unsure("shell grammar beyond simple commands"));
    }
    let program = base(&word.text);
    if matches!(program, "env" | "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish") {
        return Err(Unsure("another shell or environment within the command"));
    }
    if word.text.is_empty() { Err(Unsure("an empty program name")) } else { Ok(()) }
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

enum Token {
    Word(Word),
    Separator,
    Redirect(Direction),
}

#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

#[derive(Default)]
struct Word {
    text: String,
    /// Holds `*`, `?` or `[` outside quotes.
    expands: bool,
    quoted: bool,
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
}

impl Lexer {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn next(&mut self) -> Result<Option<Token>, Unsure> {
        loop {
            match self.peek() {
                None => return Ok(None),
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.chars.get(self.at + 1) == Some(&'\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                Some(';' | '|' | '&' | '\n' | '<' | '>' | '(' | ')') => match self.operator()? {
                    Some(token) => return Ok(Some(token)),
                    None => continue,
                },
                Some(_) => match self.word()? {
                    Some(word) => return Ok(Some(Token::Word(word))),
                    None => continue,
                },
            }
        }
    }

    /// `None`: a redirection between descriptors, which reads and writes no file.
    fn operator(&mut self) -> Result<Option<Token>, Unsure> {
        let first = self.peek();
        self.at += 1;
        match first {
            Some('\n') => Ok(Some(Token::Separator)),
            Some(';') if self.eat(';') => Err(Unsure("shell grammar beyond simple commands")),
            Some('&') if self.eat('>') => {
                self.eat('>');
                Ok(Some(Token::Redirect(Direction::Out)))
            }
            Some(c @ (';' | '|' | '&')) => {
                let _ = self.eat(c) || (c == '|' && self.eat('&'));
                Ok(Some(Token::Separator))
            }
            Some(c @ ('<' | '>')) => self.redirection(c),
            Some(_) | None => Err(Unsure("a subshell or a function")),
        }
    }

    fn redirection(&mut self, sign: char) -> Result<Option<Token>, Unsure> {
        if self.peek() == Some('(') {
            return Err(Unsure("a process substitution"));
        }
        if self.eat('&') {
            let from = self.at;
            while self.peek().is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            let ends = self.peek().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '<' | '>'));
            return if self.at > from && ends { Ok(None) } else { Err(Unsure("a redirection that is not plain")) };
        }
        match sign {
            '<' if self.eat('<') => Err(Unsure("a here-document")),
            '<' if self.eat('>') => Err(Unsure("a redirection that is not plain")),
            '<' => Ok(Some(Token::Redirect(Direction::In))),
            _ => {
                let _ = self.eat('>') || self.eat('|');
                Ok(Some(Token::Redirect(Direction::Out)))
            }
        }
    }

    /// `None`: it was the number of a descriptor before a redirection.
    fn word(&mut self) -> Result<Option<Word>, Unsure> {
        let mut word = Word::default();
        let mut braces = String::new();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' => break,
                '<' | '>' if !word.quoted && !word.text.is_empty() && word.text.chars().all(|c| c.is_ascii_digit()) => return Ok(None),
                '<' | '>' => break,
                '$' | '`' => return Err(Unsure("a variable or a substitution")),
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '\\' => self.escape(&mut word)?,
                c => {
                    self.at += 1;
                    word.expands |= matches!(c, '*' | '?' | '[');
                    if matches!(c, '{' | '}' | ',' | '.') {
                        braces.push(c);
                    }
                    word.text.push(c);
                }
            }
        }
        if braces.contains('{') && (braces.contains(',') || braces.contains("..")) {
            return Err(Unsure("a brace expansion"));
        }
        Ok(Some(word))
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Unsure> {
        word.quoted = true;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\'' {
                return Ok(());
            }
            word.text.push(c);
        }
        Err(Unsure("a quote that is not closed"))
    }

    fn double(&mut self, word: &mut Word) -> Result<(), Unsure> {
        word.quoted = true;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += 1;
            match (c, self.peek()) {
                ('"', _) => return Ok(()),
                ('$' | '`', _) => return Err(Unsure("a variable or a substitution")),
                ('\\', Some('\n')) => self.at += 1,
                ('\\', Some(escaped @ ('$' | '`' | '"' | '\\'))) => {
                    self.at += 1;
                    word.text.push(escaped);
                }
                (c, _) => word.text.push(c),
            }
        }
        Err(Unsure("a quote that is not closed"))
    }

    fn escape(&mut self, word: &mut Word) -> Result<(), Unsure> {
        let Some(next) = self.chars.get(self.at + 1).copied() else { return Err(Unsure("a backslash at the end")) };
        self.at += 2;
        if next != '\n' {
            word.quoted = true;
            word.text.push(next);
        }
        Ok(())
    }
}
