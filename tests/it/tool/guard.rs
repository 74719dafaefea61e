//! The guard: the test binary takes the program's place, started again through a small script, since its own command
//! line belongs to the test harness.

use super::fake::{Room, is_gone, lives, wait_for};
use serde_json::json;
use signoff::tool::guard::run_guard_as;
use signoff::tool::{Audience, ShellSettings};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

const SOON: Duration = Duration::from_secs(4);
const ARGUMENTS: &str = "TEST_GUARD_ARGUMENTS";
const SCRIPT: &str = "TEST_GUARD_SCRIPT";
const APP: &str = "TEST_GUARD_APP";

/// A script that runs the test below with its arguments in the environment.
fn script(folder: &Path) -> PathBuf {
    let path = folder.join("guard.sh");
    let program = std::env::current_exe().unwrap();
    let text = format!(
        "#!/bin/sh\nIFS=\"$(printf '\\037')\"\nexport {ARGUMENTS}=\"$*\" {SCRIPT}=\"$0\"\nexec '{}' --exact tool::guard::entry --nocapture -q\n",
        program.display()
    );
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Not a test by itself: what the script runs.
#[test]
fn entry() {
    let (Ok(arguments), Ok(script)) = (std::env::var(ARGUMENTS), std::env::var(SCRIPT)) else { return };
    let arguments = arguments.split('\u{1f}').map(OsString::from);
    std::process::exit(run_guard_as(&[script.into()], arguments));
}

fn room(folder: &tempfile::TempDir) -> Room {
    let launcher = vec![script(folder.path()).into()];
    Room::with(Audience::Teammate, ShellSettings { launcher, ..ShellSettings::default() })
}

async fn written(room: &Room, name: &str) -> u32 {
    let path = room.folder.path().join(name);
    assert!(wait_for(Duration::from_secs(10), || std::fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n'))).await);
    room.text(name).trim().parse().unwrap()
}

#[tokio::test]
async fn a_guarded_command_keeps_its_output_exit_code_and_signal() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let outcome = room.call("bash", json!({ "command": "echo out; echo err >&2; cat; exit 7" })).await;
    assert!(!outcome.ok && outcome.content.contains("out\nerr\n[exit code 7]"), "{}", outcome.content);
    let outcome = room.call("bash", json!({ "command": "kill -KILL $$" })).await;
    assert!(outcome.content.ends_with("[killed by signal 9]"), "{}", outcome.content);
    assert!(room.call("bash", json!({ "command": "true" })).await.ok);
}

#[tokio::test]
async fn a_guarded_command_has_no_terminal_and_a_session_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let outcome =
        room.call("bash", json!({ "command": "(: < /dev/tty) 2>/dev/null || echo none; ps -o sid= -p $$ | tr -d ' ' ; echo $$" })).await;
    let lines: Vec<&str> = outcome.content.lines().rev().take(3).collect();
    assert_eq!((lines[0], lines[2]), (lines[1], "none"), "{}", outcome.content);
}

#[tokio::test]
async fn strays_of_a_guarded_command_are_ended_even_without_marker_and_session() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let command =
        "env -i PATH=$PATH setsid --fork bash -c 'trap \"\" TERM; echo $$ > pid; sleep 600' ; while [ ! -s pid ]; do :; done; echo done";
    let outcome = room.call("bash", json!({ "command": command })).await;
    assert!(outcome.ok && outcome.content.contains("process(es)"), "{}", outcome.content);
    assert!(is_gone(written(&room, "pid").await));
}

#[tokio::test]
async fn cancelling_a_guarded_command_ends_it_and_its_escapees() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let command =
        "env -i PATH=$PATH setsid --fork bash -c 'trap \"\" TERM; echo $$ > escapee; sleep 600'; trap '' TERM; echo $$ > pid; sleep 600";
    let call = room.call("bash", json!({ "command": command }));
    let cancel = async {
        let pids = (written(&room, "pid").await, written(&room, "escapee").await);
        room.context.cancel.cancel();
        (Instant::now(), pids)
    };
    let (outcome, (cancelled, pids)) = tokio::join!(call, cancel);
    assert!(cancelled.elapsed() < SOON, "took {:?}", cancelled.elapsed());
    assert!(!outcome.ok && is_gone(pids.0) && is_gone(pids.1));
}

#[tokio::test]
async fn a_command_that_kills_its_guard_dies_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let started = Instant::now();
    let outcome = room.call("bash", json!({ "command": "echo $$ > pid; sleep 600 & echo $! > child; kill -9 $PPID; sleep 600" })).await;
    assert!(!outcome.ok && started.elapsed() < SOON, "{}", outcome.content);
    assert!(is_gone(written(&room, "pid").await) && is_gone(written(&room, "child").await));
}

/// Not a test by itself: an app that runs a foreground and a background command until it is killed.
#[tokio::test]
async fn app() {
    let Ok(place) = std::env::var(APP) else { return };
    let folder = tempfile::tempdir().unwrap();
    let room = room(&folder);
    let command = |name: &str| {
        format!(
            "setsid --fork bash -c 'trap \"\" TERM HUP; echo $$ > {place}/{name}.escapee; sleep 600'; trap '' TERM; echo $$ > {place}/{name}; sleep 600"
        )
    };
    room.call("bash", json!({ "command": command("back"), "run_in_background": true })).await;
    room.call("bash", json!({ "command": command("front") })).await;
}

#[tokio::test]
async fn no_child_survives_when_the_app_is_killed_with_kill() {
    let room = Room::new(Audience::All);
    let program = std::env::current_exe().unwrap();
    let mut app = tokio::process::Command::new(program);
    app.args(["--exact", "tool::guard::app", "-q"]).env(APP, room.folder.path()).kill_on_drop(true);
    app.stdout(std::process::Stdio::null());
    let mut app = app.spawn().unwrap();
    let mut pids = Vec::new();
    for name in ["back", "back.escapee", "front", "front.escapee"] {
        pids.push(written(&room, name).await);
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    app.start_kill().unwrap();
    app.wait().await.unwrap();
    assert!(wait_for(SOON, || pids.iter().all(|pid| !lives(*pid))).await, "{:?}", pids.iter().map(|pid| lives(*pid)).collect::<Vec<_>>());
}
