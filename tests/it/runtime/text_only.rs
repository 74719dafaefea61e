//! Each supervised way to work, driven by models that call no tool at all: what they write is read.

use super::nine::{acted, run, script, tables};
use signoff::collaboration::{Choice, ProtocolConfig};

async fn by_text(protocol: &str, lead: &[&str], alice: &[&str]) -> (Vec<String>, String) {
    let said = |lines: &[&str]| lines.iter().map(|line| format!("say = '''{line}'''")).collect::<Vec<_>>();
    let (lead, alice) = (said(lead), said(alice));
    let [lead, alice] = [&lead, &alice].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (team, reason) = run(protocol, &script(&lead, &alice, &[]), ProtocolConfig::default()).await;
    assert_eq!(reason, "finished by the supervisor", "{protocol}: {}", team.story());
    assert!(!team.story().contains("tool_started"), "{protocol}: no tool was called");
    let out = (acted(&team), tables(&team));
    team.close().await;
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swarm() {
    let alice = [r#"@emerge_tasks {"tasks": [{"task": "test it", "agent": "bob"}, {"task": "describe it"}]}"#];
    let (acted, shown) = by_text("swarm", &["[TEAM_FINISH] all is done"], &alice).await;
    assert_eq!((&acted[..2], acted.len()), (&["alice".to_owned(), "bob".into()][..], 3));
    assert!(shown.contains("Task pool (0 open)"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a2a() {
    let alice = [r#"@transfer_to {"target": "bob", "memo": "chapter two is yours"}"#];
    let (acted, shown) = by_text("a2a", &["[TEAM_FINISH] all is written"], &alice).await;
    assert_eq!(acted, ["alice", "bob"]);
    assert!(shown.contains("1 | alice | bob | chapter two is yours"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blackboard() {
    let lead = [r#"@sync_to_blackboard {"todo": ["write the end"]}"#, "alice", "[TEAM_FINISH] written"];
    let alice = [r#"@sync_to_blackboard {"completed_todo": ["1"], "state": {"chapters": "3"}}
the end is written"#];
    let (acted, shown) = by_text("blackboard", &lead, &alice).await;
    assert_eq!(acted.last().map(String::as_str), Some("alice"));
    assert!(shown.contains("chapters | 1 | alice | 3") && shown.contains("1 | done by alice | write the end"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn market_based() {
    let (acted, shown) = by_text("market_based", &["bob shall do it", "[TEAM_FINISH] sold"], &[]).await;
    assert_eq!(acted, ["bob"]);
    assert!(shown.contains("Market: the lead chooses"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn market_based_where_a_rule_awards() {
    for choice in [Choice::Roi, Choice::Budget] {
        let config = ProtocolConfig { choice, ..ProtocolConfig::default() };
        let (team, reason) = run("market_based", &script(&["say = '[TEAM_FINISH] sold'"], &[], &[]), config).await;
        assert!(!acted(&team).is_empty() && !reason.is_empty(), "{choice:?}: {}", team.story());
        team.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hierarchical() {
    let (acted, _) = by_text("hierarchical", &["bob: begin", "alice", "[TEAM_FINISH] the story is written"], &[]).await;
    assert_eq!(acted, ["bob", "alice"]);
}
