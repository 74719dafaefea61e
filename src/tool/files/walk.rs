//! Which files there are below a folder, as git sees them: ignored ones are left out, and so are our own and git's.

use super::Scope;
use super::beneath::Root;
use super::place::is_internal;
use crate::tool::ToolError;
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// Entries that are looked at before a walk gives up: a home directory by mistake must not take minutes.
const ENTRIES_MAX: usize = 200_000;

/// What a walk found.
pub(super) enum Walked {
    /// Everything.
    Whole,
    /// It stopped because `visit` had enough.
    Stopped,
    /// There are too many files.
    TooMany,
}

/// Calls `visit` with each plain file's path relative to the workspace, ordered by path, until it returns `false`.
pub(super) fn files(
    scope: &Scope,
    root: &Root,
    start: &Path,
    mut visit: impl FnMut(&Path) -> Result<bool, ToolError>,
) -> Result<Walked, ToolError> {
    let top = root.real_folder(start)?;
    let inside = top.strip_prefix(&scope.workspace).unwrap_or(Path::new("")).to_owned();
    let workspace: PathBuf = scope.workspace.to_path_buf();
    let wanted = is_internal(&inside);
    let walk = WalkBuilder::new(&top)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(move |entry| wanted || entry.path().strip_prefix(&workspace).is_ok_and(|path| !is_internal(path)))
        .build();
    for (count, entry) in walk.enumerate() {
        if count >= ENTRIES_MAX {
            return Ok(Walked::TooMany);
        }
        scope.check()?;
        // A folder that cannot be read is as good as empty.
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(path) = entry.path().strip_prefix(&scope.workspace) else { continue };
        if !visit(path)? {
            return Ok(Walked::Stopped);
        }
    }
    Ok(Walked::Whole)
}
