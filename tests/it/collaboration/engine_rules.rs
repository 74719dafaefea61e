//! Rules that hold for every protocol.

use super::rig::{Rig, cards, name};
use signoff::collaboration::{
    CollaborationError, Directive, Engine, EngineConfig, Input, MemberCard, NodeKind, ProtocolConfig, build, describe, names,
};
use signoff::domain::{MemberName, Timestamp};

const DRIVEN: [&str; 7] = ["sequential", "hierarchical", "contract_net", "swarm", "a2a", "blackboard", "market_based"];

#[test]
fn an_unknown_protocol_names_the_nearest_one() {
    let error = build("sequental", ProtocolConfig::default()).err().unwrap().to_string();
    assert!(error.contains("did you mean sequential?") && error.contains("market_based"), "{error}");
    assert!(build("Contract-Net", ProtocolConfig::default()).is_ok());
}

#[test]
fn every_protocol_is_described_and_draws_its_graph() {
    for protocol in names() {
        let info = describe(protocol).unwrap();
        assert!(!info.summary.is_empty() && !info.graph.is_empty() && !info.rules.is_empty());
        let graph = Rig::new(protocol, &["a", "b"]).engine.graph();
        if DRIVEN.contains(&protocol) {
            assert!(
                graph.nodes.iter().any(|node| node.kind == NodeKind::Start) && graph.nodes.iter().any(|node| node.kind == NodeKind::End)
            );
            let ids: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
            assert!(graph.edges.iter().all(|edge| ids.contains(&edge.from.as_str()) && ids.contains(&edge.to.as_str())), "{protocol}");
        }
    }
}

#[test]
fn an_empty_team_is_an_error_when_the_team_is_built() {
    for protocol in DRIVEN {
        let error = Engine::new(build(protocol, ProtocolConfig::default()).unwrap(), Vec::new(), EngineConfig::default()).err().unwrap();
        assert!(matches!(error, CollaborationError::EmptyTeam { .. }), "{protocol}: {error}");
    }
}

#[test]
fn names_are_unique_ignoring_case_and_the_lead_is_no_member() {
    let team =
        |members| Engine::new(build("sequential", ProtocolConfig::default()).unwrap(), members, EngineConfig::default()).err().unwrap();
    assert_eq!(team(cards(&["bob", "BOB"])), CollaborationError::DuplicateMember(name("BOB")));
    assert_eq!(team(vec![MemberCard::new(MemberName::lead(), "")]), CollaborationError::LeadAsMember);
}

#[test]
fn max_turns_ends_a_run_of_every_protocol_with_the_reason() {
    for protocol in DRIVEN {
        let mut rig = Rig::bounded(protocol, &["a", "b"], 1).prompt("go");
        for _ in 0..20 {
            if rig.ended().is_some() {
                break;
            }
            match rig.runs().first().cloned() {
                Some(who) => {
                    rig.end(&who, "did something");
                }
                None if rig.engine.team().busy() > 0 => {
                    rig.end("b", "did something");
                }
                None => {
                    rig.lead("b");
                }
            }
        }
        assert_eq!(rig.ended().unwrap().0, "max_turns (1) reached", "{protocol}");
    }
}

#[test]
fn a_line_longer_than_eight_is_not_cut_unless_it_is_configured() {
    let members: Vec<String> = (0..12).map(|n| format!("m{n}")).collect();
    let names: Vec<&str> = members.iter().map(String::as_str).collect();
    let run = |mut rig: Rig| {
        while rig.ended().is_none() {
            let who = rig.runs()[0].clone();
            rig.end(&who, &format!("output of {who}"));
        }
        rig.ended().unwrap()
    };
    assert!(run(Rig::new("sequential", &names).prompt("go")).1);
    assert_eq!(run(Rig::bounded("sequential", &names, 8).prompt("go")).0, "max_turns (8) reached");
}

#[test]
fn a_loop_a_b_a_b_is_noticed_told_and_then_ends_the_run() {
    let mut rig = Rig::bounded("hierarchical", &["a", "b"], 50).prompt("go");
    for who in ["a", "b", "a", "b"] {
        rig.lead(who);
        rig.end(who, "I looked at it and everything is as it was before");
    }
    assert!(rig.traced("a-b-a-b say the same again and again"));
    assert!(rig.asked().unwrap().0.contains("The run goes in a loop"), "the supervisor is told");
    rig.lead("a");
    let (reason, ok, _) = rig.end("a", "I looked at it and everything is as it was before").ended().unwrap();
    assert!(reason.starts_with("loop: ") && !ok, "{reason}");
}

