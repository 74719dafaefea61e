//! Every way a run ends, and the exit code that tells it.

use super::rig::{Rig, call, dies_after, ended, other, say};
use super::team::crew;
use crate::provider::fake::Reply;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::process::Stdio;

/// A lead that runs a command which never ends by itself; `mark` is its argument.
async fn stuck(mark: &str) -> Rig {
    let command = format!("sleep {mark} & sleep {mark}");
    Rig::with("[permissions]\ncommands = \"allow\"", move |_| call("bash", json!({ "command": command, "timeout": 900 }))).await
}

fn mark(number: u32) -> String {
    (700_000 + number * 10_000 + std::process::id() % 10_000).to_string()
}

fn running(mark: &str) -> bool {
    let line = format!("sleep\0{mark}\0");
    let is_it =
        |process: std::fs::DirEntry| std::fs::read(process.path().join("cmdline")).is_ok_and(|text| text.ends_with(line.as_bytes()));
    std::fs::read_dir("/proc").unwrap().flatten().any(is_it)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_exits_4_and_leaves_no_child() {
    let mark = mark(1);
    let rig = stuck(&mark).await;
    let ran = rig.run(&["run", "go", "--json", "--timeout", "1s"]).await;
    assert_eq!((ran.code, ran.reason().as_str()), (4, "timed out"), "{ran:?}");
    let told = ran.of_kind("member_changed");
    assert_eq!(told.last().unwrap()["member"]["status"], "shutdown", "the end of the lead is told, too");
    assert!(!running(&mark));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn int_and_term_exit_130_and_leave_no_child() {
    for (number, signal) in [(2, Signal::INT), (3, Signal::TERM)] {
        let mark = mark(number);
        let rig = stuck(&mark).await;
        let child = rig.start(&["run", "go", "--json"]);
        rig.until("the command", |_| running(&mark).then_some(())).await;
        kill_process(Pid::from_raw(child.id().unwrap() as i32).unwrap(), signal).unwrap();
        let ran = ended(child).await;
        assert_eq!((ran.code, ran.reason().as_str()), (130, "interrupted"), "{ran:?}");
        assert!(!running(&mark));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s5_a_killed_run_leaves_no_child_either() {
    let mark = mark(4);
    let rig = stuck(&mark).await;
    let mut child = rig.start(&["run", "go", "--json"]);
    rig.until("the command", |_| running(&mark).then_some(())).await;
    child.kill().await.unwrap();
    rig.until("the end of the command", |_| (!running(&mark)).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_key_exits_1_with_the_reason() {
    let rig = Rig::new(|_| other(Reply::error(401, "Incorrect API key provided"))).await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.reason().contains("401") && ran.reason().contains("Incorrect API key"), "{}", ran.reason());
    assert_eq!(rig.server.requests().iter().filter(|r| r.line.starts_with("POST")).count(), 1, "a refused key is not tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t27_a_member_whose_stream_dies_is_reported_and_the_rest_finishes() {
    let rig = Rig::new(|asked| if asked.who == "bob" { dies_after("I was about to") } else { crew(asked) }).await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!((ran.code, ran.reason().as_str()), (0, "all 3 tasks are completed"), "{ran:?}");
    let failed = ran.of_kind("member_changed").into_iter().find(|e| e["member"]["status"] == "failed").expect("told");
    assert_eq!(failed["member"]["name"], "bob");
    let letters =
        ran.of_kind("message_sent").into_iter().filter(|e| e["message"]["type"] == "error" && e["message"]["to"] == "lead").count();
    assert_eq!(letters, 1, "the lead is told once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_goes_away_stops_the_team_and_is_no_success() {
    let mark = mark(5);
    let rig = stuck(&mark).await;
    let mut child = rig.start(&["run", "go", "--json"]);
    drop(child.stdout.take());
    let status = tokio::time::timeout(super::rig::DEADLINE, child.wait()).await.expect("it ends").unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(!running(&mark));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_is_told_before_anything_is_asked() {
    let rig = Rig::new(|_| say("hello")).await;
    let wrong: [(&[&str], i32, &str); 8] = [
        (&["run", "go", "--protocol", "sequentiel"], 2, "sequential"),
        (&["run", "go", "--plann", "ask"], 2, "--plann"),
        (&["run", "go", "--plans", "maybe"], 2, "auto"),
        (&["run", "go", "--timeout", "soon"], 2, "90s"),
        (&["run"], 2, "GOAL"),
        (&["run", "  "], 2, "goal is empty"),
        (&["run", "go", "--provider", "nobody"], 2, "nobody"),
        (&["approve", "deadbeef"], 3, "deadbeef"),
    ];
    for (args, code, words) in wrong {
        let ran = rig.run(args).await;
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    assert!(rig.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_beside_the_first_is_refused() {
    let mark = mark(6);
    let rig = stuck(&mark).await;
    let child = rig.start(&["run", "go", "--json"]);
    rig.until("the command", |_| running(&mark).then_some(())).await;
    let second = rig.command(&["run", "more"]).stdout(Stdio::piped()).spawn().unwrap();
    let second = ended(second).await;
    assert_eq!(second.code, 3, "{second:?}");
    assert!(second.err.contains("another process"), "{}", second.err);
    kill_process(Pid::from_raw(child.id().unwrap() as i32).unwrap(), Signal::TERM).unwrap();
    ended(child).await;
}
