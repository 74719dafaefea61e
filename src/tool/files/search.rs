//! `search`.

use super::beneath::Root;
use super::place::locate;
use super::walk::{Walked, files};
use super::{FileTool, Scope, arguments, on_one_line};
use crate::tool::declared::object;
use crate::tool::{Effect, ToolError};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::Path;

/// Most matching lines in one answer.
const MATCHES_MAX: usize = 200;
/// Characters of a matching line that are shown.
const LINE_MAX: usize = 300;
/// Longer files are passed over, in bytes.
const FILE_MAX: u64 = 4 * 1024 * 1024;
/// Memory for a compiled pattern, in bytes: a model's `(a{1000}){1000}` must not take gigabytes.
const REGEX_MAX: usize = 4 * 1024 * 1024;

pub(super) fn tool() -> FileTool {
    FileTool {
        name: "search",
        description: "Find lines that match a regular expression (`(?i)` ignores case) in all text files, or below a path.",
        parameters: object(
            json!({
                "pattern": { "type": "string", "minLength": 1, "description": "A regular expression, matched line by line." },
                "path": { "type": "string", "description": "A file or folder, relative to the workspace." },
            }),
            &["pattern"],
        ),
        effect: Effect::Reads,
        subject: "pattern",
        work: search,
    }
}

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    path: String,
}

struct Found {
    lines: Vec<String>,
    room: usize,
    passed_over: usize,
}

fn search(value: Value, scope: &Scope) -> Result<String, ToolError> {
    let Arguments { pattern, path } = arguments(value)?;
    let regex = RegexBuilder::new(&pattern).size_limit(REGEX_MAX).build();
    let regex = regex.map_err(|fault| ToolError::Pattern { what: "pattern", text: pattern.clone(), reason: fault.to_string() })?;
    let path = locate(&path, &scope.workspace)?;
    let root = Root::open(&scope.workspace)?;
    let mut found = Found { lines: Vec::new(), room: scope.limit, passed_over: 0 };
    let walked = if root.real_folder(&path).is_ok() {
        files(scope, &root, &path, |file| {
            // A file that cannot be opened any more is no match.
            Ok(found.look(&root, file, &regex).unwrap_or(true))
        })?
    } else {
        if found.look(&root, &path, &regex)? { Walked::Whole } else { Walked::Stopped }
    };
    Ok(found.tell(&walked, &pattern))
}

impl Found {
    /// Looks into one file. Returns whether there is room for more.
    fn look(&mut self, root: &Root, file: &Path, regex: &Regex) -> Result<bool, ToolError> {
        let mut bytes = Vec::new();
        let read = root.file(file)?.take(FILE_MAX + 1).read_to_end(&mut bytes);
        if read.is_err() || bytes.contains(&0) {
            return Ok(true);
        }
        if bytes.len() as u64 > FILE_MAX {
            self.passed_over += 1;
            return Ok(true);
        }
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            let Some(hit) = regex.find(line) else { continue };
            let row = format!("{}:{}: {}", on_one_line(file), number + 1, extract(line, hit.start()));
            if self.lines.len() >= MATCHES_MAX || row.len() > self.room {
                return Ok(false);
            }
            self.room -= row.len();
            self.lines.push(row);
        }
        Ok(true)
    }

    fn tell(mut self, walked: &Walked, pattern: &str) -> String {
        if self.lines.is_empty() {
            self.lines.push(format!("no line matches {pattern}"));
        }
        match walked {
            Walked::Whole => {}
            Walked::Stopped => self.lines.push("(there are more matches: use a narrower pattern or path)".into()),
            Walked::TooMany => self.lines.push("(stopped: there are too many files; name a folder)".into()),
        }
        if self.passed_over > 0 {
            self.lines.push(format!("({} large files were passed over)", self.passed_over));
        }
        self.lines.join("\n")
    }
}

/// The line, or the part of a long one around the match.
fn extract(line: &str, hit: usize) -> String {
    if line.chars().count() <= LINE_MAX {
        return line.to_owned();
    }
    let before = line[..hit].chars().count().saturating_sub(LINE_MAX / 3);
    let part: String = line.chars().skip(before).take(LINE_MAX).collect();
    format!("…{part}…")
}
