//! The real binary on a real full disk, without file handles, and at a limit of file sizes: it says so, its exit code says
//! so, and afterwards the workspace is whole.

use super::is_full;
use crate::support::team::store_at;
use signoff::domain::{TaskStatus, TeamEvent};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_signoff");
const SCRIPT: &str = r#"format = 1
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
calls = [{ tool = "task_create", args = { subject = "first" } }, { tool = "spawn_teammate", args = { name = "bob", role = "coder", prompt = "work" } }]
[[rule.step]]
say = "they work"
[[rule]]
on = "claimed"
[[rule.step]]
tool = "write_file"
args = { path = "out.txt", content = "0123456789012345678901234567890123456789" }
[[rule.step]]
tool = "task_update"
args = { task_id = "{task_id}", status = "completed" }
[[rule.step]]
say = "that was {task_id}"
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("work")).unwrap();
        std::fs::write(dir.path().join("script.toml"), SCRIPT).unwrap();
        std::fs::write(dir.path().join("config.toml"), "[permissions]\ncommands = \"allow\"\n").unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `before` prepares the shell; then the program takes its place.
    fn run(&self, wrapper: &[&str], before: &str, work: &Path, seconds: u32) -> Output {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let run = format!(
            "{before}; exec {PROGRAM} --workspace {} --config {} --script {} run 'go' --json --timeout {seconds}s",
            text(work),
            text(&self.path("config.toml")),
            text(&self.path("script.toml"))
        );
        let (program, arguments) = wrapper.split_first().unwrap_or((&"sh", &[]));
        let mut command = Command::new(program);
        command.args(arguments);
        if !wrapper.is_empty() {
            command.arg("sh");
        }
        command.arg("-c").arg(run).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.dir.path());
        command.stdin(Stdio::null()).output().unwrap()
    }
}

/// What holds of every such run. Whether it succeeded.
fn check(what: &str, output: &Output) -> bool {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!err.contains("panicked") && !out.contains("a panic"), "{what}: {err}{out}");
    let code = output.status.code().unwrap_or(-1);
    assert!((0..=4).contains(&code), "{what}: ended by {:?}: {err}", output.status);
    if code != 0 {
        // Where there was just enough the run is good, only cut short by its own limit of time.
        let words = ["No space left", "Too many open files", "File too large", "Input/output error", "os error", "timed out"];
        assert!(words.iter().any(|word| err.contains(word) || out.contains(word)), "{what}: the reason is told: {code} {err} {out}");
    }
    code == 0
}

/// Whatever it told as done is on the disk; and with room again the rest is done.
fn check_disk(what: &str, work: &Path, output: &Output) {
    let done = String::from_utf8_lossy(&output.stdout).lines().any(|line| {
        let event = serde_json::from_str::<signoff::domain::EventRecord>(line).map(|record| record.event);
        matches!(event, Ok(TeamEvent::TaskChanged { task, .. }) if task.status == TaskStatus::Completed)
    });
    let loaded = store_at(work).tasks().unwrap();
    assert_eq!(loaded.faults, [], "{what}: no half task");
    if done {
        assert!(loaded.items.iter().any(|(task, _)| task.status == TaskStatus::Completed), "{what}: done, but not on the disk");
    }
}

fn may_mount() -> bool {
    Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success())
}

#[test]
fn a_disk_that_is_full_from_the_first_byte_or_later() {
    if !may_mount() {
        assert!(std::env::var_os("CI").is_none(), "no user namespaces, so no disk of a size of one's own");
        println!("skipped: no user namespaces here");
        return;
    }
    let sizes: &[u32] = if is_full() { &[4, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 80, 96, 128] } else { &[16] };
    for size in sizes {
        let place = Place::new();
        let (work, copy) = (place.path("work"), place.path("copy"));
        // The disk goes with its namespace: what is on it is copied out at the end.
        let script = place.path("mounted.sh");
        let run = format!(
            "mount -t tmpfs -o size={size}k none {work} || exit 77\n{PROGRAM} --workspace {work} --config {config} --script {script} run go --json --timeout 4s\ncode=$?\ncp -a {work} {copy}\nexit $code\n",
            work = work.display(),
            config = place.path("config.toml").display(),
            script = place.path("script.toml").display(),
            copy = copy.display()
        );
        std::fs::write(&script, run).unwrap();
        let mut command = Command::new("unshare");
        command.arg("-rm").arg("sh").arg(&script).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", place.dir.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_ne!(output.status.code(), Some(77), "the mount: {}", String::from_utf8_lossy(&output.stderr));
        let what = format!("a disk of {size} KiB");
        let ended = check(&what, &output);
        check_disk(&what, &copy, &output);
        let again = place.run(&[], "true", &copy, 60);
        assert!(check(&format!("{what}, then room again"), &again), "{}", String::from_utf8_lossy(&again.stdout));
        println!("{what}: {} at first, then done", if ended { "done" } else { "failed" });
    }
}

#[test]
fn a_limit_of_file_sizes() {
    for blocks in if is_full() { vec![1, 2, 3, 4, 6, 8, 12] } else { vec![2] } {
        let place = Place::new();
        let work = place.path("work");
        // Where the signal is ignored, the write fails instead: as on a disk with a quota.
        let output = place.run(&[], &format!("trap '' XFSZ; ulimit -f {blocks}"), &work, 4);
        let what = format!("files of at most {blocks} blocks");
        check(&what, &output);
        check_disk(&what, &work, &output);
        let again = place.run(&[], "true", &work, 60);
        assert!(check(&format!("{what}, then no limit"), &again), "{}", String::from_utf8_lossy(&again.stdout));
    }
}

#[test]
fn few_file_handles() {
    for handles in if is_full() { (8..64).step_by(2).collect() } else { vec![14, 24] } {
        let place = Place::new();
        let work = place.path("work");
        let output = place.run(&[], &format!("ulimit -n {handles}"), &work, 4);
        let what = format!("{handles} handles");
        check(&what, &output);
        check_disk(&what, &work, &output);
        let again = place.run(&[], "true", &work, 60);
        assert!(check(&format!("{what}, then enough"), &again), "{}", String::from_utf8_lossy(&again.stdout));
    }
}

#[test]
fn a_command_that_cannot_write_fails_and_says_so() {
    let place = Place::new();
    let work = place.path("work");
    std::fs::create_dir_all(work.join(".tasks")).unwrap();
    let limited = |arguments: &str| {
        let text = format!("trap '' XFSZ; ulimit -f 0; exec {PROGRAM} --workspace {} {arguments}", work.display());
        Command::new("sh").arg("-c").arg(text).env("HOME", place.dir.path()).stdin(Stdio::null()).output().unwrap()
    };
    for arguments in ["task add first", "send lead hello", "spawn bob --role coder"] {
        let output = limited(arguments);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.contains("File too large"), "{arguments}: {err}");
    }
    let store = store_at(&work);
    assert!(store.tasks().unwrap().items.is_empty() && store.tasks().unwrap().faults.is_empty(), "no half task is left");
    assert!(store.team().unwrap().is_none_or(|(team, _)| team.members.iter().all(|m| m.name.as_str() != "bob")));
}
