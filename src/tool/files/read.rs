//! `read_file`.

use super::beneath::Root;
use super::place::locate;
use super::{FileTool, Scope, arguments};
use crate::tool::declared::object;
use crate::tool::error::io;
use crate::tool::{Effect, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Characters of a line that are shown; generated files have lines of megabytes.
const LINE_MAX: usize = 2_000;
/// Lines that are shown when the model names no number.
const LINES_MAX: usize = 2_000;
/// Bytes that are gone through to reach `offset`.
const SCAN_MAX: u64 = 256 * 1024 * 1024;
/// Bytes at a file's start that tell whether it is text.
const SNIFF: usize = 8 * 1024;

pub(super) fn tool() -> FileTool {
    FileTool {
        name: "read_file",
        description: "Read a text file of the workspace, with line numbers (they are not part of the text).",
        parameters: object(
            json!({
                "path": { "type": "string", "minLength": 1, "description": "Relative to the workspace." },
                "offset": { "type": "integer", "minimum": 1, "description": "First line, from 1." },
                "limit": { "type": "integer", "minimum": 1, "description": "How many lines." },
            }),
            &["path"],
        ),
        effect: Effect::Reads,
        subject: "path",
        work: read,
    }
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

fn read(value: Value, scope: &Scope) -> Result<String, ToolError> {
    let Arguments { path, offset, limit } = arguments(value)?;
    let path = locate(&path, &scope.workspace)?;
    let file = Root::open(&scope.workspace)?.file(&path)?;
    let size = file.metadata().map_err(io("look at", &path))?.len();
    let mut reader = BufReader::with_capacity(SNIFF, file.take(SCAN_MAX));
    if reader.fill_buf().map_err(io("read", &path))?.contains(&0) {
        return Err(ToolError::Unreadable { path, reason: format!("is a binary file of {size} bytes") });
    }
    let page = Page { first: offset.unwrap_or(1).max(1), most: limit.unwrap_or(LINES_MAX), room: scope.limit };
    page.read(&mut reader, &path, scope)
}

struct Page {
    first: usize,
    most: usize,
    /// Characters.
    room: usize,
}

impl Page {
    fn read(&self, reader: &mut impl std::io::BufRead, path: &Path, scope: &Scope) -> Result<String, ToolError> {
        let mut text = String::new();
        let (mut number, mut shown, mut full) = (0, 0, false);
        let mut line = Vec::new();
        while next_line(reader, &mut line).map_err(io("read", path))? {
            number += 1;
            if number % 1024 == 0 {
                scope.check()?;
            }
            if number < self.first {
                continue;
            }
            let row = format!("{number:>6}\t{}\n", cut(&line));
            full = shown >= self.most || text.len() + row.len() > self.room;
            if full && shown > 0 {
                break;
            }
            text.push_str(&row);
            shown += 1;
        }
        Ok(match (shown, number) {
            (0, 0) => "(the file is empty)".into(),
            (0, lines) => format!("(the file has {} only)", super::lines(lines)),
            _ if full && number >= self.first + shown => format!("{text}(more follows: go on with offset={number})"),
            _ => text,
        })
    }
}

/// The next line without its end, at most four bytes for each character shown; the rest of it is skipped.
fn next_line(reader: &mut impl std::io::BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let keep = LINE_MAX * 4 + 1;
    let mut any = false;
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        line.extend_from_slice(&piece[..piece.len().min(keep.saturating_sub(line.len()))]);
        let used = end.map_or(available.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn cut(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\r');
    match text.char_indices().nth(LINE_MAX) {
        Some((at, _)) => format!("{}… (the line goes on)", &text[..at]),
        None => text.to_owned(),
    }
}
