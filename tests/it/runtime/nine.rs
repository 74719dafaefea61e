//! Each of the nine ways to work, to its end, with real agents that use the protocol's own tools.

use crate::support::team::{TestTeam, scripted, settings};
use signoff::collaboration::{Graph, NodeKind, ProtocolConfig};
use signoff::domain::*;

/// One rule for each time that somebody is told something, in this order; a step is TOML.
pub fn rules(who: &str, on: &str, steps: &[&str]) -> String {
    let rule = |step: &&str| format!("[[rule]]\nfor = \"{who}\"\non = \"{on}\"\nmax = 1\n[[rule.step]]\n{step}\n");
    steps.iter().map(rule).collect()
}

pub fn script(lead: &[&str], alice: &[&str], bob: &[&str]) -> String {
    let rest = "[[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"this is the part of {name}, done with care\"\n";
    format!("format = 1\n{}{}{}{rest}", rules("lead", "goal", lead), rules("alice", "prompt", alice), rules("bob", "prompt", bob))
}

pub async fn open(dir: &std::path::Path, protocol: &str, script: &str, config: ProtocolConfig) -> TestTeam {
    let settings = TeamSettings { protocol: protocol.into(), ..settings() };
    let mut team = TestTeam::open_with(dir, scripted(script), settings, config);
    team.until_status("lead", MemberStatus::Idle).await;
    team.spawn("alice", "coder, rust").await;
    team.spawn("bob", "tester").await;
    team
}

pub async fn run(protocol: &str, script: &str, config: ProtocolConfig) -> (TestTeam, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut team = open(&dir.keep(), protocol, script, config).await;
    team.goal("write the story").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{protocol}: {reason}\n{}", team.story());
    (team, reason)
}

pub fn acted(team: &TestTeam) -> Vec<String> {
    team.trace().into_iter().filter(|(who, _, outcome)| !who.is_empty() && outcome == "acts").map(|(who, ..)| who).collect()
}

/// The last tables that were shown, as one text.
pub fn tables(team: &TestTeam) -> String {
    let shown = team.events.iter().rev().find_map(|r| match &r.event {
        TeamEvent::ProtocolShown { sections, .. } => Some(sections.clone()),
        _ => None,
    });
    let line = |s: &Section| format!("{}\n{}", s.title, s.rows.iter().map(|row| row.join(" | ")).collect::<Vec<_>>().join("\n"));
    shown.unwrap_or_default().iter().map(line).collect::<Vec<_>>().join("\n")
}

