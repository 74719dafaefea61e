//! The program as people use it: the real binary on a pseudo-terminal, other processes beside it, files under it. Nothing
//! is played but the model. Each test has a home and a workspace of its own.

#![allow(clippy::disallowed_methods, reason = "tests measure time, and a person takes a moment to read")]

mod board;
mod crash;
mod exercises;
mod flood;
mod inert;
mod keys;
mod leaving;
mod plain;
mod plans;
mod reopen;
mod screens;
mod shells;
mod sizes;
mod walls;
mod ways;

use crate::pty::Pty;
use portable_pty::CommandBuilder;
use signoff::store::{Durability, FileBackend, TeamStore};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_signoff");
const COLS: u16 = 110;
const ROWS: u16 = 34;
/// The roster's cells at that size.
const ROSTER: usize = 31;

/// A home, settings under which commands run without asking, and a workspace.
pub struct World {
    folder: tempfile::TempDir,
    pub work: PathBuf,
}

/// `SIGNOFF_KEEP=1` leaves the files of a test that failed.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() && std::env::var_os("SIGNOFF_KEEP").is_some() {
            println!("its files are in {}", self.work.display());
            self.folder.disable_cleanup(true);
        }
    }
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir_all(&work).unwrap();
        std::fs::create_dir_all(root.join("config/signoff")).unwrap();
        std::fs::write(root.join("config/signoff/config.toml"), "[permissions]\ncommands = \"allow\"\n[limits]\nidle_timeout = 0\n")
            .unwrap();
        std::fs::write(root.join("script.toml"), include_str!("script.toml")).unwrap();
        Self { folder, work }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn script(&self) -> PathBuf {
        self.root().join("script.toml")
    }

    fn places(&self) -> Vec<(&'static str, PathBuf)> {
        let names = [("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data")];
        names.into_iter().map(|(name, dir)| (name, self.root().join(dir))).collect()
    }

    /// The program with these arguments, for a pseudo-terminal. It runs in the root folder: only commands of members run in the
    /// workspace.
    pub fn command(&self, args: &[&str]) -> CommandBuilder {
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(args);
        command.cwd(self.root());
        for (name, _) in std::env::vars().filter(|(name, _)| is_ours(name)) {
            command.env_remove(name);
        }
        for (name, place) in self.places() {
            command.env(name, place);
        }
        command.env("LANG", "C.UTF-8");
        command
    }

    /// The arguments that open the screen on the workspace.
    pub fn opening(&self) -> Vec<String> {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        vec!["--workspace".into(), text(&self.work), "--provider".into(), "scripted".into(), "--script".into(), text(&self.script())]
    }

    /// The screen, after the lead is there.
    pub fn open(&self) -> Pty {
        let pty = self.open_blind();
        wait_member(&pty, "lead", "");
        pty
    }

    /// The screen, as soon as it is started.
    pub fn open_blind(&self) -> Pty {
        let opening = self.opening();
        Pty::spawn(self.command(&opening.iter().map(String::as_str).collect::<Vec<_>>()), COLS, ROWS)
    }

    /// Runs a command from another shell to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.arg("--workspace").arg(&self.work).args(args).current_dir(self.root()).stdin(std::process::Stdio::null());
        self.surround(&mut command);
        command.output().unwrap()
    }

    pub fn surround(&self, command: &mut Command) {
        for (name, _) in std::env::vars().filter(|(name, _)| is_ours(name)) {
            command.env_remove(name);
        }
        command.envs(self.places()).env("LANG", "C.UTF-8");
    }

    /// Runs a command that must succeed; what it printed.
    pub fn shell(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    pub fn store(&self) -> TeamStore {
        TeamStore::new(Arc::new(FileBackend::open(&self.work, Durability::Buffered).unwrap()))
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.work.join(path)).unwrap_or_default()
    }

    /// Processes that work in the workspace: commands of members, and whatever they started.
    pub fn commands_alive(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.work));
            if here {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push(String::from_utf8_lossy(&line).replace('\0', " "));
            }
        }
        found
    }

    /// Waits until no command of a member is left.
    pub fn wait_no_commands(&self) {
        wait("the members' commands to end", || self.commands_alive().is_empty().then_some(()));
    }
}

