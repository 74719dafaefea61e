//! Each of the nine ways to work, to its end, by the real program: without a terminal, and on the screen.

use super::*;
use crate::runtime::nine::rules;
use serde_json::Value;

/// How a team works in one protocol: what the lead says each time it is asked, alice's first words, how the run ends, and
/// what its view shows.
struct Way {
    protocol: &'static str,
    lead: &'static [&'static str],
    alice: &'static [&'static str],
    settings: &'static str,
    reason: &'static str,
    shows: &'static str,
}

const SPAWN: &str = "calls = [{ tool = \"spawn_teammate\", args = { name = \"alice\", role = \"coder, rust\", prompt = \"write well\" } }, { tool = \"spawn_teammate\", args = { name = \"bob\", role = \"tester\", prompt = \"write well\" } }]\n[[rule.step]]\nsay = \"The team is there.\"";
const FINISH: &str = "tool = \"finish\"\nargs = { answer = \"the story is written\" }";
const TO_ALICE: &str = "tool = \"route_to\"\nargs = { agent = \"alice\" }";

const WAYS: [Way; 9] = [
    Way {
        protocol: "autonomous",
        lead: &[
            "calls = [{ tool = \"task_create\", args = { subject = \"Write the story\" } }, { tool = \"spawn_teammate\", args = { name = \"alice\", role = \"coder\", prompt = \"Take what is ready\" } }]\n[[rule.step]]\nsay = \"One task.\"",
        ],
        alice: &[],
        settings: "",
        reason: "the one task is completed",
        shows: "claimed task #1",
    },
    Way {
        protocol: "none",
        lead: &[
            "calls = [{ tool = \"spawn_teammate\", args = { name = \"alice\", role = \"coder\", prompt = \"wait\" } }, { tool = \"send_message\", args = { to = \"alice\", content = \"write it\" } }]\n[[rule.step]]\nsay = \"I gave it to alice.\"",
        ],
        alice: &[],
        settings: "",
        reason: "the lead is done",
        shows: "this is the part of alice",
    },
    Way { protocol: "sequential", lead: &[SPAWN], alice: &[], settings: "", reason: "last stage done", shows: "stage 2 of 2" },
    Way {
        protocol: "hierarchical",
        lead: &[SPAWN, TO_ALICE, FINISH],
        alice: &[],
        settings: "",
        reason: "finished by the supervisor",
        shows: "supervisor, tool",
    },
    Way {
        protocol: "contract_net",
        lead: &[SPAWN, "tool = \"call_for_bids\"\nargs = { requirement = \"write rust\" }", TO_ALICE, FINISH],
        alice: &["tool = \"submit_proposal\"\nargs = { score = 90, plan = \"I know rust\" }"],
        settings: "",
        reason: "finished by the supervisor",
        shows: "own bid",
    },
    Way {
        protocol: "swarm",
        lead: &[SPAWN, FINISH],
        alice: &[
            "tool = \"emerge_tasks\"\nargs = { tasks = [{ task = \"test it\", agent = \"bob\" }, { task = \"describe it\" }] }\n[[rule.step]]\nsay = \"two things emerged\"",
        ],
        settings: "",
        reason: "finished by the supervisor",
        shows: "Pheromones",
    },
    Way {
        protocol: "a2a",
        lead: &[SPAWN, "say = \"closed, all is written\""],
        alice: &["tool = \"transfer_to\"\nargs = { target = \"bob\", memo = \"chapter two is yours\" }"],
        settings: "",
        reason: "finished by the supervisor",
        shows: "chapter two is yours",
    },
    Way {
        protocol: "blackboard",
        lead: &[
            SPAWN,
            "tool = \"sync_to_blackboard\"\nargs = { todo = [\"write the end\"] }\n[[rule.step]]\ntool = \"route_to\"\nargs = { agent = \"alice\" }",
            FINISH,
        ],
        alice: &[
            "tool = \"sync_to_blackboard\"\nargs = { completed_todo = [\"1\"], state = { chapters = \"3\" } }\n[[rule.step]]\nsay = \"the end is written\"",
        ],
        settings: "",
        reason: "finished by the supervisor",
        shows: "write the end",
    },
    Way {
        protocol: "market_based",
        lead: &[SPAWN, FINISH],
        alice: &[],
        settings: "[team.market]\nchoice = \"roi\"\n",
        reason: "finished by the supervisor",
        shows: "quality",
    },
];

fn script(way: &Way) -> String {
    format!(
        "format = 1\n[stream]\ntokens_per_second = 0\npause = 0\n{}{}\
        [[rule]]\non = \"claimed\"\n[[rule.step]]\ntool = \"task_update\"\nargs = {{ task_id = \"{{task_id}}\", status = \"completed\" }}\n\
        [[rule.step]]\nsay = \"It is done.\"\n\
        [[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"this is the part of {{name}}, done with care\"\n\
        [[rule]]\nfor = \"alice\"\non = \"mail\"\n[[rule.step]]\nsay = \"I heard it.\"\n",
        rules("lead", "goal", way.lead),
        rules("alice", "prompt", way.alice),
    )
}

fn world(way: &Way) -> World {
    let world = World::new();
    std::fs::write(world.script(), script(way)).unwrap();
    let settings = world.root().join("config/signoff/config.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(settings, format!("{text}{}", way.settings)).unwrap();
    world
}

#[test]
fn each_ends_without_a_terminal_and_its_trace_explains_every_step() {
    for way in &WAYS {
        let world = world(way);
        let script = world.script();
        let args = ["run", "write the story", "--json", "--protocol", way.protocol, "--provider", "scripted", "--script"];
        let output = world.run(&[&args[..], &[script.to_str().unwrap()]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let at = |what: &str| format!("{}: {what}\n{text}{}", way.protocol, String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{}", at("exit code"));
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{}", at(&e.to_string())))).collect();
        let last = lines.last().unwrap();
        assert_eq!((&last["kind"], &last["reason"], &last["ok"]), (&"finished".into(), &way.reason.into(), &true.into()), "{}", at("end"));
        let traced: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "traced").collect();
        assert!(traced.iter().all(|line| line["rule"].as_str().is_some_and(|rule| !rule.is_empty())), "{}", at("a step without a rule"));
        assert!(traced.iter().any(|line| line["who"] == "alice"), "{}", at("alice acted"));
        assert!(text.contains(way.shows), "{}", at(way.shows));
        let status: Value = serde_json::from_str(&world.shell(&["status", "--json"])).unwrap();
        assert_eq!(status["protocol"]["name"].as_str().or(status["protocol"].as_str()), Some(way.protocol), "{status}");
        let steps = status["protocol_steps"].as_array().unwrap();
        assert!(steps.iter().any(|step| step["who"] == "alice" && step["rule"].is_string()), "{status}");
        world.wait_no_commands();
    }
}

#[test]
fn each_ends_on_the_screen_and_its_view_shows_how() {
    for way in &WAYS {
        let world = world(way);
        let mut opening = world.opening();
        opening.extend(["--protocol".to_owned(), way.protocol.to_owned()]);
        let mut pty = Pty::spawn(world.command(&opening.iter().map(String::as_str).collect::<Vec<_>>()), COLS, ROWS);
        wait_member(&pty, "lead", "");
        write_lead(&mut pty, "write the story");
        pty.wait_for_text("finished");
        pty.send("T");
        pty.wait_for(way.protocol, |screen| {
            let text = screen.contents();
            text.contains(way.reason) && text.contains(way.shows)
        });
        pty.send("\x1b");
        pty.wait_for_text("3 Board");
        quit_now(&world, pty);
    }
}
