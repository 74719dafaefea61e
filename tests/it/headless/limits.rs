//! Rate limits, full contexts, budgets, fallbacks.

use super::rig::{Rig, call, other, say};
use super::team::crew;
use crate::provider::fake::{Reply, Seen};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_a_429_with_retry_after_parks_everybody_and_the_events_show_it() {
    let limited = AtomicBool::new(false);
    let rig = Rig::new(move |asked| {
        if asked.who == "alice" && !limited.swap(true, Ordering::SeqCst) {
            return other(Reply::error(429, "Rate limit reached").header("retry-after", "2"));
        }
        crew(asked)
    })
    .await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let parked: BTreeSet<String> = ran
        .of_kind("activity_changed")
        .into_iter()
        .filter(|e| e["activity"]["state"] == "rate_limit")
        .map(|e| e["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(parked.contains("alice") && parked.len() >= 2, "{parked:?}");
    let requests: Vec<_> = rig.server.requests().into_iter().filter(|r| r.line.starts_with("POST")).collect();
    let widest = requests.windows(2).map(|two| two[1].at - two[0].at).max().unwrap();
    assert!(widest >= Duration::from_millis(1_900), "nobody calls while the gate is closed: {widest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l4_a_full_context_is_compacted_and_the_work_goes_on() {
    let overflow = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    let refused = AtomicUsize::new(0);
    let rig = Rig::new(move |asked| match (asked.who.as_str(), asked.nth) {
        ("summary", _) => say("The secret word is plover.").costs(700, 70),
        (_, 1) => call("read_file", json!({ "path": "big.txt" })).costs(900, 10),
        (_, _) if asked.holds("The secret word") => say("plover").costs(300, 3),
        _ if refused.fetch_add(1, Ordering::SeqCst) < 3 => other(Reply::error(400, overflow)),
        _ => say("the summary never came"),
    })
    .await;
    std::fs::write(rig.workspace().join("big.txt"), "word ".repeat(2_000)).unwrap();
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.of_kind("compacted").len(), 1);
    let last = ran.of_kind("answer_finished").pop().unwrap();
    assert_eq!(last["text"], "plover");
    let last = rig.server.requests().pop().unwrap();
    let first = &last.messages()[1]["content"];
    assert!(first.as_str().unwrap().starts_with("<identity>You are 'lead'"), "{first}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l8_after_a_compaction_the_lead_is_told_who_is_there_and_what_is_open() {
    let refused = AtomicUsize::new(0);
    let rig = Rig::new(move |asked| match (asked.who.as_str(), asked.nth) {
        ("summary", _) => say("The secret word is plover."),
        ("alice", _) => say("I think about it."),
        (_, 1) => call("task_create", json!({ "subject": "An open thing" }))
            .and("spawn_teammate", json!({ "name": "alice", "role": "coder", "prompt": "wait" }))
            .and("read_file", json!({ "path": "big.txt" })),
        (_, _) if !asked.holds("The secret word") && refused.fetch_add(1, Ordering::SeqCst) < 1 => {
            other(Reply::error(400, "context_length_exceeded: too long"))
        }
        _ => say("I go on."),
    })
    .await;
    std::fs::write(rig.workspace().join("big.txt"), "word ".repeat(2_000)).unwrap();
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.of_kind("compacted").len(), 1, "{ran:?}");
    let after = |seen: &&Seen| {
        seen.body["messages"].as_array().into_iter().flatten().any(|m| m["content"].as_str().is_some_and(|c| c.contains("The secret word")))
    };
    let requests = rig.server.requests();
    let told = requests.iter().find(after).expect("a call after the compaction");
    let told: String = told.messages().iter().filter_map(|m| m["content"].as_str()).collect();
    assert!(told.contains("alice") && told.contains("An open thing"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l4_a_context_that_stays_full_ends_with_a_clear_reason() {
    let rig = Rig::new(|_| other(Reply::error(400, "context_length_exceeded: too long"))).await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.reason().contains("larger window"), "{}", ran.reason());
    assert!(rig.server.requests().len() < 12, "{} requests", rig.server.requests().len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_instructions_alone_fill_does_not_compact_at_every_call() {
    const ROUNDS: usize = 20;
    let rig = Rig::with("context_window = 4096", |asked| match (asked.who.as_str(), asked.nth) {
        ("summary", _) => say("Short."),
        (_, nth) if nth <= ROUNDS => call("search", json!({ "pattern": format!("word {nth}") })),
        _ => say("Done."),
    })
    .await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let compacted = ran.of_kind("compacted").len();
    assert!(compacted <= 6, "{compacted} compactions in {ROUNDS} rounds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_budget_stops_the_run_with_its_reason() {
    let rig = Rig::with("[budget]\ntokens = 2000", crew).await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.reason().contains("of 2000 tokens"), "{}", ran.reason());
    assert!(rig.server.requests().len() <= 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l3_an_exhausted_model_is_replaced_by_the_fallback() {
    let rig = Rig::with("[team.fallback_models]\nlead = \"spare\"", |asked| match asked.seen.body["model"].as_str() {
        Some("spare") => say("From the spare."),
        _ => other(Reply::json(429, &json!({ "error": { "message": "You exceeded your current quota", "code": "insufficient_quota" } }))),
    })
    .await;
    let ran = rig.run(&["run", "go"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "From the spare.\n"), "{ran:?}");
    assert!(ran.err.contains("spare"), "{}", ran.err);
}
