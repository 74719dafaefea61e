//! A command line as simple commands, read strictly: it gives up where the shell could do something else than what is
//! seen. For rules that allow.
//!
//! The text is parsed with the grammar of tree-sitter; `syntax` walks the tree and takes only what it knows, `word` reads
//! the words, `wrappers` finds the commands that other programs are told to run (`xargs`, `env`, `sh -c`).

use super::part::{Part, Unsure};
use super::syntax::Reader;
use super::wrappers::{Inner, inner};
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

/// Longest command that is read, in bytes.
const COMMAND_MAX: usize = 96 * 1024;
/// Most simple commands that are looked at.
const PARTS_MAX: usize = 20_000;
/// How deep commands within words of commands are looked at (`bash -c "sh -c '…'"`).
const DEPTH_MAX: usize = 4;
/// Signs of which a text that is parsed at all holds only so many.
const COSTLY: [(&str, usize); 6] = [("<<", 32), ("(", 500), ("{", 500), ("[", 500), ("`", 500), ("<", 500)];
/// How often the parser may look up before a text counts as too much: 10,000 commands take about 1,500 looks.
const LOOKS_MAX: usize = 4_000;

/// Splits a command line into its simple commands, those within substitutions and those that other programs are told to run
/// included, or says what makes that uncertain.
pub fn split(command: &str) -> Result<Vec<Part>, Unsure> {
    let mut parts = Vec::new();
    let mut waiting = vec![(command.to_owned(), 0)];
    while let Some((text, depth)) = waiting.pop() {
        let before = parts.len();
        read(&text, &mut parts)?;
        let mut at = before;
        // What is found within a command is looked at in its turn.
        let mut depths = vec![depth; parts.len() - before];
        while at < parts.len() {
            let depth = depths[at - before];
            let found = inner(&parts[at].words)?;
            if depth >= DEPTH_MAX && !matches!(found, Inner::Nothing) {
                return Err(Unsure("commands that are nested too deep"));
            }
            match found {
                Inner::Nothing => {}
                Inner::Command(words) => {
                    parts.push(Part { words, writes: Vec::new() });
                    depths.push(depth + 1);
                }
                Inner::Script(script) => waiting.push((script, depth + 1)),
            }
            at += 1;
        }
        if parts.len() > PARTS_MAX {
            return Err(Unsure("too much to read"));
        }
    }
    if parts.is_empty() { Err(Unsure("no command")) } else { Ok(parts) }
}

fn read(command: &str, parts: &mut Vec<Part>) -> Result<(), Unsure> {
    if command.len() > COMMAND_MAX {
        return Err(Unsure("too much to read"));
    }
    if command.chars().any(|c| c == '\u{200d}' || !crate::domain::text::is_safe(c)) {
        return Err(Unsure("control or invisible characters"));
    }
    // The parser takes quadratic time, and memory without an end, for many of these at once.
    if COSTLY.iter().any(|(sign, most)| command.matches(sign).count() > *most) {
        return Err(Unsure("too many groups and substitutions"));
    }
    let tree = parse(command).ok_or(Unsure("too much to read"))?;
    if tree.root_node().has_error() {
        return Err(Unsure("something that does not read as a command"));
    }
    Reader::new(command, parts).read(tree.root_node())
}

fn parse(command: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut looks = 0usize;
    let mut bounded = |_: &ParseState| {
        looks += 1;
        if looks > LOOKS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut bounded);
    let bytes = command.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}
