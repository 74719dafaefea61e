//! The tier without bubblewrap: the argv that puts a command behind Landlock and seccomp alone.
//!
//! Landlock cannot shut a folder in an open one. So the workspace's entries are opened one by one, all but the protected
//! ones: commands cannot make new entries at the top of the workspace (`write_file` can), and see nothing of the board and
//! the team.

use super::layout::{self, ROOTS};
use super::order::{Order, Sockets, Start};
use super::places::{BOARD, PROTECTED, TEAM};
use super::{SandboxError, SandboxPolicy, Surroundings, etc, repository, toolchains};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The program that runs now, even when its file was replaced: the guard's last step is this program too.
const OURSELVES: &str = "/proc/self/exe";
const DEVICES_READ: [&str; 2] = ["/dev/random", "/dev/urandom"];
const DEVICES_WRITE: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// The argv before the command.
pub(super) fn argv(policy: &SandboxPolicy, surroundings: &Surroundings, tmp: &Path) -> Result<Vec<OsString>, SandboxError> {
    let home = surroundings.home.as_deref();
    let workspace = &policy.workspace;
    let etc = etc::FILES.iter().map(|name| Path::new("/etc").join(name)).chain(etc::folders(Path::new("/etc")));
    let mut read: Vec<PathBuf> = ROOTS.iter().chain(&layout::LINKED).map(PathBuf::from).chain(etc).collect();
    read.extend(["/proc"].iter().chain(&DEVICES_READ).map(PathBuf::from));
    read.extend(toolchains::folders(surroundings));
    read.extend(policy.extra_read.iter().cloned());
    let repository = repository::find(workspace, home);
    read.extend(repository.data);
    let mut write: Vec<PathBuf> = DEVICES_WRITE.iter().map(PathBuf::from).collect();
    write.push(tmp.to_owned());
    write.extend(policy.extra_write.iter().cloned());
    let look = |source| SandboxError::Io { action: "list", path: workspace.clone(), source };
    for entry in std::fs::read_dir(workspace).map_err(look)? {
        let entry = entry.map_err(look)?;
        let (name, path) = (entry.file_name(), entry.path());
        // A link is opened as what it leads to: whoever made it must not choose that.
        if entry.file_type().map_err(look)?.is_symlink() || name == BOARD || name == TEAM {
            continue;
        }
        let shut = PROTECTED.iter().any(|protected| name == *protected);
        if shut { read.push(path) } else { write.push(path) }
    }
    let order = Order {
        start: Start::Instead,
        sockets: Sockets::Pairs,
        strict: true,
        report: false,
        tmp: tmp.to_owned(),
        list: vec![workspace.clone()],
        read,
        write,
        command: Vec::new(),
    };
    let again = surroundings.again.iter().cloned();
    Ok(std::iter::once(OURSELVES.into()).chain(again).chain(order.arguments()).collect())
}