fn is_ours(name: &str) -> bool {
    ["OPENAI_", "SIGNOFF_", "OPENROUTER_", "DEEPSEEK_"].iter().any(|start| name.starts_with(start))
        || ["EDITOR", "VISUAL", "ACCESSIBLE", "LC_ALL", "LC_CTYPE"].contains(&name)
}

/// Waits for something outside of the screen.
pub fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = std::time::Instant::now() + crate::pty::DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(std::time::Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A member's row on the roster.
pub fn member_row(text: &str, name: &str) -> Option<String> {
    let rows = text.lines().map(|line| line.chars().take(ROSTER).collect::<String>());
    rows.take_while(|row| !row.contains("Approvals")).find(|row| row.split_whitespace().any(|word| word == name) && !row.contains("Team"))
}

/// Waits until a member's row on the roster says so.
pub fn wait_member(pty: &Pty, name: &str, says: &str) -> String {
    pty.wait_for(&format!("{name} {says}"), |screen| member_row(&screen.contents(), name).is_some_and(|row| row.contains(says)))
}

/// A row of the board.
pub fn task_row(text: &str, subject: &str) -> Option<String> {
    let rows = text.lines().map(|line| line.chars().skip(ROSTER).collect::<String>());
    rows.take_while(|row| !row.contains("Activity")).find(|row| row.contains(subject))
}

/// Waits until a task's row on the board says so.
pub fn wait_task(pty: &Pty, subject: &str, says: &str) -> String {
    pty.wait_for(&format!("task {subject} {says}"), |screen| task_row(&screen.contents(), subject).is_some_and(|row| row.contains(says)))
}

/// Types a line into what is open, looks at it, and sends it.
pub fn type_line(pty: &mut Pty, text: &str) {
    pty.send(text);
    pty.wait_for_text(text);
    pty.send("\r");
}

/// Writes to the lead.
pub fn write_lead(pty: &mut Pty, text: &str) {
    pty.send("i");
    pty.wait_for_text("Enter send");
    type_line(pty, text);
}

/// Puts a task on the board by keys.
pub fn add_task(pty: &mut Pty, subject: &str) {
    pty.send("t");
    pty.wait_for_text("New task");
    type_line(pty, subject);
    pty.send("\r");
    pty.send("\r");
    pty.wait_for("the form to close", |screen| !screen.contents().contains("New task"));
}

/// Spawns a teammate by keys.
pub fn spawn(pty: &mut Pty, name: &str) {
    pty.send("n");
    pty.wait_for_text("New teammate");
    type_line(pty, name);
    type_line(pty, "coder");
    type_line(pty, "wait for work");
    pty.send("\r");
    wait_member(pty, name, "");
}

/// Moves the selection on the roster to a member.
pub fn select(pty: &mut Pty, name: &str) {
    pty.send("1g");
    pty.wait_for("the roster's first row", |screen| member_row(&screen.contents(), "lead").is_some_and(|row| row.contains('▸')));
    for _ in 0..20 {
        if member_row(&pty.contents(), name).is_some_and(|row| row.contains('▸')) {
            return;
        }
        let before = pty.contents();
        pty.send("j");
        pty.wait_for("the selection to move", |screen| {
            let marked = |text: &str| {
                text.lines()
                    .map(|line| line.chars().take(ROSTER).collect::<String>())
                    .position(|row| row.contains('▸') && !row.contains("Team"))
            };
            marked(&screen.contents()) != marked(&before)
        });
    }
    panic!("{name} cannot be selected:\n{}", pty.contents());
}

/// Closes what is open. A key right after Esc would be taken as Alt with that key, so it waits until `open` is gone.
pub fn escape(pty: &mut Pty, open: &str) {
    pty.send("\x1b");
    pty.wait_for(&format!("{open} to close"), |screen| !screen.contents().contains(open));
}

/// As long as a person needs to look at what has come up by itself, before a verdict on it counts.
pub fn look_at_it() {
    std::thread::sleep(Duration::from_millis(700));
}

/// Leaves at once, and checks that everything is as before.
pub fn quit_now(world: &World, mut pty: Pty) {
    pty.send("q");
    if pty.wait_exit_or(|text| text.contains("Waiting for")) {
        pty.send("q");
    }
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
    world.wait_no_commands();
}
