//! The workspace, the folders in it that commands may not write to, and what a policy may not open.

use super::{SandboxError, SandboxPolicy};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Git's own folder.
pub(super) const GIT: &str = ".git";
/// The board's folder.
pub(super) const BOARD: &str = ".tasks";
/// The team's folder.
pub(super) const TEAM: &str = "team";
/// Below the workspace, read-only: git's data (its hooks and settings name programs that git runs for the person), the
/// board, mail and approvals, and this program's settings.
pub(super) const PROTECTED: [&str; 4] = [GIT, BOARD, TEAM, ".signoff"];
/// Lock files that the program waits for: hidden, since reading is enough to hold a lock and stop the team.
pub(super) const LOCKS: [&str; 2] = [".tasks/.lock", "team/.lock"];
/// A folder of nothing but lock files.
pub(super) const LOCK_FOLDER: &str = "team/locks";
/// Places that belong to the system: no workspace, and nothing a policy opens for writing.
const SYSTEM: [&str; 12] = ["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/proc", "/sys", "/dev", "/nix", "/run"];
/// Too wide to be a workspace.
const WIDE: [&str; 8] = ["/", "/home", "/root", "/tmp", "/var", "/var/tmp", "/opt", "/srv"];

/// Checks that the workspace can be walled in.
pub(super) fn check_workspace(workspace: &Path, home: Option<&Path>) -> Result<(), SandboxError> {
    let fail = |reason| Err(SandboxError::Workspace { path: workspace.to_owned(), reason });
    if !workspace.is_absolute() || !workspace.is_dir() {
        return fail("it is no folder with an absolute path");
    }
    if home.is_some_and(|home| home.starts_with(workspace)) {
        return fail("it holds the home folder with its keys and settings: work in a project's folder");
    }
    if WIDE.iter().any(|wide| workspace == Path::new(wide)) || SYSTEM.iter().any(|system| workspace.starts_with(system)) {
        return fail("it belongs to the system: work in a project's folder");
    }
    Ok(())
}

/// Checks what the policy opens beside the workspace.
pub(super) fn check_extras(policy: &SandboxPolicy, home: Option<&Path>) -> Result<(), SandboxError> {
    for path in policy.extra_read.iter().chain(&policy.extra_write) {
        let fail = |reason| Err(SandboxError::Extra { path: path.clone(), reason });
        if !path.is_absolute() {
            return fail("its path is not absolute");
        }
        if home.is_some_and(|home| home.starts_with(path)) || WIDE.iter().any(|wide| path == Path::new(wide)) {
            return fail("it is too wide: name a folder in it");
        }
    }
    for path in &policy.extra_write {
        let fail = |reason| Err(SandboxError::Extra { path: path.clone(), reason });
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if policy.workspace.starts_with(&real) {
            return fail("it holds the workspace with its protected folders");
        }
        if PROTECTED.iter().any(|name| real.starts_with(policy.workspace.join(name))) {
            return fail("it is protected");
        }
        if SYSTEM.iter().any(|system| real.starts_with(system)) {
            return fail("it belongs to the system");
        }
    }
    Ok(())
}

/// Makes what is missing of the protected places, so that nobody else can make it: a mount needs something to be on.
/// Returns the folders that were made.
pub(super) fn prepare(workspace: &Path) -> Result<Vec<PathBuf>, SandboxError> {
    let mut made = Vec::new();
    for name in PROTECTED {
        made.extend(make_folder(workspace.join(name), name == GIT)?);
    }
    made.extend(make_folder(workspace.join(LOCK_FOLDER), false)?);
    for name in LOCKS {
        make_file(workspace.join(name))?;
    }
    Ok(made)
}

fn make_folder(path: PathBuf, may_be_file: bool) -> Result<Option<PathBuf>, SandboxError> {
    match std::fs::create_dir(&path) {
        Ok(()) => return Ok(Some(path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(source) => return Err(SandboxError::Io { action: "make", path, source }),
    }
    let kind = std::fs::symlink_metadata(&path).map_err(|source| SandboxError::Io { action: "look at", path: path.clone(), source })?;
    if kind.is_dir() || (may_be_file && kind.is_file()) {
        return Ok(None);
    }
    Err(SandboxError::Protected { path, reason: "it is a link or no folder: put a real folder in its place".into() })
}

fn make_file(path: PathBuf) -> Result<(), SandboxError> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
    let file = opened.map_err(|source| SandboxError::Protected { path: path.clone(), reason: source.to_string() })?;
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) | Err(_) => Err(SandboxError::Protected { path, reason: "it is no plain file".into() }),
    }
}
