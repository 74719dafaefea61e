//! Stop verbs at any moment: idle, in a model call, in a stuck command, with children that ignore TERM.

use crate::support::team::{TestTeam, scripted, settings};
use signoff::domain::*;
use std::time::{Duration, Instant};

/// A worker that runs `command` as soon as it is told anything, and refuses to shut down once.
fn script(command: &str) -> String {
    format!(
        r#"
format = 1
[[rule]]
on = "prompt"
[[rule.step]]
say = "I run it."
tool = "bash"
args = {{ command = {command:?}, timeout = 900 }}
[[rule.step]]
say = "Done."
"#
    )
}

/// A worker whose model call takes an hour.
const SLOW: &str = r#"
format = 1
[[rule]]
on = "prompt"
[[rule.step]]
say = "Let me think."
pause = "60m"
"#;

async fn worker(script: &str, speed: f64) -> (tempfile::TempDir, TestTeam) {
    let dir = tempfile::tempdir().unwrap();
    let model = signoff::llm::scripted::ScriptedModel::from_str(script, "test").unwrap().with_speed(speed);
    let team = TestTeam::open(dir.path(), std::sync::Arc::new(model), settings());
    let order = SpawnOrder { name: "bob".into(), role: "worker".into(), prompt: Some("go".into()), ..SpawnOrder::default() };
    team.human(TeamCommand::Spawn(order)).await.unwrap();
    (dir, team)
}

async fn force(team: &mut TestTeam) -> Duration {
    #[expect(clippy::disallowed_methods, reason = "a test measures real time")]
    let began = Instant::now();
    team.human(TeamCommand::ForceStop { target: "bob".into() }).await.unwrap();
    team.until_status("bob", MemberStatus::Shutdown).await;
    began.elapsed()
}

async fn until_tool(team: &mut TestTeam) {
    team.until("the command", |e| matches!(e, TeamEvent::ActivityChanged { activity: Activity::Tool { .. }, .. })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_member_answers_a_shutdown_within_100_ms() {
    let (_dir, mut team) = worker("format = 1\n[[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"hi\"\n", 0.0).await;
    team.until("rest", |e| matches!(e, TeamEvent::TurnEnded { name, .. } if name.same("bob"))).await;
    let mut best = Duration::MAX;
    #[expect(clippy::disallowed_methods, reason = "a test measures real time")]
    let began = Instant::now();
    team.human(TeamCommand::RequestShutdown { target: "bob".into(), reason: None }).await.unwrap();
    team.until_status("bob", MemberStatus::Shutdown).await;
    best = best.min(began.elapsed());
    // A busy machine may be slower once; the bound itself is measured by the bench. Ten times of it is a fault anywhere.
    assert!(best < Duration::from_millis(1_000), "{best:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn force_ends_a_member_in_a_model_call() {
    let (_dir, mut team) = worker(SLOW, 1.0).await;
    team.until("the call", |e| matches!(e, TeamEvent::ActivityChanged { activity: Activity::Model { .. }, .. })).await;
    let took = force(&mut team).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t13_force_ends_a_member_in_a_stuck_sleep() {
    let (_dir, mut team) = worker(&script("sleep 600"), 0.0).await;
    until_tool(&mut team).await;
    let took = force(&mut team).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn force_ends_children_that_ignore_term_and_leaves_none() {
    let dir_marker = format!("{}", 600_000 + std::process::id());
    let command = format!("trap '' TERM; (trap '' TERM; sleep {dir_marker}) & echo up; while :; do sleep 1; done");
    let (_dir, mut team) = worker(&script(&command), 0.0).await;
    until_tool(&mut team).await;
    let took = force(&mut team).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    team.close().await;
    let mark = format!("sleep\0{dir_marker}\0");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let left = processes.filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(|line| line.ends_with(mark.as_bytes()))).count();
    assert_eq!(left, 0, "processes are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_ends_the_turn_and_the_member_stays() {
    let (_dir, mut team) = worker(&script("sleep 600"), 0.0).await;
    until_tool(&mut team).await;
    team.human(TeamCommand::Interrupt { target: "bob".into() }).await.unwrap();
    team.until("rest", |e| matches!(e, TeamEvent::TurnEnded { name, outcome } if name.same("bob") && outcome == "interrupted")).await;
    let (entries, _) = team.store.transcript(&MemberName::parse("bob").unwrap()).unwrap();
    let replayed = signoff::protocol::replay::replay(&entries);
    assert!(replayed.repairs.is_empty(), "every call has its result: {:?}", replayed.repairs);
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_ends_everybody_and_frees_the_lock() {
    let (dir, mut team) = worker(&script("sleep 600"), 0.0).await;
    until_tool(&mut team).await;
    team.close().await;
    let again = TestTeam::open(dir.path(), scripted("format = 1"), settings());
    let listed = again.human(TeamCommand::ListMembers).await.unwrap();
    let Reply::Members(members) = listed else { panic!("{listed:?}") };
    assert!(members.iter().all(|(m, _)| m.name.is_lead() || !m.status.is_live()));
    again.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_ends_without_a_word_has_its_reason_in_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\nfor = \"bob\"\non = \"prompt\"\n[[rule.step]]\ntool = \"bash\"\nargs = { command = \"until test -e go; do sleep 0.02; done\" }\n\
        [[rule.step]]\nsay = \"on I go\"\ntool = \"bash\"\nargs = { command = \"true\" }\n\
        [[rule]]\non = \"shutdown_request\"\nclears = true\n[[rule.step]]\ntool = \"shutdown_response\"\nargs = { request_id = \"{shutdown_request_id}\", approve = true }\n";
    let mut team = TestTeam::open(dir.path(), scripted(text), settings());
    let order = SpawnOrder { name: "bob".into(), role: "worker".into(), prompt: Some("go".into()), ..SpawnOrder::default() };
    team.human(TeamCommand::Spawn(order)).await.unwrap();
    team.until("work", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::RequestShutdown { target: "bob".into(), reason: None }).await.unwrap();
    std::fs::write(dir.path().join("go"), "").unwrap();
    team.until("end", |e| matches!(e, TeamEvent::Traced { outcome, .. } if outcome == "ended: shut down on request")).await;
    team.close().await;
}
