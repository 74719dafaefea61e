//! The rules around a run: held steps, tools out of turn, members that leave and come, stopping, taking up.

use super::nine::{open, script};
use crate::support::team::{TestTeam, scripted, settings};
use signoff::collaboration::ProtocolConfig;
use signoff::domain::*;

fn none() -> ProtocolConfig {
    ProtocolConfig::default()
}

fn has(team: &TestTeam, who: &str, rule: &str) -> bool {
    team.trace().iter().any(|(name, found, _)| name == who && found.contains(rule))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_plan_is_what_the_held_step_goes_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\nfor = \"alice\"\non = \"prompt\"\n[[rule.step]]\ntool = \"plan_approval\"\nargs = { plan = \"write it quickly\" }\n\
        [[rule]]\nfor = \"alice\"\non = \"verdict\"\n[[rule.step]]\nsay = \"carried out: {plan}\"\n\
        [[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"the part of {name}\"\n";
    let mut team = open(dir.path(), "sequential", text, none()).await;
    team.goal("write the story").await;
    let request = team.until_request(RequestKind::Plan).await;
    let verdict = Verdict::Approve { note: None, edited: Some("write it slowly".into()), always: false };
    team.decide(&request, verdict).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert!(has(&team, "alice", "held") && has(&team, "alice", "released"), "{:?}", team.trace());
    let trace = team.trace();
    let stage = trace.iter().find(|(who, rule, outcome)| who == "alice" && rule.starts_with("stage 1") && outcome != "acts");
    assert_eq!(stage.unwrap().2, "carried out: write it slowly", "no retry was used: {trace:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_holds_the_step() {
    let dir = tempfile::tempdir().unwrap();
    let alice = ["tool = \"bash\"\nargs = { command = \"echo hi\" }\n[[rule.step]]\nsay = \"it said hi\""];
    let ask = settings::Permissions { commands: settings::Access::Ask, ..settings::Permissions::default() };
    let settings = TeamSettings { protocol: "sequential".into(), permissions: ask, ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(&script(&[], &alice, &[])), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    team.spawn("alice", "coder").await;
    team.goal("say hi").await;
    let request = team.until_request(RequestKind::Permission).await;
    team.until("hold", |e| matches!(e, TeamEvent::Traced { rule, .. } if rule == "held")).await;
    team.decide(&request, Verdict::Approve { note: None, edited: None, always: false }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok && has(&team, "alice", "released"), "{reason}\n{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_out_of_turn_say_whose_turn_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let lead = [
        "tool = \"finish\"\nargs = { answer = \"too soon\" }\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"carol\" }\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"alice\" }",
        "say = \"[TEAM_FINISH] done\"",
    ];
    let alice = ["tool = \"route_to\"\nargs = { agent = \"bob\" }\n[[rule.step]]\nsay = \"I may not\""];
    let mut team = open(dir.path(), "hierarchical", &script(&lead, &alice, &[]), none()).await;
    team.goal("write").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    let said = |tool: &str, text: &str| {
        team.events
            .iter()
            .any(|r| matches!(&r.event, TeamEvent::ToolFinished { tool: t, ok: false, output, .. } if t == tool && output.contains(text)))
    };
    assert!(said("finish", "no member has acted yet"), "{}", team.story());
    assert!(said("route_to", "there is no member \"carol\""), "{}", team.story());
    assert!(said("route_to", "route_to is not offered to you now"), "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_protocols_tool_without_a_run_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\nfor = \"lead\"\non = \"goal\"\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"bob\" }\n[[rule.step]]\nsay = \"ok\"\n";
    let mut team = TestTeam::open(dir.path(), scripted(text), settings());
    team.goal("write").await;
    team.until(
        "refusal",
        |e| matches!(e, TeamEvent::ToolFinished { ok: false, output, .. } if output.contains("a protocol that is not running")),
    )
    .await;
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_stopped_in_its_stage_is_told_as_failed_and_the_line_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let alice = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &alice, &[]), none()).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::ForceStop { target: "alice".into() }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert_eq!((reason.as_str(), ok), ("last stage reached, with FAILED stages", false), "{}", team.story());
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    let content = &answer.messages.last().unwrap().content;
    assert!(content.contains("the part of bob") && content.contains("alice FAILED"), "{content}");
    let said = |(who, _, outcome): &(String, String, String)| who == "alice" && outcome.contains("left the team: stopped by human");
    assert!(team.trace().iter().any(said) && content.contains("stopped by human"), "the reason is told: {:?} {content}", team.trace());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_step_waits_for_the_persons_word() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\nfor = \"alice\"\non = \"prompt\"\n[[rule.step]]\ntool = \"bash\"\nargs = { command = \"sleep 60\" }\n\
        [[rule]]\nfor = \"alice\"\non = \"mail\"\n[[rule.step]]\nsay = \"then I do it otherwise\"\n\
        [[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"the part of {name}\"\n";
    let mut team = open(dir.path(), "sequential", text, none()).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::Interrupt { target: "alice".into() }).await.unwrap();
    team.until("notice", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("its step waits"))).await;
    team.human(TeamCommand::Send { to: "alice".into(), content: "do it without sleeping".into() }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    let trace = team.trace();
    assert!(trace.iter().any(|(who, _, outcome)| who == "alice" && outcome == "then I do it otherwise"), "{trace:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_teammate_spawned_during_the_run_joins_it() {
    let dir = tempfile::tempdir().unwrap();
    let lead = [
        "say = \"assign to alice\"",
        "tool = \"spawn_teammate\"\nargs = { name = \"carol\", role = \"writer\", prompt = \"you like commas\" }\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"carol\" }",
        "say = \"[TEAM_FINISH] done\"",
    ];
    let mut team = open(dir.path(), "hierarchical", &script(&lead, &[], &[]), none()).await;
    team.goal("write").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok && has(&team, "carol", "supervisor, tool"), "{reason}\n{}", team.story());
    let (entries, _) = team.store.transcript(&MemberName::parse("carol").unwrap()).unwrap();
    assert!(format!("{entries:?}").contains("you like commas"), "her first instruction stands before her first step");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn max_turns_ends_a_run_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let settings = TeamSettings { protocol: "hierarchical".into(), max_turns: 2, ..settings() };
    let lead = ["say = \"assign to alice\"", "say = \"assign to bob\"", "say = \"assign to alice\""];
    let mut team = TestTeam::open(dir.path(), scripted(&script(&lead, &[], &[])), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    team.spawn("alice", "coder").await;
    team.spawn("bob", "coder").await;
    team.goal("write").await;
    assert_eq!(team.until_finished().await, ("max_turns (2) reached".to_owned(), false));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_is_the_last_event_of_a_run() {
    for protocol in ["sequential", "hierarchical", "contract_net"] {
        let dir = tempfile::tempdir().unwrap();
        let lead = ["say = \"assign to alice\"", "say = \"assign to alice\"", "say = \"[TEAM_FINISH] done\""];
        let mut team = open(dir.path(), protocol, &script(&lead, &[], &[]), none()).await;
        team.goal("write").await;
        team.until_finished().await;
        // Each answer comes after everything that was under way before it.
        for _ in 0..50 {
            team.human(TeamCommand::ListMembers).await.unwrap();
            tokio::task::yield_now().await;
        }
        let later = team.drain();
        assert!(later.is_empty(), "{protocol}: {later:?}");
        team.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_the_team_ends_the_run_and_is_told_last() {
    let dir = tempfile::tempdir().unwrap();
    let alice = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &alice, &[]), none()).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::StopTeam { now: true }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert_eq!((reason.as_str(), ok), ("stopped by human", false));
    let ends = team.events.iter().filter(|r| matches!(r.event, TeamEvent::Finished { .. })).count();
    assert_eq!(ends, 1, "{}", team.story());
    let down = |name: &str| {
        team.events.iter().any(|r| matches!(&r.event, TeamEvent::MemberChanged { member, .. } if member.name.same(name) && member.status == MemberStatus::Shutdown))
    };
    assert!(down("alice") && down("bob") && down("lead"), "everybody had stopped before the end was told");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_after_the_person_left_and_came_back() {
    let dir = tempfile::tempdir().unwrap();
    let slow = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &[], &slow), none()).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::StopTeam { now: true }).await.unwrap();
    team.until_finished().await;
    team.close().await;

    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(&script(&[], &[], &[])), settings);
    team.until("notice", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("a run was interrupted"))).await;
    team.human(TeamCommand::Resume { target: "all".into() }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert!(has(&team, "bob", "resume"), "{:?}", team.trace());
    let first = team.trace().iter().filter(|(name, _, outcome)| name == "alice" && outcome.contains("done with care")).count();
    assert_eq!(first, 1, "the stage that was done is not done again: {:?}", team.trace());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_on_after_an_abrupt_end_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let slow = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &[], &slow), none()).await;
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.crash().await;

    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(&script(&[], &[], &[])), settings);
    team.until("notice", |e| matches!(e, TeamEvent::Noticed { text, .. } if text.contains("a run was interrupted"))).await;
    for name in ["alice", "bob"] {
        team.human(TeamCommand::Resume { target: name.into() }).await.unwrap();
    }
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    assert!(has(&team, "bob", "resume"), "{:?}", team.trace());
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    assert!(answer.messages.last().unwrap().content.contains("the part of bob"));
    let turn = |r: &std::sync::Arc<EventRecord>| matches!(&r.event, TeamEvent::TurnStarted { name, .. } if name.is_lead());
    assert!(!team.events.iter().any(turn), "the goal is the run's, not mail that the lead finds later: {}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_goal_gives_an_interrupted_run_up() {
    let dir = tempfile::tempdir().unwrap();
    let slow = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &slow, &[]), none()).await;
    team.goal("the old goal").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.crash().await;

    let settings = TeamSettings { protocol: "sequential".into(), ..settings() };
    let mut team = TestTeam::open(dir.path(), scripted(&script(&[], &[], &[])), settings);
    team.until_status("lead", MemberStatus::Idle).await;
    team.human(TeamCommand::Resume { target: "bob".into() }).await.unwrap();
    team.goal("the new goal").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    let (entries, _) = team.store.transcript(&MemberName::parse("bob").unwrap()).unwrap();
    assert!(format!("{entries:?}").contains("the new goal"));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_goal_starts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut team = open(dir.path(), "sequential", &script(&[], &[], &[]), none()).await;
    assert!(team.human(TeamCommand::Send { to: "lead".into(), content: "  ".into() }).await.is_err());
    team.human(TeamCommand::ListMembers).await.unwrap();
    assert!(!team.drain().iter().any(|r| matches!(r.event, TeamEvent::Traced { .. })));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_protocol_does_not_change_while_a_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let text = "format = 1\n[[rule]]\non = \"prompt\"\n[[rule.step]]\ntool = \"plan_approval\"\nargs = { plan = \"p\" }\n";
    let mut team = open(dir.path(), "sequential", text, none()).await;
    team.goal("write").await;
    team.until_request(RequestKind::Plan).await;
    team.until("hold", |e| matches!(e, TeamEvent::TurnEnded { name, .. } if name.same("alice"))).await;
    let refused = team.human(TeamCommand::SetProtocol { name: "a2a".into() }).await.unwrap_err();
    assert!(refused.to_string().contains("a run goes on"), "{refused}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_the_person_ends_leaves_the_team_ready_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let alice = ["tool = \"bash\"\nargs = { command = \"sleep 60\" }"];
    let mut team = open(dir.path(), "sequential", &script(&[], &alice, &[]), none()).await;
    let nothing = team.human(TeamCommand::EndRun).await.unwrap_err().to_string();
    assert!(nothing.contains("no run goes on"), "{nothing}");
    team.goal("write").await;
    team.until("sleep", |e| matches!(e, TeamEvent::ToolStarted { tool, .. } if tool == "bash")).await;
    team.human(TeamCommand::EndRun).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert_eq!((reason.as_str(), ok), ("the run was ended by you", false), "{}", team.story());
    team.until_status("alice", MemberStatus::Idle).await;
    assert!(team.trace().iter().any(|(_, rule, outcome)| rule.starts_with("end") && outcome == "stopped"), "{:?}", team.trace());
    team.goal("write it again").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}\n{}", team.story());
    team.close().await;
}
