//! `list_files`.

use super::beneath::Root;
use super::place::locate;
use super::walk::{Walked, files};
use super::{FileTool, Scope, arguments, on_one_line};
use crate::tool::declared::object;
use crate::tool::{Effect, ToolError};
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Most paths in one answer.
const PATHS_MAX: usize = 1_000;

pub(super) fn tool() -> FileTool {
    FileTool {
        name: "list_files",
        description: "List files by a glob (`**/*.rs`, `src/*`); files that git ignores are left out. \
            A glob without `/` matches names in every folder; a folder's path lists all that is in it.",
        parameters: object(json!({ "glob": { "type": "string", "minLength": 1, "description": "Relative to the workspace." } }), &["glob"]),
        effect: Effect::Reads,
        subject: "glob",
        work: list,
    }
}

#[derive(Deserialize)]
struct Arguments {
    glob: String,
}

fn list(value: Value, scope: &Scope) -> Result<String, ToolError> {
    let Arguments { glob } = arguments(value)?;
    let root = Root::open(&scope.workspace)?;
    let (start, matcher) = meaning(&glob, scope, &root)?;
    let (mut found, mut more, mut room) = (Vec::new(), 0_usize, scope.limit);
    let walked = files(scope, &root, &start, |path| {
        if matcher.as_ref().is_none_or(|matcher| matcher.is_match(path)) {
            let line = on_one_line(path);
            if found.len() < PATHS_MAX && line.len() < room {
                room -= line.len() + 1;
                found.push(line);
            } else {
                more += 1;
            }
        }
        Ok(true)
    })?;
    if more > 0 {
        found.push(format!("… {more} more: use a narrower glob"));
    }
    match walked {
        Walked::TooMany => found.push("(stopped: there are too many files; name a folder)".into()),
        Walked::Whole | Walked::Stopped => {}
    }
    Ok(if found.is_empty() { format!("no file matches {glob}") } else { found.join("\n") })
}

/// Where to start, and what to match; `None` = everything there.
fn meaning(glob: &str, scope: &Scope, root: &Root) -> Result<(PathBuf, Option<GlobMatcher>), ToolError> {
    let special = |text: &str| text.contains(['*', '?', '[', '{']);
    if !special(glob) {
        let path = locate(glob, &scope.workspace)?;
        if root.real_folder(&path).is_ok() {
            return Ok((path, None));
        }
    }
    let fixed: PathBuf = Path::new(glob).iter().take_while(|part| !special(&part.to_string_lossy())).collect();
    let start = if special(glob) { locate(&fixed.to_string_lossy(), &scope.workspace)? } else { PathBuf::new() };
    let rest: PathBuf = if special(glob) {
        let rest: PathBuf = Path::new(glob).iter().skip(fixed.iter().count()).collect();
        if rest.components().any(|part| part.as_os_str() == "..") {
            return Err(ToolError::Outside { path: glob.to_owned() });
        }
        let anywhere = fixed.as_os_str().is_empty() && rest.iter().count() == 1;
        if anywhere { Path::new("**").join(rest) } else { escape(&start).join(rest) }
    } else {
        let path = locate(glob, &scope.workspace)?;
        if path.iter().count() == 1 { Path::new("**").join(path) } else { path }
    };
    let text = rest.to_string_lossy();
    let parsed = GlobBuilder::new(&text).literal_separator(true).build();
    let matcher = parsed
        .map_err(|fault| ToolError::Pattern { what: "glob", text: glob.to_owned(), reason: fault.kind().to_string() })?
        .compile_matcher();
    Ok((start, Some(matcher)))
}

/// The fixed part of a glob has no special characters by its making; a real folder's name may have.
fn escape(path: &Path) -> PathBuf {
    PathBuf::from(globset::escape(&path.to_string_lossy()))
}
