//! A whole team over the wire.

use super::rig::{Asked, Rig, Say, call, say};
use serde_json::json;

/// A lead that puts three tasks on the board and spawns two teammates, who complete what they claim.
pub fn crew(asked: &Asked) -> Say {
    match (asked.who.as_str(), asked.nth) {
        ("lead", 1) => call("task_create", json!({ "subject": "one" }))
            .and("task_create", json!({ "subject": "two" }))
            .and("task_create", json!({ "subject": "three", "blockedBy": [1] }))
            .costs(1_000, 30),
        ("lead", 2) => call("spawn_teammate", json!({ "name": "alice", "role": "coder", "prompt": "Take tasks." }))
            .and("spawn_teammate", json!({ "name": "bob", "role": "tester", "prompt": "Take tasks." }))
            .costs(1_100, 40),
        ("lead", _) if asked.holds("<board-finished>") => say("All three are done.").costs(1_300, 9),
        ("lead", _) => say("They work.").costs(1_200, 5),
        (_, _) if asked.has_task() => {
            call("task_update", json!({ "task_id": asked.claimed().unwrap(), "status": "completed" })).costs(500, 20)
        }
        (_, _) => say("Done.").costs(400, 3),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s9_three_tasks_two_teammates_json_and_exit_0() {
    let rig = Rig::new(crew).await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.reason(), "all 3 tasks are completed");
    let done = ran.of_kind("task_changed").into_iter().filter(|e| e["change"] == "completed").count();
    assert_eq!(done, 3);
    for number in 1..=3 {
        let text = std::fs::read_to_string(rig.workspace().join(format!(".tasks/task_{number}.json"))).unwrap();
        assert!(text.contains("\"completed\""), "{text}");
    }
    assert!(ran.err.is_empty(), "people are told nothing beside the events: {}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s10_without_json_words_go_to_standard_error_and_the_answer_to_standard_output() {
    let rig = Rig::new(|_| say("It is 42.")).await;
    let ran = rig.run(&["run", "what is it?"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "It is 42.\n"), "{ran:?}");
    assert!(!ran.err.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_comes_back_to_the_same_team_and_prints_only_itself() {
    let rig = Rig::new(|asked| match (asked.who.as_str(), asked.nth) {
        ("lead", 1) => call("task_create", json!({ "subject": "later" }))
            .and("spawn_teammate", json!({ "name": "alice", "role": "coder", "prompt": "Wait." })),
        ("lead", _) if asked.holds("second goal") => say("Both goals are known."),
        ("alice", _) if asked.has_task() => call("task_update", json!({ "task_id": 1, "status": "completed" })),
        _ => say("First done."),
    })
    .await;
    let first = rig.run(&["run", "first goal", "--json"]).await;
    assert_eq!(first.code, 0, "{first:?}");
    let second = rig.run(&["run", "second goal", "--json"]).await;
    assert_eq!(second.code, 0, "{second:?}");
    let last = rig.server.requests().pop().unwrap();
    let text = last.body.to_string();
    assert!(text.contains("first goal") && text.contains("second goal"), "the lead still knows: {text}");
    assert!(second.of_kind("member_changed").iter().any(|e| e["member"]["name"] == "alice"));
    let sent: Vec<_> = second.of_kind("message_sent").into_iter().filter(|e| e["message"]["from"] == "human").collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(second.of_kind("usage_added").len() < 3, "usage of the first run is not told again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_goal_may_come_from_standard_input() {
    use tokio::io::AsyncWriteExt as _;
    let rig = Rig::new(|asked| say(if asked.holds("from a pipe") { "read" } else { "nothing" })).await;
    let mut child = rig.command(&["run", "-"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe\n").await.unwrap();
    let ran = super::rig::ended(child).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "read\n"), "{ran:?}");
    let empty = rig.run(&["run", "-"]).await;
    assert_eq!(empty.code, 2, "{empty:?}");
}