const FINISH: &str = "say = \"\"\ntool = \"finish\"\nargs = { answer = \"the story is written\" }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequential_passes_the_output_on() {
    let (team, reason) = run("sequential", &script(&[], &[], &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("last stage done", vec!["alice".into(), "bob".into()]));
    let (entries, _) = team.store.transcript(&MemberName::parse("bob").unwrap()).unwrap();
    let told = format!("{entries:?}");
    assert!(told.contains("the part of alice"), "bob works on what alice said: {told}");
    assert!(tables(&team).contains("2 | bob | done"), "{}", tables(&team));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hierarchical_by_tools_alone() {
    let lead = [
        "tool = \"route_to\"\nargs = { agent = \"bob\", instruction = \"begin\" }",
        "tool = \"route_to\"\nargs = { agent = \"alice\" }",
        FINISH,
    ];
    let (team, reason) = run("hierarchical", &script(&lead, &[], &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("finished by the supervisor", vec!["bob".into(), "alice".into()]), "{}", team.story());
    assert!(team.trace().iter().any(|(who, rule, _)| who == "bob" && rule == "supervisor, tool"), "{:?}", team.trace());
    let answer = team.store.human_mail_after(0, 1 << 20).unwrap();
    assert_eq!(answer.messages.last().unwrap().content, "the story is written");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contract_net_takes_bids_and_awards_the_work() {
    let lead =
        ["tool = \"call_for_bids\"\nargs = { requirement = \"write rust\" }", "tool = \"route_to\"\nargs = { agent = \"alice\" }", FINISH];
    let alice = ["tool = \"submit_proposal\"\nargs = { score = 90, plan = \"I know rust\" }"];
    let (team, reason) = run("contract_net", &script(&lead, &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("finished by the supervisor", vec!["alice".into(), "bob".into(), "alice".into()]));
    let shown = tables(&team);
    assert!(shown.contains("alice | 90 | own bid | won, ran | I know rust"), "{shown}");
    assert!(shown.contains("bob | 60 | computed"), "bob gave none: {shown}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contract_net_by_text_alone() {
    let lead = ["say = \"@call_for_bids write rust\"", "say = \"alice\"", "say = \"[TEAM_FINISH] written\""];
    let alice = ["say = '@submit_proposal score 80: I know rust'"];
    let (team, reason) = run("contract_net", &script(&lead, &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!(reason, "finished by the supervisor");
    assert_eq!(acted(&team).last().map(String::as_str), Some("alice"), "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swarm_works_the_pool_off() {
    let alice = [
        "tool = \"emerge_tasks\"\nargs = { tasks = [{ task = \"test it\", agent = \"bob\" }, { task = \"describe it\" }] }\n[[rule.step]]\nsay = \"two things emerged\"",
    ];
    let (team, reason) = run("swarm", &script(&[FINISH], &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!(reason, "finished by the supervisor");
    assert_eq!(acted(&team)[..2], ["alice".to_owned(), "bob".into()], "its tag comes first");
    assert_eq!(acted(&team).len(), 3, "{}", team.story());
    assert!(tables(&team).contains("Task pool (0 open)"), "{}", tables(&team));
    assert!(tables(&team).contains("Pheromones"));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a2a_hands_over_with_a_memo_and_the_lead_closes() {
    let alice = ["tool = \"transfer_to\"\nargs = { target = \"bob\", memo = \"chapter two is yours\" }"];
    let (team, reason) = run("a2a", &script(&["say = \"closed, all is written\""], &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("finished by the supervisor", vec!["alice".into(), "bob".into()]), "{}", team.story());
    assert!(tables(&team).contains("1 | alice | bob | chapter two is yours"), "{}", tables(&team));
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blackboard_ends_with_no_open_todo() {
    let lead = [
        "tool = \"sync_to_blackboard\"\nargs = { todo = [\"write the end\"] }\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"alice\" }",
        FINISH,
    ];
    let alice = [
        "tool = \"sync_to_blackboard\"\nargs = { completed_todo = [\"1\"], state = { chapters = \"3\" } }\n[[rule.step]]\nsay = \"the end is written\"",
    ];
    let (team, reason) = run("blackboard", &script(&lead, &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("finished by the supervisor", vec!["alice".into()]), "{}", team.story());
    let shown = tables(&team);
    assert!(shown.contains("chapters | 1 | alice | 3") && shown.contains("1 | done by alice | write the end"), "{shown}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn market_keeps_its_prices_beyond_the_run() {
    let lead = ["tool = \"route_to\"\nargs = { agent = \"bob\" }", FINISH, "say = \"assign to bob\"", "say = \"[TEAM_FINISH] again\""];
    let (mut team, reason) = run("market_based", &script(&lead, &[], &[]), ProtocolConfig::default()).await;
    assert_eq!((reason.as_str(), acted(&team)), ("finished by the supervisor", vec!["bob".into()]), "{}", team.story());
    assert!(tables(&team).contains("Market: the lead chooses"), "{}", tables(&team));
    assert!(team.dir.join("team/market.json").is_file());
    team.goal("once more").await;
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}");
    let bob = tables(&team).lines().rfind(|line| line.starts_with("bob | ")).unwrap().to_owned();
    assert!(bob.contains("| 2 |"), "two runs of bob are in the book: {bob}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_with_a_graph_of_ones_own_follows_it() {
    let graph = Graph::default().node("start", NodeKind::Start).member(&MemberName::parse("bob").unwrap()).node("end", NodeKind::End);
    let graph = graph.edge("start", "bob").edge("bob", "end");
    let config = ProtocolConfig { graph: Some(graph), ..ProtocolConfig::default() };
    let (team, reason) = run("none", &script(&[], &[], &[]), config).await;
    assert_eq!((reason.as_str(), acted(&team)), ("end \"end\" reached", vec!["bob".into()]), "{}", team.story());
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_without_a_graph_leaves_the_work_to_the_person() {
    let dir = tempfile::tempdir().unwrap();
    let mut team =
        open(dir.path(), "none", "format = 1\n[[rule]]\non = \"mail\"\n[[rule.step]]\nsay = \"I heard you\"\n", ProtocolConfig::default())
            .await;
    team.human(TeamCommand::Send { to: "bob".into(), content: "write".into() }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok, "{reason}");
    let trace = team.trace();
    assert!(trace.iter().any(|(who, rule, outcome)| who == "bob" && rule == "mail from human" && outcome == "I heard you"), "{trace:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn autonomous_tells_in_its_trace_what_each_turn_was_for() {
    let dir = tempfile::tempdir().unwrap();
    let worker = "format = 1\n[[rule]]\non = \"claimed\"\n[[rule.step]]\ntool = \"task_update\"\nargs = { task_id = \"{task_id}\", status = \"completed\" }\n[[rule.step]]\nsay = \"Done.\"\n";
    let mut team = open(dir.path(), "autonomous", worker, ProtocolConfig::default()).await;
    team.human(TeamCommand::CreateTask { subject: "a".into(), description: String::new(), blocked_by: vec![] }).await.unwrap();
    let (reason, ok) = team.until_finished().await;
    assert!(ok && reason == "the one task is completed", "{reason}");
    let trace = team.trace();
    assert!(trace.iter().any(|(_, rule, outcome)| rule == "claimed task #1" && outcome == "Done."), "{trace:?}");
    team.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_goal_that_comes_while_the_lead_starts_is_the_runs_and_no_ordinary_mail() {
    for _ in 0..20 {
        let (team, reason) = run("sequential", &script(&["say = \"I am not asked\""], &[], &[]), ProtocolConfig::default()).await;
        assert_eq!(reason, "last stage done");
        let lead = MemberName::lead();
        let mine = |r: &std::sync::Arc<EventRecord>| matches!(&r.event, TeamEvent::TurnStarted { name, .. } if *name == lead);
        assert!(!team.events.iter().any(mine), "{}", team.story());
        team.close().await;
    }
}
