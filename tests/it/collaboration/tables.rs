//! (state, input) → decision, one table a protocol. A row is a whole run in small: inputs and what each led to.
//!
//! Inputs: `! text` prompt, `name: output`, `name x error`, `> text` the supervisor's answer, `- name` gone, `stop`.

use super::rig::{Rig, cards, name};
use signoff::collaboration::{Choice, Input, ProtocolConfig, names};

fn play(rig: &mut Rig, input: &str) {
    let input = if let Some(text) = input.strip_prefix("! ") {
        Input::Prompt(text.into())
    } else if let Some(text) = input.strip_prefix('>') {
        Input::SupervisorAnswered { text: text.trim().into() }
    } else if let Some(who) = input.strip_prefix("- ") {
        Input::MemberGone { name: name(who), why: String::new() }
    } else if let Some((who, output)) = input.split_once(':') {
        Input::ended(&name(who), output.trim())
    } else if let Some((who, error)) = input.split_once(" x ") {
        Input::failed(&name(who), error)
    } else {
        Input::Stop
    };
    rig.send(input).unwrap();
}

fn table(protocol: &str, config: &ProtocolConfig, rows: &[&[(&str, &str)]]) {
    for (number, row) in rows.iter().enumerate() {
        let mut rig = Rig::with(protocol, cards(&["a", "b", "c"]), config.clone(), None);
        for (input, outcome) in *row {
            play(&mut rig, input);
            assert_eq!(rig.outcome(), *outcome, "{protocol}, row {number}, at {input:?}\n{:#?}", rig.trace);
        }
    }
}

const DONE: &str = "> [TEAM_FINISH] done";

#[test]
fn sequential() {
    table(
        "sequential",
        &ProtocolConfig::default(),
        &[
            &[("! go", "run a"), ("a: one", "run b"), ("b: two", "run c"), ("c: three", "end ok")],
            &[("! go", "run a"), ("a x boom", "run a"), ("a x boom", "run b"), ("b: two", "run c"), ("c: three", "end failed")],
            &[("! go", "run a"), ("- b", "wait"), ("a: one", "run c"), ("c: three", "end failed")],
            &[("! go", "run a"), ("- a", "run b"), ("- b", "run c"), ("- c", "end failed")],
            &[("! go", "run a"), ("a: [TEAM_FINISH]", "run b"), ("stop", "end failed")],
        ],
    );
}

#[test]
fn hierarchical() {
    table(
        "hierarchical",
        &ProtocolConfig::default(),
        &[
            &[("! go", "ask"), ("> b", "run b"), ("b: done", "ask"), (DONE, "end ok")],
            &[("! go", "ask"), (DONE, "ask"), (DONE, "run a"), ("a: done", "ask"), (DONE, "end ok")],
            &[("! go", "ask"), ("> b", "run b"), ("b:", "ask"), (DONE, "run b"), ("b: done", "ask"), (DONE, "end ok")],
            &[("! go", "ask"), ("> b", "run b"), ("- b", "ask"), ("> b", "ask"), ("> b", "run a"), ("a: done", "ask"), (DONE, "end ok")],
            &[("! go", "ask"), ("- a", "wait"), ("- b", "wait"), ("- c", "end failed")],
        ],
    );
}

#[test]
fn contract_net() {
    table(
        "contract_net",
        &ProtocolConfig::default(),
        &[
            &[
                ("! go", "ask"),
                ("> @call_for_bids tests", "run a, run b, run c"),
                ("a: @submit_proposal {\"score\": 70, \"plan\": \"p\"}", "wait"),
                ("b x boom", "wait"),
                ("c:", "ask"),
                ("> c", "run c"),
                ("c: done", "ask"),
                (DONE, "end ok"),
            ],
            &[
                ("! go", "ask"),
                (DONE, "ask"),
                (DONE, "run a, run b, run c"),
                ("a: x", "wait"),
                ("b: x", "wait"),
                ("c: x", "ask"),
                (DONE, "ask"),
                (DONE, "run a"),
            ],
            &[("! go", "ask"), ("> call for bids", "run a, run b, run c"), ("- a", "wait"), ("- b", "wait"), ("- c", "end failed")],
            &[
                ("! go", "ask"),
                ("> b", "run a, run b, run c"),
                ("a: x", "wait"),
                ("b: x", "wait"),
                ("c: x", "ask"),
                ("> b", "run b"),
                ("b x boom", "ask"),
                ("> a", "run a"),
            ],
        ],
    );
}

