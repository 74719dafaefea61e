//! The README's protocol: compiled, played, and the same as it stands there.

use super::rig::cards;
use signoff::collaboration::{Directive, EngineConfig, Input};
use signoff::domain::{MemberName, Timestamp};

// What the file needs, as it would find it in `src/collaboration`.
use signoff::collaboration::{ArgValue, CollaborationProtocol, Ending, Graph, Route, Seat, Step, Team};

// As short as a reader wants it, not as rustfmt does.
#[rustfmt::skip]
mod round_robin;

const TEXT: &str = include_str!("round_robin.rs");
const README: &str = include_str!("../../../../README.md");

#[test]
fn the_readme_shows_a_protocol_that_compiles_in_under_60_lines() {
    assert!(README.contains(&format!("```rust\n{TEXT}```")), "the README and tests/it/collaboration/example/round_robin.rs differ");
    assert!(TEXT.lines().count() < 60);
}

#[test]
fn it_lets_the_members_act_in_turn_twice() {
    let protocol = Box::new(round_robin::RoundRobin);
    let mut engine = signoff::collaboration::Engine::new(protocol, cards(&["a", "b", "c"]), EngineConfig { max_turns: None }).unwrap();
    let runs = |directives: &[Directive]| {
        directives.iter().find_map(|directive| match directive {
            Directive::RunMember { name, .. } => Some(name.clone()),
            _ => None,
        })
    };
    let mut out = engine.handle(Input::Prompt("go".into()), Timestamp(0)).unwrap();
    let mut order: Vec<MemberName> = Vec::new();
    while let Some(who) = runs(&out) {
        out = engine.handle(Input::ended(&who, "did it"), Timestamp(0)).unwrap();
        order.push(who);
    }
    assert_eq!(order.iter().map(MemberName::as_str).collect::<Vec<_>>(), ["a", "b", "c", "a", "b", "c"]);
    assert!(matches!(out.last(), Some(Directive::Ended { ok: true, reason, .. }) if reason == "two rounds done"), "{out:?}");
}