#[test]
fn loops_of_one_and_three_members_are_noticed_and_progress_is_not() {
    let noticed = |who: &[&str], outputs: &[&str]| {
        let mut rig = Rig::bounded("hierarchical", &["a", "b", "c"], 50).prompt("go");
        for (who, output) in who.iter().zip(outputs) {
            rig.lead(who);
            rig.end(who, output);
        }
        rig.traced("say the same again")
    };
    assert!(noticed(&["a", "a", "a", "a"], &["same"; 4]));
    assert!(!noticed(&["a", "a", "a"], &["same"; 3]), "at least four records");
    assert!(noticed(&["a", "b", "c", "a", "b", "c"], &["x", "y", "z", "x", "y", "z"]));
    assert!(!noticed(&["a", "b", "c", "a", "b"], &["x", "y", "z", "x", "y"]));
    assert!(!noticed(&["a", "b", "a", "b"], &["file one done", "review of one", "file two done", "review of two"]));
}

#[test]
fn a_decision_by_tool_holds_and_a_closing_remark_is_not_read_as_another() {
    let mut rig = Rig::new("hierarchical", &["alice", "bob"]).prompt("go");
    rig.call("lead", "route_to", &[("agent", "Alice".into()), ("instruction", "mend the totals".into())]).unwrap();
    assert!(rig.call("lead", "route_to", &[("agent", "bob".into())]).unwrap_err().contains("decided already"));
    assert_eq!(rig.lead("bob comes after that").runs(), ["alice"]);
    assert!(rig.prompt_of("alice").contains("mend the totals"));
}

#[test]
fn a_call_out_of_turn_is_a_clear_error() {
    let mut rig = Rig::new("hierarchical", &["alice", "bob"]).prompt("go");
    assert!(rig.call("alice", "sync_to_blackboard", &[]).unwrap_err().contains("not at work"));
    assert!(rig.call("lead", "route_to", &[("agent", "alcie".into())]).unwrap_err().contains("did you mean alice?"));
    rig.lead("alice");
    assert!(rig.call("lead", "route_to", &[("agent", "bob".into())]).unwrap_err().contains("not your turn"));
    assert!(rig.call("alice", "finish", &[]).unwrap_err().contains("not offered to you now; offered: nothing"));
    rig.end("alice", "done");
    rig.lead("[TEAM_FINISH]");
    assert!(rig.call("lead", "finish", &[]).unwrap_err().contains("not your turn"));
}

#[test]
fn a_member_that_fails_does_not_vanish_and_the_end_hook_still_runs() {
    let mut rig = Rig::new("sequential", &["a"]).prompt("go");
    rig.fail("a", "panic in task");
    let (_, ok, answer) = rig.fail("a", "panic in task").ended().unwrap();
    assert!(!ok && answer.contains("a FAILED: panic in task"), "{answer}");
    assert!(rig.trace.iter().any(|record| record.who == Some(name("a")) && record.outcome.contains("panic in task")));
}

#[test]
fn inputs_that_do_not_fit_change_nothing() {
    let mut rig = Rig::new("hierarchical", &["alice", "bob"]);
    assert_eq!(rig.send(Input::Prompt(" ".into())), Err(CollaborationError::NothingToResume));
    assert_eq!(rig.send(Input::ended(&name("alice"), "x")), Err(CollaborationError::NothingToResume));
    rig = rig.prompt("go");
    let before = rig.engine.snapshot();
    assert_eq!(rig.send(Input::ended(&name("alice"), "x")), Err(CollaborationError::NotAtWork(name("alice"))));
    assert!(matches!(rig.send(Input::Prompt("another".into())), Err(CollaborationError::Busy { .. })));
    let unknown = CollaborationError::UnknownMember { name: name("alic"), nearest: Some("alice".into()) };
    assert_eq!(rig.send(Input::MemberHeld { name: name("alic") }), Err(unknown));
    assert_eq!(before, rig.engine.snapshot());
    rig.lead("alice");
    assert_eq!(rig.send(Input::SupervisorAnswered { text: "bob".into() }), Err(CollaborationError::NotAsked));
    assert_eq!(
        rig.send(Input::MemberReleased { name: name("alice"), approved_text: None }),
        Err(CollaborationError::NotAtWork(name("alice")))
    );
    rig.send(Input::Stop).unwrap();
    assert_eq!(rig.send(Input::ended(&name("alice"), "late")), Err(CollaborationError::Over));
    assert_eq!(rig.send(Input::Prompt(String::new())), Err(CollaborationError::Over));
}

#[test]
fn a_supervisor_that_fails_is_asked_again_then_the_fallback_acts() {
    let mut rig = Rig::new("hierarchical", &["a"]).prompt("go");
    rig.send(Input::SupervisorFailed { error: "429".into() }).unwrap();
    assert_eq!(rig.outcome(), "ask");
    rig.send(Input::SupervisorFailed { error: "429".into() }).unwrap();
    assert_eq!(rig.runs(), ["a"]);
    assert!(rig.traced("the supervisor failed: 429"));
}

