//! The `bash` tool: output, exit codes, and that nothing it started survives.

use super::fake::{Room, is_gone, lives, wait_for};
use serde_json::json;
use signoff::tool::{Audience, ToolOutcome};
use std::time::Duration;
use tokio::time::Instant;

/// No stop takes longer.
const SOON: Duration = Duration::from_secs(3);

fn room() -> Room {
    Room::new(Audience::Teammate)
}

async fn bash(room: &Room, command: &str) -> ToolOutcome {
    room.call("bash", json!({ "command": command })).await
}

/// The numbers that a command wrote into files of that name.
fn pids(room: &Room, names: &[&str]) -> Vec<u32> {
    names.iter().map(|name| room.text(name).trim().parse().unwrap()).collect()
}

/// Starts `command`, cancels once `names` exist, and checks that the processes named in them end soon.
async fn dies_when_cancelled(room: &Room, command: &str, names: &[&str]) -> ToolOutcome {
    let call = bash(room, command);
    let cancel = async {
        let written =
            || names.iter().all(|name| std::fs::read_to_string(room.folder.path().join(name)).is_ok_and(|text| text.ends_with('\n')));
        assert!(wait_for(Duration::from_secs(10), written).await, "the command did not start");
        room.context.cancel.cancel();
        Instant::now()
    };
    let (outcome, cancelled) = tokio::join!(call, cancel);
    assert!(cancelled.elapsed() < SOON, "took {:?}", cancelled.elapsed());
    for pid in pids(room, names) {
        assert!(is_gone(pid), "{pid} of {names:?} lives");
    }
    assert!(!outcome.ok);
    outcome
}

#[tokio::test]
async fn output_of_both_streams_comes_in_order_with_the_exit_code() {
    let room = room();
    let outcome = bash(&room, "echo one; echo two >&2; echo three; exit 3").await;
    assert_eq!(outcome, ToolOutcome::error("one\ntwo\nthree\n[exit code 3]"));
    assert_eq!(bash(&room, "true").await, ToolOutcome::ok("(no output)"));
    assert_eq!(bash(&room, "kill -9 $$").await, ToolOutcome::error("[killed by signal 9]"));
}

#[tokio::test]
async fn it_runs_in_the_workspace_without_input_and_without_secrets() {
    let room = room();
    let outcome = bash(&room, "pwd; cat; env | grep -c SIGNOFF_CALL; echo $TERM").await;
    assert_eq!(outcome.content, format!("{}\n1\ndumb", room.context.workspace.display()));
}

#[tokio::test]
async fn output_is_shown_while_it_runs_and_freed_of_escape_sequences() {
    let room = room();
    let outcome =
        bash(&room, r"printf 'a\033[31mred\033[0m \033]0;title\007b\r\nc\033]52;c;!\n\302\233 \377 \342\200\256 10%%\r20%%'").await;
    assert_eq!(outcome.content, "ared b\nc\n\u{fffd} \u{fffd} \u{fffd} 10%\n20%");
    assert_eq!(*room.team.shown.lock().unwrap(), "ared b\nc\n\u{fffd} \u{fffd} \u{fffd} 10%\n20%");
}

#[tokio::test]
async fn long_output_keeps_head_and_tail_and_names_the_middle() {
    let room = room();
    let outcome = bash(&room, "echo BEGIN; seq 1 20000; echo END").await;
    assert!(outcome.ok && outcome.content.starts_with("BEGIN\n1\n") && outcome.content.ends_with("20000\nEND"));
    assert!(outcome.content.contains("characters left out …"));
    assert!(outcome.content.chars().count() < 2_100);
}

#[tokio::test]
async fn a_flood_of_100_megabytes_takes_no_memory_and_little_time() {
    let room = room();
    let started = Instant::now();
    let before = peak_memory();
    let outcome = bash(&room, "head -c 100000000 /dev/zero | tr '\\0' 'x'").await;
    assert!(outcome.ok, "{}", outcome.content);
    assert!(started.elapsed() < SOON, "took {:?}", started.elapsed());
    assert!(peak_memory() - before < 40_000, "grew by {} kB", peak_memory() - before);
    assert!(outcome.content.contains("… 99998000 characters left out …"), "{}", &outcome.content[900..1_100]);
}

/// kB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_time_out_is_told_and_kills() {
    let room = room();
    let started = Instant::now();
    let outcome = room.call("bash", json!({ "command": "echo $$ > pid; echo begun; sleep 600", "timeout": 1 })).await;
    assert!(started.elapsed() < Duration::from_secs(1) + SOON);
    assert_eq!(outcome, ToolOutcome::error("begun\n[timed out after 1 s: it and everything it started were killed]"));
    assert!(is_gone(pids(&room, &["pid"])[0]));
}

#[tokio::test]
async fn a_sleeping_command_dies_at_once_when_cancelled() {
    let room = room();
    let outcome = dies_when_cancelled(&room, "echo $$ > pid; sleep 600", &["pid"]).await;
    assert!(outcome.content.contains("interrupted"));
}

#[tokio::test]
async fn children_that_ignore_term_are_killed() {
    let command =
        "trap '' TERM; (trap '' TERM; echo $BASHPID > child; while :; do sleep 1; done) & echo $$ > pid; while :; do sleep 1; done";
    dies_when_cancelled(&room(), command, &["pid", "child"]).await;
}

