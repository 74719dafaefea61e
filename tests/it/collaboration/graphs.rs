//! Custom graphs for `none`: validation with clear errors, and runs over fork, join, choice and circles.

use super::rig::{Rig, cards, name};
use signoff::collaboration::{Condition, Engine, EngineConfig, Graph, Input, NodeKind, ProtocolConfig, build};

fn base() -> Graph {
    Graph::default().node("start", NodeKind::Start).node("end", NodeKind::End)
}

fn members(graph: Graph, names: &[&str]) -> Graph {
    names.iter().fold(graph, |graph, text| graph.member(&name(text)))
}

fn rig(graph: Graph, names: &[&str]) -> Rig {
    Rig::with("none", cards(names), ProtocolConfig { graph: Some(graph), ..ProtocolConfig::default() }, None)
}

/// start → fork → (a, b → c) → join → d → end
fn diamond() -> Graph {
    let graph = members(base(), &["a", "b", "c", "d"]).node("fork", NodeKind::Fork).node("join", NodeKind::Join);
    let graph = graph.edge("start", "fork").edge("fork", "a").edge("fork", "b").edge("a", "join").edge("b", "c").edge("c", "join");
    graph.edge("join", "d").edge("d", "end")
}

/// start → a → choice: failed → a, contains PASS → end, otherwise b → a
fn review() -> Graph {
    let graph = members(base(), &["a", "b"]).node("check", NodeKind::Choice);
    let graph = graph.edge("start", "a").edge("a", "check").edge("b", "a");
    let graph = graph.edge_when("check", "a", Condition::Failed).edge_when("check", "end", Condition::Contains("pass".into()));
    graph.edge_when("check", "b", Condition::Otherwise)
}

#[test]
fn parallel_branches_go_on_side_by_side_and_join() {
    let mut rig = rig(diamond(), &["a", "b", "c", "d"]).prompt("go");
    assert_eq!(rig.runs(), ["a", "b"]);
    assert_eq!(rig.end("b", "from b").runs(), ["c"], "a branch does not wait for the other");
    assert!(rig.prompt_of("c").contains("from b"));
    assert_eq!(rig.end("a", "from a").outcome(), "wait", "the join waits");
    assert_eq!(rig.end("c", "from c").runs(), ["d"]);
    let prompt = rig.prompt_of("d");
    assert!(prompt.contains("[a]\nfrom a") && prompt.contains("[c]\nfrom c"), "{prompt}");
    let (_, ok, answer) = rig.end("d", "all").ended().unwrap();
    assert!(ok);
    assert_eq!(answer, "all");
}

#[test]
fn a_held_branch_holds_the_join_and_a_failed_one_is_told() {
    let mut rig = rig(diamond(), &["a", "b", "c", "d"]).prompt("go");
    rig.send(Input::MemberHeld { name: name("a") }).unwrap();
    rig.end("b", "from b");
    rig.end("c", "from c");
    assert_eq!(rig.outcome(), "wait");
    rig.send(Input::MemberReleased { name: name("a"), approved_text: Some("the plan".into()) }).unwrap();
    assert_eq!(rig.runs(), ["a"]);
    assert_eq!(rig.fail("a", "boom").runs(), ["d"]);
    assert!(!rig.end("d", "").ended().unwrap().1);
}

#[test]
fn an_exclusive_choice_takes_one_way_by_the_last_output() {
    let mut rig = rig(review(), &["a", "b"]).prompt("go");
    assert_eq!(rig.runs(), ["a"]);
    assert_eq!(rig.end("a", "not yet").runs(), ["b"]);
    assert_eq!(rig.end("b", "mended").runs(), ["a"]);
    assert_eq!(rig.fail("a", "boom").runs(), ["a"]);
    assert!(rig.end("a", "All tests PASS").ended().unwrap().1);
}

#[test]
fn a_circle_ends_at_max_turns_or_as_a_loop() {
    let mut rig = rig(review(), &["a", "b"]).prompt("go");
    let mut n = 0;
    while rig.ended().is_none() {
        n += 1;
        let who = rig.runs()[0].clone();
        rig.end(&who, &format!("attempt {n} with other words each time {}", "x".repeat(n)));
    }
    assert_eq!(rig.ended().unwrap().0, "max_turns (8) reached");
    let mut rig = self::rig(review(), &["a", "b"]).prompt("go");
    while rig.ended().is_none() {
        let who = rig.runs()[0].clone();
        rig.end(&who, "the same");
    }
    assert!(rig.ended().unwrap().0.starts_with("loop: "));
}

#[test]
fn a_circle_of_members_that_left_ends_too() {
    let mut rig = rig(review(), &["a", "b", "other"]).prompt("go");
    rig.send(Input::MemberGone { name: name("b"), why: String::new() }).unwrap();
    rig.send(Input::MemberGone { name: name("a"), why: String::new() }).unwrap();
    assert_eq!(rig.ended().unwrap().0, "the graph has no way on");
}

