//! The full tier: what bubblewrap mounts, in order, and what it cuts off.
//!
//! The root is empty and is filled from a list: what is not named is not there. Later mounts lie on earlier ones, so the
//! private folders come first, the workspace after them, and its protected folders on top of it.

use super::order::{Order, Sockets, Start};
use super::places::{GIT, LOCK_FOLDER, LOCKS, PROTECTED};
use super::{SandboxPolicy, Surroundings, etc, repository, toolchains};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where this program lies inside.
const INSIDE: &str = "/run/signoff/inside";
/// Folders of the system that are let through whole, read-only.
pub(super) const ROOTS: [&str; 4] = ["/usr", "/opt", "/nix/store", "/gnu/store"];
/// Folders of the system that are links into `/usr` on most systems.
pub(super) const LINKED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// Parts of git's folder that stay shut when the rest is open: they name programs that git runs.
const GIT_SHUT: [&str; 4] = ["hooks", "config", "config.worktree", "modules"];

/// Where things are on this machine.
pub(super) struct Host<'a> {
    /// bubblewrap, absolute.
    pub(super) bubblewrap: &'a Path,
    /// The file of this program.
    pub(super) program: &'a Path,
    /// The folder that becomes `/tmp`.
    pub(super) tmp: &'a Path,
    /// An empty folder.
    pub(super) empty: &'a Path,
    /// An empty file.
    pub(super) blank: &'a Path,
    /// The folder that becomes `/etc`.
    pub(super) etc: &'a Path,
}

/// The argv before the command.
pub(super) fn argv(policy: &SandboxPolicy, surroundings: &Surroundings, host: &Host<'_>) -> Vec<OsString> {
    let mut mounts = Mounts(vec![host.bubblewrap.into()]);
    mounts.cut_off(policy);
    mounts.system(policy, host);
    mounts.option("--bind", &[host.tmp.as_os_str(), "/tmp".as_ref()]);
    mounts.option("--tmpfs", &["/var/tmp"]);
    let home = surroundings.home.as_deref().filter(|home| home.components().count() > 1);
    if let Some(home) = home {
        mounts.option("--tmpfs", &[home]);
    }
    let repository = repository::find(&policy.workspace, surroundings.home.as_deref());
    let toolchains = toolchains::folders(surroundings);
    let read = toolchains.iter().chain(&policy.extra_read).chain(&repository.above);
    for path in read.filter(|path| path.exists() && !path.starts_with(&policy.workspace)) {
        mounts.read(path);
    }
    mounts.write(&policy.workspace);
    for path in policy.extra_write.iter().filter(|path| path.exists()) {
        mounts.write(path);
    }
    mounts.protect(policy, repository.data.as_deref(), host);
    mounts.option("--ro-bind", &[host.program.as_os_str(), INSIDE.as_ref()]);
    mounts.option("--remount-ro", &["/"]);
    mounts.option("--chdir", &[&policy.workspace]);
    mounts.option("--", &[INSIDE]);
    let mut write: Vec<PathBuf> = vec![policy.workspace.clone(), "/tmp".into(), "/var/tmp".into(), "/dev".into()];
    write.extend(home.map(Path::to_owned));
    write.extend(policy.extra_write.iter().cloned());
    write.extend(repository.data.filter(|_| policy.writable_git));
    let order = Order {
        start: Start::Below,
        sockets: if policy.network { Sockets::Host } else { Sockets::Own },
        strict: false,
        report: false,
        tmp: "/tmp".into(),
        list: Vec::new(),
        read: vec!["/".into()],
        write,
        command: Vec::new(),
    };
    mounts.0.extend(surroundings.again.iter().cloned().chain(order.arguments()));
    mounts.0
}

fn has_entries(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

struct Mounts(Vec<OsString>);

impl Mounts {
    fn option<S: AsRef<OsStr>>(&mut self, name: &str, values: &[S]) {
        self.0.push(name.into());
        self.0.extend(values.iter().map(|value| value.as_ref().to_owned()));
    }

    fn read(&mut self, path: &Path) {
        self.option("--ro-bind", &[path, path]);
    }

    fn write(&mut self, path: &Path) {
        self.option("--bind", &[path, path]);
    }

    /// Own processes, users, network, names; no privileges; no terminal; an end when the guard ends.
    fn cut_off(&mut self, policy: &SandboxPolicy) {
        let spaces = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"];
        self.0.extend(spaces.map(OsString::from));
        if !policy.network {
            self.0.push("--unshare-net".into());
        }
        self.0.extend(["--die-with-parent", "--new-session", "--as-pid-1"].map(OsString::from));
        self.option("--cap-drop", &["ALL"]);
        self.option("--hostname", &["sandbox"]);
    }

    fn system(&mut self, policy: &SandboxPolicy, host: &Host<'_>) {
        for path in ROOTS.iter().map(Path::new).filter(|path| has_entries(path)) {
            self.read(path);
        }
        for path in LINKED.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => self.option("--symlink", &[target.as_path(), path]),
                Err(_) if path.is_dir() => self.read(path),
                Err(_) => {}
            }
        }
        self.option("--ro-bind", &[host.etc, Path::new("/etc")]);
        for folder in etc::folders(Path::new("/etc")) {
            self.read(&folder);
        }
        let fresh = etc::FRESH.iter().filter(|name| policy.network && host.etc.join(name).exists());
        for path in fresh.map(|name| Path::new("/etc").join(name)).filter(|path| path.exists()) {
            self.read(&path);
        }
        self.option("--proc", &["/proc"]);
        self.option("--dev", &["/dev"]);
    }

    /// Shuts the protected folders. A mount cannot be renamed or removed from inside.
    fn protect(&mut self, policy: &SandboxPolicy, linked: Option<&Path>, host: &Host<'_>) {
        let own = policy.workspace.join(GIT);
        for name in PROTECTED {
            let path = policy.workspace.join(name);
            if name != GIT || !policy.writable_git || !own.join("HEAD").exists() {
                self.read(&path);
            }
        }
        if let Some(data) = linked {
            if policy.writable_git { self.write(data) } else { self.read(data) }
        }
        if policy.writable_git {
            let folders = [Some(own.as_path()).filter(|own| own.is_dir()), linked];
            let parts = folders.into_iter().flatten().flat_map(|folder| GIT_SHUT.map(|part| folder.join(part)));
            for part in parts.filter(|part| part.exists()) {
                self.read(&part);
            }
        }
        for lock in LOCKS {
            self.option("--ro-bind", &[host.blank, &policy.workspace.join(lock)]);
        }
        self.option("--ro-bind", &[host.empty, &policy.workspace.join(LOCK_FOLDER)]);
    }
}
