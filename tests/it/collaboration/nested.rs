//! A member may itself be a team with its own protocol.

use super::rig::{Rig, cards, name};
use signoff::collaboration::{CollaborationError, Directive, Engine, EngineConfig, Input, MemberCard, ProtocolConfig, TeamSpec, build};

fn team(text: &str, protocol: &str, members: Vec<MemberCard>) -> MemberCard {
    let spec = TeamSpec { protocol: protocol.into(), members, config: ProtocolConfig::default(), max_turns: None };
    MemberCard::new(name(text), "").with_team(spec)
}

fn rig(protocol: &str, members: Vec<MemberCard>) -> Rig {
    Rig::with(protocol, members, ProtocolConfig::default(), None)
}

fn asking(rig: &Rig) -> Option<Vec<String>> {
    rig.last.iter().find_map(|directive| match directive {
        Directive::AskSupervisor { team, .. } => Some(team.iter().map(ToString::to_string).collect()),
        _ => None,
    })
}

#[test]
fn a_nested_team_is_a_stage_and_its_answer_goes_on() {
    let mut members = cards(&["writer"]);
    members.push(team("review", "sequential", cards(&["r1", "r2"])));
    members.extend(cards(&["closer"]));
    let mut rig = rig("sequential", members).prompt("go");
    assert_eq!(rig.end("writer", "draft one").runs(), ["r1"]);
    assert!(rig.prompt_of("r1").contains("draft one"));
    assert_eq!(rig.end("r1", "remarks").runs(), ["r2"]);
    assert!(rig.trace.iter().any(|record| record.team == [name("review")] && record.who == Some(name("r1"))));
    assert_eq!(rig.end("r2", "approved draft").runs(), ["closer"]);
    assert!(rig.prompt_of("closer").contains("approved draft"));
    assert!(rig.end("closer", "published").ended().unwrap().1);
}

#[test]
fn a_nested_team_that_fails_is_a_member_that_fails() {
    let mut rig = rig("hierarchical", vec![team("sub", "sequential", cards(&["x"])), MemberCard::new(name("y"), "")]).prompt("go");
    rig.lead("sub");
    rig.fail("x", "boom");
    rig.fail("x", "boom");
    assert!(rig.engine.team().in_error().unwrap().error.as_ref().unwrap().contains("x FAILED: boom"));
    assert_eq!(rig.lead("[TEAM_FINISH]").runs(), ["x"], "assigned again: the nested run begins anew");
}

#[test]
fn questions_of_nested_teams_reach_the_one_supervisor_one_at_a_time() {
    let members = vec![team("left", "hierarchical", cards(&["l"])), team("right", "hierarchical", cards(&["r"]))];
    let mut rig = rig("contract_net", members).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
    assert_eq!(rig.last.iter().filter(|directive| matches!(directive, Directive::AskSupervisor { .. })).count(), 1);
    assert_eq!(asking(&rig).unwrap(), ["left"]);
    rig.lead("l");
    assert_eq!((rig.runs(), asking(&rig).unwrap()), (vec!["l".to_owned()], vec!["right".to_owned()]));
    rig.call("lead", "route_to", &[("agent", "r".into())]).unwrap();
    assert_eq!(rig.lead("").runs(), ["r"], "a tool call goes to the team that asks");
    rig.end("l", "I could");
    assert_eq!(asking(&rig).unwrap(), ["left"]);
    rig.lead("[TEAM_FINISH] we could");
    rig.end("r", "I could too");
    rig.lead("[TEAM_FINISH] so could we");
    assert_eq!(asking(&rig).unwrap(), Vec::<String>::new(), "both bids are in");
}

#[test]
fn a_nested_question_that_becomes_void_does_not_block_the_next() {
    let members = vec![team("left", "hierarchical", cards(&["l"])), team("right", "hierarchical", cards(&["r"]))];
    let mut rig = rig("contract_net", members).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
    rig.send(Input::MemberGone { name: name("l"), why: String::new() }).unwrap();
    assert_eq!(asking(&rig).unwrap(), ["right"]);
}

#[test]
fn a_restart_resumes_inside_a_nested_team() {
    let mut rig = rig("sequential", vec![team("sub", "sequential", cards(&["x", "y"])), MemberCard::new(name("z"), "")]).prompt("go");
    rig.end("x", "from x");
    rig.restart(ProtocolConfig::default());
    rig.send(Input::Prompt(String::new())).unwrap();
    assert_eq!(rig.runs(), ["y"]);
    assert!(rig.prompt_of("y").contains("from x"));
    assert_eq!(rig.end("y", "from y").runs(), ["z"]);
}

#[test]
fn held_and_stopped_reach_into_a_nested_team() {
    let mut rig = rig("sequential", vec![team("sub", "sequential", cards(&["x"]))]).prompt("go");
    rig.send(Input::MemberHeld { name: name("x") }).unwrap();
    rig.send(Input::MemberReleased { name: name("x"), approved_text: Some("plan".into()) }).unwrap();
    assert_eq!(rig.runs(), ["x"]);
    rig.send(Input::Stop).unwrap();
    assert_eq!(rig.ended().unwrap().0, "stopped");
    assert_eq!(rig.send(Input::ended(&name("x"), "late")), Err(CollaborationError::Over));
    let again = rig.prompt("another goal");
    assert_eq!(again.runs(), ["x"]);
}

#[test]
fn nested_teams_are_checked_when_the_team_is_built() {
    let error =
        |members| Engine::new(build("sequential", ProtocolConfig::default()).unwrap(), members, EngineConfig::default()).err().unwrap();
    assert_eq!(
        error(vec![team("sub", "sequential", cards(&["x"])), MemberCard::new(name("X"), "")]),
        CollaborationError::DuplicateMember(name("X"))
    );
    assert!(matches!(error(vec![team("sub", "sequential", Vec::new())]), CollaborationError::EmptyTeam { .. }));
    assert!(error(vec![team("sub", "autonomous", cards(&["x"]))]).to_string().contains("no rule that ends"));
    assert!(error(vec![team("sub", "swam", cards(&["x"]))]).to_string().contains("did you mean swarm?"));
    let deep = (0..4).fold(MemberCard::new(name("leaf"), ""), |inner, level| team(&format!("level{level}"), "sequential", vec![inner]));
    assert!(matches!(error(vec![deep]), CollaborationError::TooDeep { .. }));
}