#[tokio::test]
async fn a_child_that_left_the_session_is_killed() {
    let command = "setsid --fork bash -c 'echo $$ > escapee; trap \"\" TERM HUP; sleep 600'; echo $$ > pid; sleep 600";
    dies_when_cancelled(&room(), command, &["pid", "escapee"]).await;
}

#[tokio::test]
async fn a_stopped_command_is_killed() {
    dies_when_cancelled(&room(), "echo $$ > pid; kill -STOP $$", &["pid"]).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_open_delays_nothing_and_is_ended() {
    let room = room();
    let started = Instant::now();
    let outcome = bash(&room, "(trap '' TERM; echo $BASHPID > pid; exec sleep 600) & while [ ! -s pid ]; do :; done; echo done").await;
    assert!(started.elapsed() < SOON, "took {:?}", started.elapsed());
    assert!(outcome.ok && outcome.content.starts_with("done\n[1 process(es)"), "{}", outcome.content);
    assert!(is_gone(pids(&room, &["pid"])[0]));
}

#[tokio::test]
async fn what_a_process_substitution_still_writes_is_waited_for() {
    let outcome = bash(&room(), "echo text > >(sleep 0.1; cat)").await;
    assert_eq!(outcome, ToolOutcome::ok("text"));
}

#[tokio::test]
async fn a_dropped_call_kills_too() {
    let room = room();
    let call = bash(&room, "echo $$ > pid; sleep 600");
    let written =
        wait_for(Duration::from_secs(10), || std::fs::read_to_string(room.folder.path().join("pid")).is_ok_and(|t| t.ends_with('\n')));
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        there = written => assert!(there),
    }
    let pid = pids(&room, &["pid"])[0];
    assert!(wait_for(SOON, || !lives(pid)).await);
}

#[tokio::test]
async fn nothing_starts_after_cancellation() {
    let room = room();
    room.context.cancel.cancel();
    let outcome = bash(&room, "touch made").await;
    assert!(!outcome.ok && !room.folder.path().join("made").exists());
}

#[tokio::test]
async fn a_background_job_returns_at_once_and_tells_its_end() {
    let room = room();
    let outcome = room
        .call("bash", json!({ "command": "while [ ! -e go ]; do sleep 0.02; done; echo built; exit 4", "run_in_background": true }))
        .await;
    assert!(outcome.ok && outcome.content.starts_with("background job 1 started"), "{}", outcome.content);
    assert_eq!((room.context.jobs.count(), room.context.jobs.list()[0].id), (1, 1));
    room.write("go", "");
    tokio::time::timeout(Duration::from_secs(10), room.team.noted.notified()).await.unwrap();
    let note = room.team.notes.lock().unwrap()[0].clone();
    assert!(note.starts_with("background job 1 (`while") && note.contains("ended: exit code 4\nbuilt"), "{note}");
    assert!(wait_for(SOON, || room.context.jobs.count() == 0).await);
}

#[tokio::test]
async fn jobs_die_on_request_and_with_their_member_and_nobody_is_told() {
    let mut room = room();
    for name in ["one", "two", "three"] {
        let command = format!("echo $$ > {name}; trap '' TERM; sleep 600");
        assert!(room.call("bash", json!({ "command": command, "run_in_background": true })).await.ok);
        let there =
            wait_for(Duration::from_secs(10), || std::fs::read_to_string(room.folder.path().join(name)).is_ok_and(|t| t.ends_with('\n')));
        assert!(there.await);
    }
    let pids = pids(&room, &["one", "two", "three"]);
    let started = Instant::now();
    assert!(room.context.jobs.kill(1) && !room.context.jobs.kill(9));
    assert!(wait_for(SOON, || !lives(pids[0]) && room.context.jobs.count() == 2).await);
    room.context.jobs.kill_all();
    room.context.jobs.settled().await;
    assert!(started.elapsed() < SOON * 2 && is_gone(pids[1]) && is_gone(pids[2]));
    assert!(room.team.notes.lock().unwrap().is_empty());

    let command = json!({ "command": "echo $$ > four; sleep 600", "run_in_background": true });
    assert!(room.call("bash", command).await.ok);
    assert!(
        wait_for(Duration::from_secs(10), || std::fs::read_to_string(room.folder.path().join("four")).is_ok_and(|t| t.ends_with('\n')))
            .await
    );
    let pid = room.text("four").trim().parse().unwrap();
    room.context.jobs = std::sync::Arc::default();
    assert!(wait_for(SOON, || !lives(pid)).await);
}

#[tokio::test]
async fn no_member_has_jobs_without_end() {
    let room = room();
    let command = json!({ "command": "sleep 600", "run_in_background": true });
    for _ in 0..signoff::tool::shell::JOBS_MAX {
        assert!(room.call("bash", command.clone()).await.ok);
    }
    let outcome = room.call("bash", command).await;
    assert!(!outcome.ok && outcome.content.contains("16 background commands run already"), "{}", outcome.content);
    room.context.jobs.kill_all();
    room.context.jobs.settled().await;
}