#[test]
fn swarm() {
    table(
        "swarm",
        &ProtocolConfig::default(),
        &[
            &[("! go", "run a"), ("a: done", "ask"), (DONE, "end ok")],
            &[
                ("! go", "run a"),
                ("a: two more\n@emerge_tasks {\"tasks\": [\"x\", {\"task\": \"y\", \"agent\": \"a\"}]}", "run a"),
                ("a: y done", "run b"),
                ("b: x done", "ask"),
                ("> @emerge_tasks z", "run c"),
                ("c: z done", "ask"),
                (DONE, "end ok"),
            ],
            &[
                ("! go", "run a"),
                ("a x boom", "ask"),
                ("> @emerge_tasks z", "run b"),
                ("b x boom", "run c"),
                ("c x boom", "run a"),
                ("a: z done", "ask"),
            ],
            &[("! go", "run a"), ("- a", "ask"), ("> c", "run c"), ("c: done", "ask")],
        ],
    );
}

#[test]
fn a2a() {
    table(
        "a2a",
        &ProtocolConfig::default(),
        &[
            &[("! go", "run a"), ("a: done", "ask"), ("> the answer", "end ok")],
            &[("! go", "run a"), ("a: @transfer_to c go on", "run c"), ("c: done", "ask"), (DONE, "end ok")],
            &[
                ("! go", "run a"),
                ("a: @transfer_to ghost x", "run a"),
                ("a: @transfer_to a x", "run a"),
                ("a: @transfer_to b x", "run b"),
                ("b: done", "ask"),
            ],
            &[("! go", "run a"), ("a: done", "ask"), (">", "ask"), (">", "end ok")],
            &[("! go", "run a"), ("a x boom", "ask"), (">", "ask"), (">", "end failed")],
            &[("! go", "run a"), ("- a", "ask"), ("> sorry", "end ok")],
        ],
    );
}

#[test]
fn blackboard() {
    table(
        "blackboard",
        &ProtocolConfig::default(),
        &[
            &[("! go", "ask"), ("> a", "run a"), ("a: done", "ask"), (DONE, "end ok")],
            &[
                ("! go", "ask"),
                ("> a", "run a"),
                ("a: found\n@sync_to_blackboard {\"todo\": [\"b must test\"]}", "ask"),
                (DONE, "ask"),
                ("> b", "run b"),
                ("b: tested\n@sync_to_blackboard {\"completed_todo\": \"b must test\"}", "ask"),
                (DONE, "end ok"),
            ],
            &[
                ("! go", "ask"),
                ("> a", "run a"),
                ("a: x\n{\"status\":\"failed\"}", "ask"),
                (DONE, "ask"),
                (DONE, "run a"),
                ("a: mended", "ask"),
                (DONE, "end ok"),
            ],
        ],
    );
}

#[test]
fn market_based() {
    table(
        "market_based",
        &ProtocolConfig::default(),
        &[
            &[("! go", "ask"), ("> b", "run b"), ("b: done", "ask"), (DONE, "end ok")],
            &[("! go", "ask"), ("> b", "run b"), ("b x boom", "ask"), (DONE, "run b")],
        ],
    );
    table(
        "market_based",
        &ProtocolConfig { choice: Choice::Budget, ..ProtocolConfig::default() },
        &[
            // Demand makes who ran dearer: the next award goes to the next in order.
            &[("! go", "run a"), ("a: done", "ask"), ("> more", "ask"), ("> more", "run b"), ("b: done too", "ask"), (DONE, "end ok")],
        ],
    );
}

#[test]
fn autonomous_and_none_record_and_give_no_directives() {
    for protocol in ["autonomous", "none"] {
        table(protocol, &ProtocolConfig::default(), &[&[("! go", "wait"), ("a: done", "wait"), ("b x boom", "wait"), ("stop", "end ok")]]);
        let rig = Rig::new(protocol, &[]).prompt("go");
        assert_eq!(rig.engine.members_claim_by_themselves(), protocol == "autonomous");
    }
}

#[test]
fn every_name_of_the_registry_has_a_table_here() {
    let tables = ["autonomous", "none", "sequential", "hierarchical", "contract_net", "swarm", "a2a", "blackboard", "market_based"];
    assert_eq!(names().collect::<Vec<_>>(), tables);
}
