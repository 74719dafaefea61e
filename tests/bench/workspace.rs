//! A workspace in a temporary directory, and the program in it on a pseudo-terminal.

use crate::pty::Pty;
use portable_pty::CommandBuilder;
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Removed when it is dropped.
pub struct Workspace {
    dir: TempDir,
}

impl Workspace {
    /// With this many task files; every third is done, every seventh waits for the one before it.
    pub fn new(tasks: u64) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(dir.path().join("project/.tasks")).expect("a folder");
        let workspace = Self { dir };
        (1..=tasks).for_each(|id| workspace.write_task(id, &format!("Task number {id}")));
        workspace
    }

    /// The directory that the team works in.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Writes a task as another program would: a file beside it, renamed.
    pub fn write_task(&self, id: u64, subject: &str) {
        let status = if id.is_multiple_of(3) { "completed" } else { "pending" };
        let blocked_by: &[u64] = if id.is_multiple_of(7) { &[id - 1] } else { &[] };
        let task = json!({ "id": id, "subject": subject, "description": "x".repeat(200), "status": status, "owner": null, "blockedBy": blocked_by });
        let staged = self.dir.path().join("staged");
        fs::write(&staged, task.to_string()).expect("a file");
        fs::rename(&staged, self.project().join(format!(".tasks/task_{id}.json"))).expect("renamed");
    }

    /// Starts the program with the scripted model. `settings` are the person's settings file.
    pub fn start(&self, settings: &str, args: &[&str]) -> Pty {
        let home = self.dir.path().join("home");
        fs::create_dir_all(home.join(".config/signoff")).expect("a folder");
        fs::write(home.join(".config/signoff/config.toml"), settings).expect("settings");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_signoff"));
        command.env_clear();
        for (name, value) in [("HOME", home.as_path()), ("XDG_CONFIG_HOME", &home.join(".config")), ("XDG_STATE_HOME", &home.join("state"))]
        {
            command.env(name, value);
        }
        command.env("PATH", "/usr/bin:/bin");
        command.env("LANG", "C.UTF-8");
        command.cwd(self.project());
        command.args(["--provider", "scripted"]);
        command.args(args);
        Pty::spawn(command, 120, 40)
    }
}