#[test]
fn a_member_on_two_branches_works_on_them_one_after_the_other() {
    let graph = base().node("fork", NodeKind::Fork).node("join", NodeKind::Join);
    let mut graph = members(graph, &["a"]).edge("start", "fork").edge("fork", "a").edge("fork", "again");
    graph.nodes.push(signoff::collaboration::Node { id: "again".into(), kind: NodeKind::Member, member: Some(name("a")) });
    let graph = graph.edge("a", "join").edge("again", "join").edge("join", "end");
    let mut rig = rig(graph, &["a"]).prompt("go");
    assert_eq!(rig.runs(), ["a"]);
    assert_eq!(rig.end("a", "one").runs(), ["a"]);
    assert!(rig.end("a", "two").ended().unwrap().1);
}

#[test]
fn a_restart_in_a_fork_keeps_both_branches() {
    let config = || ProtocolConfig { graph: Some(diamond()), ..ProtocolConfig::default() };
    let mut rig = rig(diamond(), &["a", "b", "c", "d"]).prompt("go");
    rig.end("b", "from b");
    rig.restart(config());
    rig.send(Input::Prompt(String::new())).unwrap();
    assert_eq!(rig.runs(), ["a", "c"]);
    rig.end("a", "from a");
    assert_eq!(rig.end("c", "from c").runs(), ["d"]);
}

#[test]
fn a_faulty_graph_is_refused_with_the_line_to_mend() {
    let a = || members(base(), &["a"]);
    let choice = || a().node("c", NodeKind::Choice).edge("start", "a").edge("a", "c");
    let rows: Vec<(Graph, &str)> = vec![
        (Graph::default(), "there are no nodes"),
        (a().node("start", NodeKind::Join), "two nodes have the id \"start\""),
        (a().node("s2", NodeKind::Start), "exactly one start node, not 2"),
        (members(Graph::default().node("start", NodeKind::Start), &["a"]), "there is no end node"),
        (a().edge("start", "a").edge("a", "ends"), "edge a → ends: there is no node \"ends\" (did you mean end?)"),
        (a().edge("start", "a").edge_when("a", "end", Condition::Ok), "only edges that leave a choice have a condition"),
        (choice().edge("c", "end"), "edge c → end: an edge that leaves a choice needs a condition"),
        (choice().edge_when("c", "end", Condition::Ok).edge_when("c", "a", Condition::Failed), "exactly one of them `otherwise`"),
        (a().edge("start", "a").edge("a", "end").edge("a", "end"), "edge a → end is there twice"),
        (a().edge("start", "a"), "node \"a\": exactly one edge must leave it, not 0"),
        (a().edge("start", "end"), "node \"a\": exactly one edge must leave it"),
        (members(base(), &["a", "b"]).edge("start", "a").edge("a", "end").edge("b", "end"), "node \"b\" cannot be reached from the start"),
        (
            a().node("f", NodeKind::Fork).edge("start", "f").edge("f", "end").edge("f", "a").edge("a", "a"),
            "from node \"a\" no end can be reached",
        ),
        (a().node("f", NodeKind::Fork).edge("start", "a").edge("a", "f").edge("f", "end"), "at least two edges must leave a fork"),
        (a().node("j", NodeKind::Join).edge("start", "a").edge("a", "j").edge("j", "end"), "at least two edges must enter a join"),
        (a().node("s", NodeKind::Supervisor), "belong to other protocols"),
        (
            choice()
                .node("d", NodeKind::Choice)
                .edge_when("c", "d", Condition::Ok)
                .edge_when("c", "end", Condition::Otherwise)
                .edge_when("d", "c", Condition::Ok)
                .edge_when("d", "end", Condition::Otherwise),
            "is in a circle without any member",
        ),
    ];
    for (graph, wanted) in rows {
        let error = build("none", ProtocolConfig { graph: Some(graph), ..ProtocolConfig::default() }).err().unwrap().to_string();
        assert!(error.contains(wanted), "{error}\n is not\n{wanted}");
    }
    let config = ProtocolConfig { graph: Some(a().edge("start", "a").edge("a", "end")), ..ProtocolConfig::default() };
    let error = Engine::new(build("none", config).unwrap(), cards(&["b"]), EngineConfig::default()).err().unwrap().to_string();
    assert!(error.contains("node \"a\": there is no member \"a\""), "{error}");
}

#[test]
fn a_graph_is_read_from_toml() {
    let text = r#"
        nodes = [
            { id = "start", kind = "start" }, { id = "end", kind = "end" }, { id = "check", kind = "choice" },
            { id = "write", kind = "member", member = "alice" },
        ]
        edges = [
            { from = "start", to = "write" }, { from = "write", to = "check" },
            { from = "check", to = "end", when = { contains = "PASS" } },
            { from = "check", to = "write", when = "otherwise" },
        ]
    "#;
    let graph: Graph = toml::from_str(text).unwrap();
    let mut rig = rig(graph, &["alice"]).prompt("go");
    assert_eq!(rig.end("alice", "no").runs(), ["alice"]);
    assert!(rig.end("alice", "pass").ended().unwrap().1);
}