#[test]
fn every_change_is_followed_by_a_snapshot_and_the_end_is_always_last() {
    let mut rig = Rig::new("hierarchical", &["a"]).prompt("go");
    assert_eq!(rig.last.last(), Some(&Directive::Snapshot));
    rig.lead("a");
    rig.end("a", "done");
    rig.lead("[TEAM_FINISH]");
    let [.., snapshot, end] = rig.last.as_slice() else { panic!("{:?}", rig.last) };
    assert_eq!(*snapshot, Directive::Snapshot);
    assert!(matches!(end, Directive::Ended { .. }));
}

#[test]
fn a_new_prompt_resets_and_an_empty_one_resumes_after_a_restore() {
    for protocol in DRIVEN {
        let mut rig = Rig::new(protocol, &["a", "b"]).prompt("the first goal");
        let before = rig.outcome();
        rig.restart(ProtocolConfig::default());
        rig.send(Input::Prompt(String::new())).unwrap();
        assert_eq!(rig.outcome(), before, "{protocol}: whoever was at work or asked goes on");
        rig.restart(ProtocolConfig::default());
        rig.send(Input::Prompt("the second goal".into())).unwrap();
        assert_eq!(rig.outcome(), before, "{protocol}: starts over");
        assert_eq!((rig.engine.team().prompt.as_str(), rig.engine.team().last), ("the second goal", None));
    }
}

#[test]
fn a_restart_in_the_middle_keeps_what_was_done() {
    let mut rig = Rig::new("sequential", &["a", "b"]).prompt("go");
    rig.end("a", "the plan");
    rig.restart(ProtocolConfig::default());
    rig.send(Input::Prompt(String::new())).unwrap();
    assert!(rig.prompt_of("b").contains("the plan"));
    assert_eq!(rig.end("b", "the code").ended().unwrap().2, "the code");
    let mut rig = Rig::new("contract_net", &["a", "b"]).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
    rig.call("a", "submit_proposal", &[("score", 77.0.into()), ("plan", "mine".into())]).unwrap();
    rig.end("a", "");
    rig.restart(ProtocolConfig::default());
    rig.send(Input::Prompt(String::new())).unwrap();
    assert_eq!(rig.runs(), ["b"], "a's bid is kept, b bids again");
    rig.end("b", "");
    assert!(rig.asked().unwrap().0.contains("a: 77 (own) mine"));
}

#[test]
fn a_held_step_survives_a_restart_and_its_verdict_starts_it() {
    let mut rig = Rig::new("sequential", &["a"]).prompt("go");
    rig.send(Input::MemberHeld { name: name("a") }).unwrap();
    rig.restart(ProtocolConfig::default());
    rig.send(Input::Prompt(String::new())).unwrap();
    assert_eq!(rig.outcome(), "wait", "the plan is still pending");
    rig.send(Input::MemberReleased { name: name("a"), approved_text: Some("edited".into()) }).unwrap();
    assert!(rig.prompt_of("a").contains("edited"));
}

#[test]
fn a_snapshot_of_another_protocol_or_form_is_refused() {
    let snapshot = Rig::new("swarm", &["a"]).prompt("go").engine.snapshot();
    let other = build("a2a", ProtocolConfig::default()).unwrap();
    let error = Engine::restore(other, snapshot.clone()).err().unwrap().to_string();
    assert_eq!(error, "snapshot: it belongs to protocol swarm, not a2a");
    let text = serde_json::to_string(&snapshot).unwrap().replace("\"version\":1", "\"version\":9");
    let error = Engine::restore(build("swarm", ProtocolConfig::default()).unwrap(), serde_json::from_str(&text).unwrap()).err().unwrap();
    assert!(error.to_string().contains("version 9 is not 1"), "{error}");
}

#[test]
fn the_trace_tells_who_by_which_rule_and_how_long() {
    let mut engine =
        Engine::new(build("hierarchical", ProtocolConfig::default()).unwrap(), cards(&["a"]), EngineConfig::default()).unwrap();
    engine.handle(Input::Prompt("go".into()), Timestamp(1_000)).unwrap();
    let out = engine.handle(Input::SupervisorAnswered { text: "a".into() }, Timestamp(3_500)).unwrap();
    let records: Vec<_> =
        out.iter().filter_map(|directive| if let Directive::Trace(record) = directive { Some(record) } else { None }).collect();
    assert_eq!((records[0].rule.as_str(), records[0].outcome.as_str(), records[0].duration_ms), ("supervisor, text", "a", 2_500));
    assert_eq!((records[1].rule.as_str(), records[1].who.as_ref()), ("supervisor, text: exact name", Some(&name("a"))));
    let ended =
        Input::MemberEnded { name: name("a"), output: "one\u{1b}[2Jtwo".into(), error: None, duration_ms: 42, cost: None, tokens: 7 };
    let out = engine.handle(ended, Timestamp(9_000)).unwrap();
    let Some(Directive::Trace(record)) = out.first() else { panic!("{out:?}") };
    assert_eq!((record.duration_ms, record.outcome.as_str()), (42, "one\u{fffd}[2Jtwo"));
}
