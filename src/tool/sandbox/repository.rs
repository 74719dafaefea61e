//! What git needs outside the workspace, for reading: the repository above it, or the one that a linked worktree belongs to.
//!
//! A `.git` file is part of the workspace and may lie: it is followed only to a place that names the workspace itself.

use super::places::GIT;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Where git's data is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repository {
    /// The top of a repository that the workspace is a part of: read-only as a whole, since builds look at siblings.
    pub(super) above: Option<PathBuf>,
    /// The data folder of the repository that the workspace is a linked worktree of.
    pub(super) data: Option<PathBuf>,
}

/// Looks for it.
pub(super) fn find(workspace: &Path, home: Option<&Path>) -> Repository {
    let own = workspace.join(GIT);
    if own.is_file() {
        let data = linked(&own).filter(|data| !home.is_some_and(|home| home.starts_with(data)));
        let above = if data.is_none() { above(workspace, home) } else { None };
        return Repository { above, data };
    }
    if own.join("HEAD").exists() {
        return Repository::default();
    }
    Repository { above: above(workspace, home), data: None }
}

fn above(workspace: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let owner = std::fs::metadata(workspace).ok()?.uid();
    let fits = |top: &&Path| {
        let narrow = top.components().count() > 2 && !home.is_some_and(|home| home.starts_with(top));
        let ours = std::fs::metadata(top).is_ok_and(|found| found.uid() == owner);
        narrow && ours && (top.join(GIT).join("HEAD").exists() || top.join(GIT).is_file())
    };
    workspace.ancestors().skip(1).find(fits).map(Path::to_owned)
}

/// The data folder that the `.git` file of a linked worktree leads to, if that one leads back.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(file).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    let folder = file.parent()?.join(named).canonicalize().ok()?;
    let back = std::fs::read_to_string(folder.join("gitdir")).ok()?;
    if folder.join(back.trim()).canonicalize().ok()? != file.canonicalize().ok()? {
        return None;
    }
    let common = std::fs::read_to_string(folder.join("commondir")).ok()?;
    let data = folder.join(common.trim()).canonicalize().ok()?;
    let whole = data.join("HEAD").exists() && data.join("objects").is_dir() && folder.starts_with(data.join("worktrees"));
    whole.then_some(data)
}
