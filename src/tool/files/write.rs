//! `write_file`.

use super::beneath::Root;
use super::{FileTool, Scope, arguments, lines, writable};
use crate::tool::declared::object;
use crate::tool::{Effect, ToolError};
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{DiffOp, TextDiff};
use std::time::Duration;

/// A difference that takes longer is only roughly counted.
const DIFF_TIME: Duration = Duration::from_millis(500);

pub(super) fn tool() -> FileTool {
    FileTool {
        name: "write_file",
        description: "Write a whole file; folders are created. To change part of a file use edit_file.",
        parameters: object(
            json!({
                "path": { "type": "string", "minLength": 1, "description": "Relative to the workspace." },
                "content": { "type": "string", "description": "The whole text." },
            }),
            &["path", "content"],
        ),
        effect: Effect::Changes,
        subject: "path",
        work: write,
    }
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    content: String,
}

fn write(value: Value, scope: &Scope) -> Result<String, ToolError> {
    let Arguments { path, content } = arguments(value)?;
    let path = writable(&path, &scope.workspace)?;
    let root = Root::open(&scope.workspace)?;
    // What is no text before is simply replaced: there is nothing to compare.
    let before = root.text(&path).ok();
    scope.check()?;
    root.replace(&path, content.as_bytes(), before.as_ref().map(|(_, stamp)| *stamp))?;
    let size = lines(content.lines().count());
    Ok(match before {
        Some((before, _)) if before == content => format!("{} is unchanged ({size})", path.display()),
        Some((before, _)) => format!("wrote {} ({size}, {})", path.display(), difference(&before, &content)),
        None => format!("wrote {} ({size})", path.display()),
    })
}

/// `+3 −1 lines`.
pub(super) fn difference(before: &str, after: &str) -> String {
    let (mut plus, mut minus) = (0, 0);
    for op in TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after).ops() {
        match op {
            DiffOp::Equal { .. } => {}
            DiffOp::Delete { old_len, .. } => minus += old_len,
            DiffOp::Insert { new_len, .. } => plus += new_len,
            DiffOp::Replace { old_len, new_len, .. } => {
                minus += old_len;
                plus += new_len;
            }
        }
    }
    format!("+{plus} −{minus} lines")
}
