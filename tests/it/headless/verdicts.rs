//! Plans and permissions when nobody looks.

use super::rig::{Asked, Rig, Say, call, ended, say};
use serde_json::json;

/// A lead that spawns bob, who hands in a plan and then writes a file.
fn planner(asked: &Asked) -> Say {
    match (asked.who.as_str(), asked.nth) {
        ("lead", 1) => {
            call("spawn_teammate", json!({ "name": "bob", "role": "coder", "prompt": "Plan, then write.", "require_plan": true }))
        }
        ("lead", _) => say("I wait."),
        ("bob", 1) => call("plan_approval", json!({ "plan": "Write out.txt" })),
        ("bob", _) if asked.last("tool").contains("out.txt") => say("Written."),
        ("bob", _) if asked.holds("verdict=\"approved\"") => call("write_file", json!({ "path": "out.txt", "content": "x" })),
        _ => say("Then not."),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_ask_waits_and_approve_from_another_process_answers() {
    let rig = Rig::new(planner).await;
    let child = rig.start(&["run", "go", "--json", "--plans", "ask"]);
    let id = rig.pending().await;
    let said = rig.run(&["approve", &id, "--note", "mind the gap"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    let ran = ended(child).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(rig.workspace().join("out.txt").exists());
    let told = rig.server.requests().iter().any(|r| r.body.to_string().contains("mind the gap"));
    assert!(told, "the note reaches the member");
    let again = rig.run(&["approve", &id]).await;
    assert_eq!(again.code, 3, "one answer only: {again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_ask_takes_a_rejection_from_another_process() {
    let rig = Rig::new(planner).await;
    let child = rig.start(&["run", "go", "--json", "--plans", "ask"]);
    let id = rig.pending().await;
    let said = rig.run(&["reject", &id, "--feedback", "too risky"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    let ran = ended(child).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!rig.workspace().join("out.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_auto_approves_and_says_so() {
    let rig = Rig::new(planner).await;
    let ran = rig.run(&["run", "go", "--json", "--plans", "auto"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(rig.workspace().join("out.txt").exists());
    let decided = ran.of_kind("request_changed").into_iter().find(|e| e["request"]["state"] == "approved").unwrap();
    assert_eq!(decided["request"]["answer"]["by"], "system");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_are_denied_by_default_and_listed() {
    let rig = Rig::new(planner).await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!rig.workspace().join("out.txt").exists());
    let denied = ran.of_kind("denied");
    assert!(denied.iter().any(|e| e["name"] == "bob" && e["what"].as_str().unwrap().contains("plan")), "{denied:?}");
    assert!(ran.err.contains("refused"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s8_a_command_that_needs_a_person_is_denied_and_listed_and_never_waited_for() {
    let rig =
        Rig::new(|asked| if asked.nth == 1 { call("bash", json!({ "command": "touch forbidden" })) } else { say("Not allowed.") }).await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!rig.workspace().join("forbidden").exists());
    assert_eq!(ran.of_kind("denied").len(), 1);
    assert!(ran.err.contains("1 refused") && ran.err.contains("touch forbidden"), "{}", ran.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_plans_ask_a_permission_waits_for_another_process_too() {
    let rig = Rig::new(|asked| if asked.nth == 1 { call("bash", json!({ "command": "touch allowed" })) } else { say("Done.") }).await;
    let child = rig.start(&["run", "go", "--json", "--plans", "ask"]);
    let id = rig.pending().await;
    assert_eq!(rig.run(&["approve", &id]).await.code, 0);
    let ran = ended(child).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(rig.workspace().join("allowed").exists());
}
