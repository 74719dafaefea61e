//! `edit_file`.

use super::beneath::Root;
use super::write::difference;
use super::{FileTool, Scope, TEXT_MAX, arguments, writable};
use crate::tool::declared::object;
use crate::tool::{Effect, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Line numbers that are named when a text is there more than once.
const PLACES_MAX: usize = 10;

pub(super) fn tool() -> FileTool {
    FileTool {
        name: "edit_file",
        description: "Replace a text in a file. old_text must be there exactly once, white space included, unless replace_all is set.",
        parameters: object(
            json!({
                "path": { "type": "string", "minLength": 1, "description": "Relative to the workspace." },
                "old_text": { "type": "string", "minLength": 1, "description": "What is there, with enough around it to be unique." },
                "new_text": { "type": "string", "description": "What takes its place." },
                "replace_all": { "type": "boolean", "description": "Replace every occurrence." },
            }),
            &["path", "old_text", "new_text"],
        ),
        effect: Effect::Changes,
        subject: "path",
        work: edit,
    }
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

fn edit(value: Value, scope: &Scope) -> Result<String, ToolError> {
    let Arguments { path, old_text, new_text, replace_all } = arguments(value)?;
    let path = writable(&path, &scope.workspace)?;
    let root = Root::open(&scope.workspace)?;
    let (before, stamp) = root.text(&path)?;
    let fail = |reason: String| ToolError::NoMatch { path: path.clone(), reason };
    let (after, count) = replace(&before, &old_text, &new_text, replace_all).map_err(fail)?;
    if after.len() as u64 > TEXT_MAX {
        return Err(fail(format!("the result would be longer than {TEXT_MAX} bytes")));
    }
    scope.check()?;
    root.replace(&path, after.as_bytes(), Some(stamp))?;
    let times = if count == 1 { String::new() } else { format!("{count} places, ") };
    Ok(format!("edited {} ({times}{})", path.display(), difference(&before, &after)))
}

/// The text with `old` replaced, and how often. In a file with CRLF line ends, a model's bare newlines mean those.
fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err("old_text is empty: use write_file for a new file".into());
    }
    let (mut old, mut new) = (old.to_owned(), new.to_owned());
    if text.contains("\r\n") && !text.contains(&old) {
        old = to_crlf(&old);
    }
    if text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count() {
        new = to_crlf(&new);
    }
    if old == new {
        return Err("old_text and new_text are the same".into());
    }
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).collect();
    match places.len() {
        0 => Err(format!("old_text is not in it{}", near(text, &old))),
        1 => Ok((text.replacen(&old, &new, 1), 1)),
        count if all => Ok((text.replace(&old, &new), count)),
        count => {
            let numbers: Vec<String> = places.iter().take(PLACES_MAX).map(|at| line_of(text, *at).to_string()).collect();
            let more = if count > PLACES_MAX { ", …" } else { "" };
            Err(format!("old_text is in it {count} times (lines {}{more}): add more around it, or set replace_all", numbers.join(", ")))
        }
    }
}

fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Where the first line of `old` stands with other white space, if it does.
fn near(text: &str, old: &str) -> String {
    let Some(first) = old.lines().map(str::trim).find(|line| !line.is_empty()) else { return String::new() };
    match text.lines().position(|line| line.trim() == first) {
        Some(at) => format!(", but line {} is like its first line: read the file again and copy white space exactly", at + 1),
        None => ": read the file again".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn a_text_that_is_there_once_is_replaced() {
        assert_eq!(replace("a b c", "b", "x", false), Ok(("a x c".into(), 1)));
        assert_eq!(replace("b b", "b", "bb", true), Ok(("bb bb".into(), 2)));
    }

    #[test]
    fn none_or_several_places_are_told_with_their_lines() {
        assert!(replace("a\nb\nb\n", "b", "x", false).unwrap_err().contains("2 times (lines 2, 3)"));
        assert!(replace("a\n", "zz", "x", false).unwrap_err().contains("not in it"));
        assert!(replace("    if x:\n", "if x:\n  y", "x", false).unwrap_err().contains("line 1 is like"));
        assert!(replace("a", "a", "a", false).unwrap_err().contains("the same"));
        assert!(replace("a", "", "b", false).is_err());
    }

    #[test]
    fn crlf_files_stay_crlf() {
        assert_eq!(replace("a\r\nb\r\n", "a\nb\n", "c\nd\n", false), Ok(("c\r\nd\r\n".into(), 1)));
        assert_eq!(replace("a\r\nb\r\n", "b", "c\nd", false), Ok(("a\r\nc\r\nd\r\n".into(), 1)));
        assert_eq!(replace("a\r\nb\n", "b", "c\nd", false), Ok(("a\r\nc\nd\n".into(), 1)), "mixed ends are left alone");
    }
}
