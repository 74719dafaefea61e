//! What was spent, as the server counted it.

use super::rig::{Ran, Rig, call, other, say};
use super::team::crew;
use crate::provider::fake::Reply;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

fn totals(rig: &Rig, key: impl Fn(&(String, String, signoff::domain::TokenUsage)) -> String) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for entry in rig.ledger.lock().unwrap().iter() {
        *sums.entry(key(entry)).or_default() += entry.2.total();
    }
    sums
}

fn tokens(ran: &Ran, field: &str) -> BTreeMap<String, u64> {
    ran.spent_by(field).into_iter().map(|(key, spend)| (key, spend.usage.total())).collect()
}

async fn status(rig: &Rig) -> Value {
    let ran = rig.run(&["status", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l9_the_sums_equal_the_servers_by_member_model_task_and_team() {
    let rig = Rig::with("[team.models]\ntester = \"small\"", crew).await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(tokens(&ran, "name"), totals(&rig, |(who, _, _)| who.clone()));
    assert_eq!(tokens(&ran, "model"), totals(&rig, |(_, model, _)| model.clone()));
    assert!(tokens(&ran, "model").contains_key("small"));
    // A member's call that claims to complete a task is the task's: 520 tokens each.
    let by_task = tokens(&ran, "task");
    assert!((1..=3).all(|task| by_task.get(&task.to_string()).is_some_and(|spent| *spent >= 520)), "{by_task:?}");
    let team: u64 = totals(&rig, |_| String::new()).into_values().sum();
    let status = status(&rig).await;
    assert_eq!((status["tokens"].as_u64(), status["cost_is_complete"].as_bool()), (Some(team), Some(false)), "unknown prices stay unknown");
    assert!(ran.of_kind("usage_added").iter().all(|e| e["cost"].is_null()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prices_from_the_settings_make_the_cost() {
    let rig = Rig::with("[prices.\"m\"]\ninput = 2.0\noutput = 10.0", crew).await;
    let ran = rig.run(&["run", "do it", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let expected: f64 =
        rig.ledger.lock().unwrap().iter().map(|(_, _, usage)| (usage.input as f64 * 2.0 + usage.output as f64 * 10.0) / 1e6).sum();
    let status = status(&rig).await;
    let cost = status["cost"].as_f64().unwrap();
    assert!((cost - expected).abs() < 1e-9 && status["cost_is_complete"] == true, "{cost} for {expected}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l9_compactions_and_retries_count_and_a_failed_try_costs_nothing() {
    let tries = AtomicUsize::new(0);
    let rig = Rig::new(move |asked| match (asked.who.as_str(), asked.nth) {
        ("summary", _) => say("Short.").costs(700, 70),
        (_, 1) => other(Reply::error(500, "try again")),
        (_, 2) => call("task_list", json!({})).costs(900, 10),
        _ if tries.fetch_add(1, Ordering::SeqCst) == 0 => other(Reply::error(400, "context_length_exceeded: the prompt is too long")),
        _ => say("Done.").costs(300, 3),
    })
    .await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert_eq!(ran.code, 0, "{ran:?}");
    let team: u64 = totals(&rig, |_| String::new()).into_values().sum();
    assert_eq!(team, 900 + 10 + 700 + 70 + 300 + 3);
    assert_eq!(tokens(&ran, "name"), BTreeMap::from([("lead".to_owned(), team)]));
    assert_eq!(status(&rig).await["tokens"].as_u64(), Some(team));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_counts_absurdly_many_tokens_crashes_nobody() {
    const HUGE: u64 = u64::MAX - 1;
    let rig = Rig::new(|asked| match asked.nth {
        1 => call("task_list", json!({})).costs(HUGE, HUGE),
        _ => say("Done.").costs(HUGE, HUGE),
    })
    .await;
    let ran = rig.run(&["run", "go", "--json"]).await;
    assert!(!ran.out.contains("panic") && !ran.of_kind("finished").is_empty(), "{ran:?}");
    assert_eq!(status(&rig).await["tokens"].as_u64(), Some(u64::MAX));
}
