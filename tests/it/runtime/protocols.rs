//! Protocols that choose who acts, driven with real agents on scripted words.

use crate::support::team::{TestTeam, scripted, settings};
use signoff::domain::*;

/// Two teammates that answer with their name; a lead that sends work to alice, then to bob, then ends.
const WORDS: &str = r#"
format = 1
[[rule]]
for = "lead"
on = "goal"
max = 1
[[rule.step]]
say = "assign to alice"
[[rule]]
for = "lead"
on = "goal"
max = 1
[[rule.step]]
say = "assign to bob"
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
say = "[TEAM_FINISH] both did their part"
[[rule]]
on = "prompt"
[[rule.step]]
say = "this is the part of {name}, done with care"
"#;

async fn team_of_two(dir: &std::path::Path, protocol: &str, script: &str) -> TestTeam {
    let settings = TeamSettings { protocol: protocol.into(), ..settings() };
    let mut team = TestTeam::open(dir, scripted(script), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    for name in ["alice", "bob"] {
        let order = SpawnOrder { name: name.into(), role: "coder, tester".into(), ..SpawnOrder::default() };
        team.human(TeamCommand::Spawn(order)).await.unwrap();
    }
    team
}

fn acted(team: &TestTeam) -> Vec<String> {
    let turn = |r: &std::sync::Arc<EventRecord>| match &r.event {
        TeamEvent::TurnStarted { name, cause, .. } if cause == "protocol" && !name.is_lead() => Some(name.to_string()),
        _ => None,
    };
    team.events.iter().filter_map(turn).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequential_runs_the_members_in_registration_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = team_of_two(dir.path(), "sequential", WORDS).await;
    team.goal("write the story, skip alice").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["alice", "bob"]);
    assert!(team.events.iter().any(|r| matches!(&r.event, TeamEvent::Traced { .. })), "every step is in the trace");
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    assert!(answer.messages.last().unwrap().content.contains("the part of bob"));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hierarchical_lets_the_lead_choose_by_text_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = team_of_two(dir.path(), "hierarchical", WORDS).await;
    team.goal("write the story").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["alice", "bob"], "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_driven_protocol_ends_with_a_reason_and_explains_its_steps() {
    for protocol in ["sequential", "hierarchical", "contract_net", "swarm", "a2a", "blackboard", "market_based"] {
        let dir = tempfile::tempdir().unwrap();
        let mut team = team_of_two(dir.path(), protocol, WORDS).await;
        team.goal("write the story").await;
        let (reason, _) = team.until_finished().await;
        assert!(!reason.is_empty());
        let steps = team.events.iter().filter(|r| matches!(&r.event, TeamEvent::Traced { rule, .. } if !rule.is_empty())).count();
        assert!(steps >= 2, "{protocol}: {}", team.story());
        assert!(!acted(&team).is_empty(), "{protocol}: somebody acted\n{}", team.story());
        team.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lead_may_build_the_team_first() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
format = 1
[[rule]]
for = "lead"
on = "goal"
max = 1
[[rule.step]]
say = "I need one."
tool = "spawn_teammate"
args = { name = "alice", role = "coder", prompt = "wait" }
[[rule.step]]
say = "She is there."
[[rule]]
on = "prompt"
[[rule.step]]
say = "this is the part of {name}, done with care"
"#;
    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(script), settings);
    team.goal("write the story").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert_eq!(acted(&team), ["alice"], "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_starts_nobody_is_told_as_having_worked_alone() {
    let dir = tempfile::tempdir().unwrap();
    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team =
        TestTeam::open(dir.path(), scripted("format = 1\n[[rule]]\non = \"goal\"\n[[rule.step]]\nsay = \"It is 4.\"\n"), settings);
    team.goal("what is two and two?").await;
    let end = team.until_finished().await;
    assert_eq!(end, ("the lead is done alone: no teammate was started, so sequential chose nobody".into(), true));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_goal_that_was_written_while_nobody_ran_the_team_starts_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::support::team::store_at(dir.path());
    let lead = MemberName::lead();
    let goal = Envelope::new(MessageId("m1".into()), MessageKind::Message, Party::Human, "lead", "write the story", Timestamp(1));
    store.deliver(&goal).unwrap();
    let script = "format = 1\n[[rule]]\nfor = \"lead\"\non = \"goal\"\nmax = 1\n[[rule.step]]\ntool = \"spawn_teammate\"\n\
        args = { name = \"alice\", role = \"coder\", prompt = \"wait\" }\n[[rule.step]]\nsay = \"She is there.\"\n\
        [[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"this is the part of {name}, done with care\"\n";
    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(script), settings.clone());
    let (reason, ok) = team.until_finished().await;
    assert!(ok && reason == "last stage done", "{reason}\n{}", team.story());
    team.close().await;
    let mut team = TestTeam::open(dir.path(), scripted(script), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    team.human(TeamCommand::ListMembers).await.unwrap();
    let told = format!("{:?}", team.store.transcript(&lead).unwrap().0).matches("write the story").count();
    assert_eq!(told, 1, "the goal was taken once: {}", team.story());
    team.drain();
    assert!(team.trace().iter().filter(|(_, _, outcome)| outcome == "acts").count() <= 1, "no run starts again: {}", team.story());
    team.close().await;
}
