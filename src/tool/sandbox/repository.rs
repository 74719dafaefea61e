//! What git needs outside the workspace, for reading: the repository above it, or the one that a linked worktree belongs to.
//!
//! A `.git` file is part of the workspace and may lie: it is followed only to a place that names the workspace itself.

use super::places::GIT;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The longest of git's one-line files, in bytes.
const LINE_MAX: u64 = 64 << 10;

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

/// One of git's one-line files. The workspace may have put anything there: what is no plain file, or long, is none.
fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let plain = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LINE_MAX);
    plain.then(|| std::fs::File::open(path).ok()?.take(LINE_MAX).read_to_string(&mut text).ok())??;
    Some(text)
}

/// The data folder that the `.git` file of a linked worktree leads to, if that one leads back.
fn linked(file: &Path) -> Option<PathBuf> {
    let text = read(file)?;
    let named = text.strip_prefix("gitdir:")?.trim();
    let folder = file.parent()?.join(named).canonicalize().ok()?;
    let back = read(&folder.join("gitdir"))?;
    if folder.join(back.trim()).canonicalize().ok()? != file.canonicalize().ok()? {
        return None;
    }
    let common = read(&folder.join("commondir"))?;
    let data = folder.join(common.trim()).canonicalize().ok()?;
    let whole = data.join("HEAD").exists() && data.join("objects").is_dir() && folder.starts_with(data.join("worktrees"));
    whole.then_some(data)
}
