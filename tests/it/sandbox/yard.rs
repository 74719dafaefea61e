//! A workspace with a repository, a team and a person's home beside it, and commands run in it, walled in or not.

use super::child;
use signoff::tool::sandbox::{Sandbox, SandboxPolicy, Surroundings, Tier};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest that a command may run, in seconds.
const PATIENCE: &str = "120";

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub text: String,
}

pub struct Yard {
    pub folder: tempfile::TempDir,
    pub workspace: PathBuf,
    /// Files that no command may touch or read.
    pub outside: PathBuf,
    pub home: PathBuf,
    pub surroundings: Surroundings,
}

/// Writes files, making folders.
pub fn plant(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Runs git outside the wall.
pub fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Yard {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, outside, home) = (root.join("work"), root.join("outside"), root.join("home"));
        plant(&outside, &[("precious", "precious\n"), (".ssh/id_ed25519", "KEY\n")]);
        let secrets = [".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".cargo/credentials.toml", ".netrc", ".bash_history"];
        plant(&home, &secrets.map(|name| (name, "SECRET\n")));
        plant(
            &home,
            &[(".bashrc", "# mine\n"), (".local/share/keyrings/login.keyring", "SECRET\n"), (".local/bin/tool", "#!/bin/sh\necho tool\n")],
        );
        std::fs::set_permissions(home.join(".local/bin/tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
        plant(
            &workspace,
            &[
                ("src/a.txt", "one\n"),
                (".tasks/task_1.json", "{}\n"),
                ("team/inbox/lead.jsonl", ""),
                ("team/requests/dead0001.json", "{}\n"),
            ],
        );
        plant(&workspace, &[(".signoff/config.toml", ""), ("team/locks/requests", ""), ("team/.lock", ""), (".tasks/.lock", "")]);
        git(&workspace, &["init", "-q"]);
        git(&workspace, &["add", "src"]);
        git(&workspace, &["commit", "-q", "-m", "first"]);
        let mut surroundings = Surroundings { again: child::again(), home: Some(home.clone()), ..Surroundings::of_process() };
        surroundings.variables.insert("HOME".into(), home.clone().into_os_string());
        Self { folder, workspace, outside, home, surroundings }
    }

    pub fn policy(&self) -> SandboxPolicy {
        SandboxPolicy::new(&self.workspace)
    }

    /// The full tier under `policy`; `None`, loudly, where bubblewrap is missing on a developer's machine.
    pub fn wall(&self, policy: SandboxPolicy) -> Option<Sandbox> {
        let sandbox = Sandbox::new(policy, self.surroundings.clone());
        let found = sandbox.detection();
        if found.tier == Tier::Full {
            return Some(sandbox);
        }
        assert!(std::env::var_os("CI").is_none(), "no full sandbox in CI: {:?}", found.reasons);
        eprintln!("\n*** SKIPPED: the full sandbox does not work here: {:?}\n", found.reasons);
        None
    }

    /// The full tier under the usual policy.
    pub fn usual(&self) -> Option<Sandbox> {
        self.wall(self.policy())
    }

    /// Runs a script, behind a wall or not.
    pub fn run(&self, wall: Option<&Sandbox>, script: &str, more: &[(&str, &str)]) -> Ran {
        let mut variables: BTreeMap<OsString, OsString> = self.surroundings.variables.clone();
        variables.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        variables.insert("OUT".into(), self.outside.clone().into());
        variables.insert("WS".into(), self.workspace.clone().into());
        let wrapper = wall.map(|wall| wall.wrapper().unwrap()).unwrap_or_default();
        // A wrapper that starts this program as `/proc/self/exe` must not have another program before it.
        let direct = wrapper.first().is_some_and(|program| program == "/proc/self/exe");
        let patience = ["/usr/bin/timeout", "-s", "KILL", PATIENCE].map(OsString::from);
        let argv: Vec<OsString> = if direct { wrapper } else { patience.into_iter().chain(wrapper).collect() };
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]).args(["/bin/bash", "-c", script]);
        let output = command.env_clear().envs(variables).current_dir(&self.workspace).stdin(Stdio::null()).output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ran { code: output.status.code(), text: text.replace("\nrunning 1 test\n", "") }
    }

    /// Every file outside the workspace and in its protected folders, with its text.
    pub fn picture(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut seen = BTreeMap::new();
        let protected = [".git", ".tasks", "team", ".signoff"].map(|name| self.workspace.join(name));
        for root in [&self.outside, &self.home].into_iter().chain(&protected) {
            look(root, &mut seen);
        }
        seen
    }
}

fn look(path: &Path, seen: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let kind = std::fs::symlink_metadata(path).unwrap();
    if kind.is_dir() {
        seen.insert(path.to_owned(), Vec::new());
        for entry in std::fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), seen);
        }
    } else {
        let text = if kind.is_file() { std::fs::read(path).unwrap() } else { b"special".to_vec() };
        seen.insert(path.to_owned(), text);
    }
}
