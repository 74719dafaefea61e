//! The protocol step by step on the screen, for each of them: events of a real engine, drawn. Every snapshot is looked at
//! by a person before it is kept.

use super::harness::{START, Screen, member_name};
use signoff::app::overlay::DetailKind;
use signoff::collaboration::grouping::{self, Teams};
use signoff::collaboration::{
    ArgValue, Choice, Directive, Engine, EngineConfig, Graph, Input, MemberCard, NodeKind, ProtocolConfig, build,
};
use signoff::domain::settings::NestedTeam;
use signoff::domain::{Activity, MemberName, MemberStatus, TeamCommand, TeamEvent};
use std::sync::Arc;

fn tool(by: &str, tool: &str, arguments: &[(&str, ArgValue)]) -> Input {
    let arguments = arguments.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Input::ProtocolToolCalled { by: MemberName::parse(by).unwrap(), tool: tool.into(), arguments }
}

fn text(words: &str) -> ArgValue {
    ArgValue::Text(words.into())
}

fn ended(who: &str, output: &str) -> Input {
    Input::MemberEnded { name: member_name(who), output: output.into(), error: None, duration_ms: 12_400, cost: Some(0.02), tokens: 900 }
}

fn said(words: &str) -> Input {
    Input::SupervisorAnswered { text: words.into() }
}

fn list(items: &[&str]) -> ArgValue {
    ArgValue::List(items.iter().map(|item| text(item)).collect())
}

fn object(pairs: &[(&str, &str)]) -> ArgValue {
    ArgValue::Map(pairs.iter().map(|(key, value)| ((*key).to_owned(), text(value))).collect())
}

/// Feeds an engine and shows what it says, as the driver does.
fn play(screen: &mut Screen, protocol: &str, config: ProtocolConfig, inputs: Vec<Input>) {
    play_with(screen, protocol, config, &Teams::new(), inputs);
}

fn play_with(screen: &mut Screen, protocol: &str, config: ProtocolConfig, teams: &Teams, inputs: Vec<Input>) {
    screen.open_team();
    screen.event(TeamEvent::ProtocolChanged { name: protocol.into() });
    screen.member("lead", "lead", MemberStatus::Idle, Activity::Nothing { since: START });
    let cards: Vec<MemberCard> = [("alice", "coder, rust"), ("bob", "tester"), ("carol", "writer")]
        .into_iter()
        .map(|(name, role)| {
            screen.member(name, role, MemberStatus::Idle, Activity::Nothing { since: START });
            let words: Vec<&str> = role.split(", ").collect();
            MemberCard::new(member_name(name), role).able(&words)
        })
        .collect();
    let cards = grouping::group(cards, teams);
    let mut engine = Engine::new(build(protocol, config).unwrap(), cards, EngineConfig::default()).unwrap();
    let graph = engine.shown_graph();
    let mut shown = Some(Arc::new(graph.clone()));
    for input in std::iter::once(Input::Prompt("write the story".into())).chain(inputs) {
        screen.wait(2_000);
        for directive in engine.handle(input.clone(), screen.now).unwrap_or_else(|e| panic!("{protocol}: {input:?}: {e}")) {
            match directive {
                Directive::Trace(r) => {
                    let nested: String = r.team.iter().map(|name| format!("{name} / ")).collect();
                    let (step, who, rule, outcome, millis) = (r.step, r.who, nested + &r.rule, r.outcome, r.duration_ms);
                    screen.event(TeamEvent::Traced { step, who, rule, outcome, millis });
                }
                Directive::Ended { reason, ok, .. } => {
                    screen.event(TeamEvent::Finished { reason, ok });
                }
                Directive::RunMember { .. } | Directive::AskSupervisor { .. } | Directive::ToolReply { .. } | Directive::Snapshot => {}
            }
        }
        screen.event(TeamEvent::ProtocolShown { graph: shown.take(), marks: engine.marks(&graph), sections: engine.view() });
    }
}

