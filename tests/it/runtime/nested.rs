//! Teams within the team, as the settings declare them, with real agents.

use super::nine::{acted, script};
use crate::support::team::{TestTeam, scripted, settings};
use signoff::domain::settings::NestedTeam;
use signoff::domain::*;
use std::path::Path;

fn with_reviewers(protocol: &str, inner: &str, max_turns: u32) -> TeamSettings {
    let reviewers = NestedTeam { protocol: inner.into(), members: vec!["alice".into(), "bob".into()], max_turns };
    TeamSettings { protocol: protocol.into(), teams: [("reviewers".into(), reviewers)].into(), ..settings() }
}

async fn open(dir: &Path, settings: TeamSettings, script: &str) -> TestTeam {
    let mut team = TestTeam::open(dir, scripted(script), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    for (name, role) in [("carol", "author"), ("alice", "coder"), ("bob", "tester")] {
        team.spawn(name, role).await;
    }
    team
}

fn rule_of(team: &TestTeam, who: &str) -> String {
    team.trace().into_iter().find(|(name, _, outcome)| name == who && outcome == "acts").map(|(_, rule, _)| rule).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_team_is_a_stage_and_asks_the_one_lead_whom_to_choose() {
    let dir = tempfile::tempdir().unwrap();
    let lead = ["tool = \"route_to\"\nargs = { agent = \"bob\" }", "tool = \"finish\"\nargs = { answer = \"reviewed\" }"];
    let mut team = open(dir.path(), with_reviewers("sequential", "hierarchical", 0), &script(&lead, &[], &[])).await;
    team.goal("write the story").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["carol", "reviewers", "bob"], "{:?}", team.trace());
    assert!(rule_of(&team, "bob").starts_with("reviewers / "), "{:?}", team.trace());
    let (entries, _) = team.store.transcript(&MemberName::parse("bob").unwrap()).unwrap();
    assert!(format!("{entries:?}").contains("the part of carol"), "the team works on what the stage before it said: {entries:?}");
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    assert!(answer.messages.last().unwrap().content.contains("reviewed"), "the team's answer is the stage's");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lead_chooses_a_team_like_a_member() {
    let dir = tempfile::tempdir().unwrap();
    let lead = ["say = \"assign to reviewers\"", "say = \"[TEAM_FINISH] all is well\""];
    let mut team = open(dir.path(), with_reviewers("hierarchical", "sequential", 0), &script(&lead, &[], &[])).await;
    team.goal("look at it").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok && reason == "finished by the supervisor", "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["reviewers", "alice", "bob"], "{:?}", team.trace());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_vanishes_in_a_team_fails_the_team_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let alice = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), with_reviewers("sequential", "sequential", 0), &script(&[], &alice, &[])).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::ForceStop { target: "alice".into() }).await.unwrap();
    let (reason, _) = team.until_finished().await;
    let trace = team.trace();
    assert!(trace.iter().any(|(who, rule, _)| who == "alice" && rule.starts_with("reviewers / ")), "{reason}: {trace:?}");
    assert!(acted(&team).contains(&"bob".into()), "the rest of the team goes on: {trace:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_goes_on_inside_a_team() {
    let dir = tempfile::tempdir().unwrap();
    let bob = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let settings = with_reviewers("sequential", "sequential", 0);
    let mut team = open(dir.path(), settings.clone(), &script(&[], &[], &bob)).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.crash().await;

    let mut team = TestTeam::open(dir.path(), scripted(&script(&[], &[], &[])), settings);
    team.until(
        "notice",
        |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("a run was interrupted") && text.contains("bob")),
    )
    .await;
    for name in ["alice", "bob", "carol"] {
        team.human(TeamCommand::Resume { target: name.into() }).await.unwrap();
    }
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["carol", "reviewers", "alice", "bob"], "who was done does nothing twice");
    assert!(team.trace().iter().any(|(who, rule, _)| who == "bob" && rule == "reviewers / resume"), "{:?}", team.trace());
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    assert!(answer.messages.last().unwrap().content.contains("the part of bob"));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_late_is_in_the_declared_team_from_the_next_run_on() {
    let dir = tempfile::tempdir().unwrap();
    let carol = "[[rule]]\nfor = \"carol\"\non = \"prompt\"\nmax = 1\n[[rule.step]]\ntool = \"plan_approval\"\nargs = { plan = \"p\" }\n";
    let text = script(&[], &[], &[]).replacen("format = 1\n", &format!("format = 1\n{carol}"), 1);
    let mut team = TestTeam::open(dir.path(), scripted(&text), with_reviewers("sequential", "sequential", 0));
    team.until_status("lead", MemberStatus::Idle).await;
    team.spawn("carol", "author").await;
    team.spawn("alice", "coder").await;
    team.goal("write").await;
    let request = team.until_request(RequestKind::Plan).await;
    team.spawn("bob", "tester").await;
    team.decide(&request, Verdict::Approve { note: None, edited: None, always: false }).await.unwrap();
    team.until_finished().await;
    assert!(!acted(&team).contains(&"bob".into()), "{:?}", team.trace());
    team.drain();
    team.goal("once more").await;
    team.until_finished().await;
    assert!(acted(&team).ends_with(&["bob".into()]), "{:?}", team.trace());
    team.close().await;
}