/// A protocol with its settings and what happens.
fn scene(protocol: &str) -> (ProtocolConfig, Vec<Input>) {
    let route = |who: &str| vec![tool("lead", "route_to", &[("agent", text(who)), ("instruction", text("do your part"))]), said("")];
    let mut config = ProtocolConfig::default();
    let inputs = match protocol {
        "sequential" => {
            vec![ended("alice", ""), ended("alice", "chapter one is in story.md"), Input::MemberHeld { name: member_name("bob") }]
        }
        "hierarchical" => [
            route("alice"),
            vec![ended("alice", "chapter one is in story.md")],
            route("bob"),
            vec![Input::failed(&member_name("bob"), "the check is red")],
            route("carol"),
        ]
        .concat(),
        "contract_net" => [
            vec![tool("lead", "call_for_bids", &[("requirement", text("write it in rust"))]), said("")],
            vec![
                tool("alice", "submit_proposal", &[("score", ArgValue::Number(90.0)), ("plan", text("with iterators"))]),
                ended("alice", ""),
            ],
            vec![ended("bob", "I pass"), ended("carol", "")],
            route("alice"),
        ]
        .concat(),
        "swarm" => vec![
            tool(
                "alice",
                "emerge_tasks",
                &[(
                    "tasks",
                    ArgValue::List(vec![object(&[("task", "test the ending"), ("agent", "bob")]), object(&[("task", "find a title")])]),
                )],
            ),
            ended("alice", "the outline is there"),
        ],
        "a2a" => vec![
            tool(
                "alice",
                "transfer_to",
                &[("target", text("carol")), ("memo", text("chapter two is yours")), ("state", text("hero: Ada"))],
            ),
            ended("alice", "chapter one is done"),
        ],
        "blackboard" => [
            vec![tool("lead", "sync_to_blackboard", &[("todo", list(&["write the end", "find a title"]))])],
            route("alice"),
            vec![
                tool(
                    "alice",
                    "sync_to_blackboard",
                    &[("completed_todo", list(&["1"])), ("state", object(&[("hero", "Ada"), ("chapters", "3")]))],
                ),
                ended("alice", "the end is written"),
            ],
            route("carol"),
        ]
        .concat(),
        "market_based" => {
            config.choice = Choice::Roi;
            vec![ended("alice", "chapter one is in story.md"), said("bob writes chapter two")]
        }
        "none" => {
            let graph = Graph::default().node("start", NodeKind::Start).node("split", NodeKind::Fork);
            let graph = graph.member(&member_name("alice")).member(&member_name("bob")).node("both", NodeKind::Join);
            let graph = graph.member(&member_name("carol")).node("good", NodeKind::Choice).node("end", NodeKind::End);
            let graph = graph.edge("start", "split").edge("split", "alice").edge("split", "bob").edge("alice", "both").edge("bob", "both");
            let graph = graph.edge("both", "carol").edge("carol", "good");
            let contains = signoff::collaboration::Condition::Contains("approved".into());
            let graph = graph.edge_when("good", "end", contains).edge_when("good", "split", signoff::collaboration::Condition::Otherwise);
            config.graph = Some(graph);
            vec![ended("alice", "chapter one is in story.md")]
        }
        other => panic!("no scene for {other}"),
    };
    (config, inputs)
}

#[test]
fn each_protocol_is_visible_step_by_step() {
    for protocol in ["sequential", "hierarchical", "contract_net", "swarm", "a2a", "blackboard", "market_based", "none"] {
        for (width, height) in [(80, 24), (120, 40)] {
            let mut screen = Screen::new(width, height);
            let (config, inputs) = scene(protocol);
            play(&mut screen, protocol, config, inputs);
            screen.press("T");
            insta::assert_snapshot!(format!("protocol_{protocol}_{width}x{height}"), screen.screen());
        }
    }
}

#[test]
fn a_team_within_the_team_shows_its_own_tables_and_steps() {
    let members = vec!["bob".into(), "carol".into()];
    let reviewers = NestedTeam { protocol: "hierarchical".into(), members, max_turns: 0 };
    for (width, height) in [(80, 24), (120, 40)] {
        let mut screen = Screen::new(width, height);
        let inputs = vec![
            ended("alice", "chapter one is in story.md"),
            tool("lead", "route_to", &[("agent", text("carol")), ("instruction", text("read it"))]),
            said(""),
            ended("carol", "two commas are missing"),
        ];
        play_with(&mut screen, "sequential", ProtocolConfig::default(), &[("reviewers".into(), reviewers.clone())].into(), inputs);
        screen.press("T");
        insta::assert_snapshot!(format!("protocol_nested_{width}x{height}"), screen.screen());
    }
}

#[test]
fn without_a_rule_the_steps_tell_what_each_turn_was_for() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut screen = Screen::new(width, height);
        screen.busy_team();
        let steps = [("alice", "claimed task #3", "the totals are right now", 31_000), ("bob", "mail from lead", "I look at it", 4_000)];
        for (step, (who, rule, outcome, millis)) in (1..).zip(steps) {
            let (who, rule, outcome) = (Some(member_name(who)), rule.into(), outcome.into());
            screen.event(TeamEvent::Traced { step, who, rule, outcome, millis });
        }
        screen.press("T");
        insta::assert_snapshot!(format!("protocol_autonomous_{width}x{height}"), screen.screen());
    }
}

#[test]
fn enter_on_a_step_opens_the_transcript_of_who_acted() {
    let mut screen = Screen::new(120, 40);
    let (config, inputs) = scene("sequential");
    play(&mut screen, "sequential", config, inputs);
    screen.press("T G k Enter");
    let detail = screen.state.detail.as_ref().unwrap();
    assert!(matches!(&detail.kind, DetailKind::Transcript(name) if name.same("alice")), "{:?}", detail.kind);
    assert_eq!(screen.state.roster.selected, Some(member_name("alice")));
}

#[test]
fn the_way_to_work_is_chosen_from_a_list() {
    let mut screen = Screen::new(80, 24);
    let (config, inputs) = scene("a2a");
    play(&mut screen, "a2a", config, inputs);
    screen.press(":");
    screen.type_str("set protocol");
    screen.press("Enter");
    insta::assert_snapshot!("protocol_list_80x24", screen.screen());
    for (width, height) in [(20, 6), (120, 40), (200, 60)] {
        screen.resize(width, height);
        insta::assert_snapshot!(format!("protocol_list_{width}x{height}"), screen.screen());
    }
    screen.cmds.clear();
    screen.press("j Enter");
    let given = screen
        .cmds
        .iter()
        .any(|cmd| matches!(cmd, signoff::app::msg::Cmd::Team { command: TeamCommand::SetProtocol { name }, .. } if name == "blackboard"));
    assert!(given && screen.state.protocols.is_none(), "{:?}", screen.cmds);
}
