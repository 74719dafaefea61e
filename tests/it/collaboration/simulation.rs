//! A seeded simulation of every protocol with failing, slow, silent, lying and vanishing members.
//!
//! Always: the run ends, nobody runs twice at once, nothing follows the end, no open task is lost, the same seed gives
//! the same trace. `SIGNOFF_FULL=1` plays 10,000 seeds a protocol; otherwise fewer, so that the debug build stays quick.

use super::rig::{cards, name};
use signoff::collaboration::{
    ArgValue, Choice, CollaborationError, Condition, Directive, Engine, EngineConfig, Graph, Input, NodeKind, ProtocolConfig, TeamSpec,
    TraceRecord, build, names,
};
use signoff::domain::{MemberName, Timestamp};
use std::collections::BTreeMap;

const FULL: u64 = 10_000;
const QUICK: u64 = 1_000;
/// More inputs than any run can need: beyond it, it does not end.
const INPUTS_MAX: usize = 2_000;
const MEMBERS: [&str; 4] = ["a", "b", "c", "d"];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Running,
    Held,
}

struct World {
    random: Random,
    engine: Engine,
    config: ProtocolConfig,
    at_work: BTreeMap<MemberName, State>,
    asked: bool,
    now: i64,
    log: Vec<Result<Vec<Directive>, CollaborationError>>,
    trace: Vec<TraceRecord>,
    over: bool,
}

fn graph() -> Graph {
    let graph = Graph::default().node("start", NodeKind::Start).node("end", NodeKind::End).node("fork", NodeKind::Fork);
    let graph =
        MEMBERS.iter().fold(graph, |graph, text| graph.member(&name(text))).node("join", NodeKind::Join).node("check", NodeKind::Choice);
    let graph = graph.edge("start", "a").edge("a", "fork").edge("fork", "b").edge("fork", "c").edge("b", "join").edge("c", "join");
    let graph = graph.edge("join", "d").edge("d", "check").edge_when("check", "a", Condition::Failed);
    graph.edge_when("check", "end", Condition::Contains("done".into())).edge_when("check", "d", Condition::Otherwise)
}

impl World {
    fn new(protocol: &str, seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let choice = *random.pick(&[Choice::Lead, Choice::Roi, Choice::Budget]);
        let custom = protocol == "none" && !seed.is_multiple_of(4);
        let config = ProtocolConfig { graph: custom.then(graph), choice, market: None };
        let mut members = cards(&MEMBERS);
        if seed.is_multiple_of(5) {
            let inner = *random.pick(&["sequential", "hierarchical", "swarm", "a2a"]);
            let spec = TeamSpec { protocol: inner.into(), members: cards(&["x", "y"]), config: ProtocolConfig::default(), max_turns: None };
            members[1] = members[1].clone().with_team(spec);
        }
        let max_turns = *random.pick(&[None, Some(3), Some(12)]);
        let engine = Engine::new(build(protocol, config.clone()).unwrap(), members, EngineConfig { max_turns }).unwrap();
        Self { random, engine, config, at_work: BTreeMap::new(), asked: false, now: 0, log: Vec::new(), trace: Vec::new(), over: false }
    }

    fn send(&mut self, input: Input) {
        self.now += 1 + self.random.below(5_000) as i64;
        let known = self.at_work.clone();
        let directives = match self.engine.handle(input.clone(), Timestamp(self.now)) {
            Ok(directives) => directives,
            Err(error) => {
                self.log.push(Err(error));
                return;
            }
        };
        for (at, directive) in directives.iter().enumerate() {
            assert!(!self.over, "something follows the end: {directive:?}");
            match directive {
                Directive::RunMember { name, .. } => {
                    let released = matches!(&input, Input::MemberReleased { name: who, .. } if who == name);
                    let before = if released { self.at_work.remove(name) } else { self.at_work.get(name).copied() };
                    assert!(before.is_none() || released, "{name} runs twice at once: {:#?}", self.log);
                    self.at_work.insert(name.clone(), State::Running);
                }
                Directive::AskSupervisor { .. } => {
                    assert!(!self.asked, "two open questions");
                    self.asked = true;
                }
                Directive::Ended { .. } => {
                    assert_eq!(at + 1, directives.len(), "the end is last");
                    self.over = true;
                }
                Directive::ToolReply { .. } => assert_eq!(at, 0, "the reply comes first"),
                Directive::Trace(record) => self.trace.push(record.clone()),
                Directive::Snapshot => {}
            }
        }
        if self.over && !matches!(input, Input::Stop) {
            assert!(self.at_work.is_empty(), "the run ended while {known:?} were at work: {input:?} {:#?}", self.log);
        }
        self.log.push(Ok(directives));
    }

    fn output(&mut self) -> String {
        let n = self.random.below(1_000);
        let lies = [
            "done".to_owned(),
            format!("did piece {n} in my own words {n}"),
            String::new(),
            " .".to_owned(),
            "[TEAM_FINISH] I decide".to_owned(),
            format!("{{\"result\": \"r{n}\", \"status\": \"failed\"}}"),
            format!("ok {n}\n{{\"result\": \"r{n}\", \"status\": \"done\"}}"),
            format!("more\n@emerge_tasks {{\"tasks\": [\"t{n}\", \"u{n}\"]}}"),
            format!("over\n@transfer_to {} mind {n}", ["a", "b", "c", "ghost"][(n % 4) as usize]),
            "@submit_proposal {\"score\": 1e999, \"plan\": 3}".to_owned(),
            format!("@submit_proposal {{\"score\": {n}, \"plan\": \"p\"}}"),
            format!("x\n@sync_to_blackboard {{\"todo\": [\"t{n}\"], \"state\": {{\"k\": {n}}}, \"completed_todo\": [\"1\", \"2\"]}}"),
            "{".repeat(50),
        ];
        self.random.pick(&lies).clone()
    }

    fn decision(&mut self) -> String {
        let n = self.random.below(100);
        let texts = [
            "a".to_owned(),
            "assign it to b".into(),
            "c or d".into(),
            "x and y".into(),
            "ghost".into(),
            String::new(),
            "[TEAM_FINISH] the answer".into(),
            "[TEAM_FINISH] the answer".into(),
            "@call_for_bids tests".into(),
            format!("@emerge_tasks t{n}"),
            format!("@sync_to_blackboard {{\"completed_todo\": [\"{n}\", \"1\", \"2\", \"3\"]}}"),
            "@finish {\"answer\": \"all\"}".into(),
            "@route_to d go".into(),
        ];
        self.random.pick(&texts).clone()
    }

    fn tool(&mut self, by: MemberName) {
        let n = self.random.below(50) as f64;
        let (tool, arguments): (&str, Vec<(&str, ArgValue)>) = match self.random.below(7) {
            0 => ("emerge_tasks", vec![("tasks", vec![format!("task {n}").as_str()].into())]),
            1 => ("transfer_to", vec![("target", (*self.random.pick(&["a", "b", "ghost"])).into()), ("memo", "m".into())]),
            2 => ("submit_proposal", vec![("score", n.into()), ("plan", "p".into())]),
            3 => ("sync_to_blackboard", vec![("completed_todo", vec!["1", "2", "3"].into())]),
            4 => ("route_to", vec![("agent", (*self.random.pick(&MEMBERS)).into())]),
            5 => ("finish", vec![("answer", "by tool".into())]),
            _ => ("call_for_bids", vec![("requirement", "tests".into())]),
        };
        let arguments = arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        self.send(Input::ProtocolToolCalled { by, tool: tool.into(), arguments });
    }

    fn member(&mut self) {
        let names: Vec<MemberName> = self.at_work.keys().cloned().collect();
        let name = self.random.pick(&names).clone();
        if self.at_work[&name] == State::Held {
            if self.random.below(4) > 0 {
                return; // slow: the verdict is not there yet
            }
            let approved_text = (self.random.below(2) == 0).then(|| "the edited plan".to_owned());
            if approved_text.is_none() {
                self.at_work.insert(name.clone(), State::Running);
            }
            self.send(Input::MemberReleased { name, approved_text });
            return;
        }
        match self.random.below(20) {
            0..=3 => {} // slow
            4 | 5 => self.tool(name),
            6 => {
                self.at_work.insert(name.clone(), State::Held);
                self.send(Input::MemberHeld { name });
            }
            7 => {
                self.at_work.remove(&name);
                self.send(Input::MemberGone { name, why: String::new() });
            }
            8 | 9 => {
                self.at_work.remove(&name);
                self.send(Input::failed(&name, "boom"));
            }
            _ => {
                self.at_work.remove(&name);
                let output = self.output();
                let (duration_ms, cost) = (self.random.below(100_000), (self.random.below(2) == 0).then_some(0.01));
                self.send(Input::MemberEnded { name, output, error: None, duration_ms, cost, tokens: 10 });
            }
        }
    }

    fn step(&mut self) {
        match self.random.below(40) {
            0 => self.restart(),
            1 => {
                let stray = ["a", "b", "x", "nobody"][self.random.below(4) as usize];
                let stray = name(stray);
                if !self.at_work.contains_key(&stray) {
                    self.send(Input::ended(&stray, "nobody asked me"));
                }
            }
            _ if self.asked && (self.at_work.is_empty() || self.random.below(2) == 0) => {
                if self.random.below(4) == 0 {
                    self.tool(MemberName::lead());
                } else {
                    self.asked = false;
                    let failed = self.random.below(10) == 0;
                    let text = self.decision();
                    self.send(if failed { Input::SupervisorFailed { error: "500".into() } } else { Input::SupervisorAnswered { text } });
                }
            }
            _ if !self.at_work.is_empty() => self.member(),
            _ => {}
        }
    }

    /// The process dies and comes back; held steps wait on, everybody else is started again.
    fn restart(&mut self) {
        let snapshot = self.engine.snapshot();
        let protocol = build(snapshot.protocol(), self.config.clone()).unwrap();
        self.engine = Engine::restore(protocol, snapshot).unwrap();
        self.at_work.retain(|_, state| *state == State::Held);
        self.asked = false;
        self.send(Input::Prompt(String::new()));
    }

    /// Every task that a swarm took is open in its pool, at work, or was run well.
    fn no_task_is_lost(&self) {
        let memory = serde_json::to_value(self.engine.snapshot()).unwrap()["memory"].clone();
        let Some(taken) = memory["next"].as_f64().filter(|_| self.engine.name() == "swarm") else { return };
        let open = memory["open"].as_array().unwrap().len() + usize::from(!memory["active"].is_null());
        let good = |record: &&TraceRecord| {
            let ended = record.outcome != "acts" && record.outcome != "interrupted, runs again" && !record.outcome.starts_with("failed:");
            record.team.is_empty() && record.rule.starts_with("task T") && ended
        };
        let done = self.trace.iter().filter(good).count();
        assert_eq!(taken as usize, open + done, "{:#?}\n{memory}", self.trace);
    }

    fn run(mut self) -> Vec<Result<Vec<Directive>, CollaborationError>> {
        self.send(Input::Prompt("the goal".into()));
        for _ in 0..INPUTS_MAX {
            if self.over || self.log.len().is_multiple_of(16) {
                self.no_task_is_lost();
            }
            if self.over {
                return self.log;
            }
            if !self.engine.is_driven() {
                self.send(Input::ended(&name("a"), "x"));
                self.send(Input::Stop);
                continue;
            }
            assert!(self.asked || !self.at_work.is_empty(), "nobody acts and nobody is asked: {:#?}", self.log);
            self.step();
        }
        panic!("does not end: {:#?}", &self.log[self.log.len() - 30..]);
    }
}

fn seeds() -> u64 {
    if std::env::var_os("SIGNOFF_FULL").is_some() { FULL } else { QUICK }
}

fn simulate(protocol: &str) {
    for seed in 0..seeds() {
        let log = World::new(protocol, seed).run();
        if seed.is_multiple_of(20) {
            assert_eq!(log, World::new(protocol, seed).run(), "{protocol}: seed {seed} gave another trace");
        }
    }
}

#[test]
fn sequential_always_ends() {
    simulate("sequential");
}

#[test]
fn hierarchical_always_ends() {
    simulate("hierarchical");
}

#[test]
fn contract_net_always_ends() {
    simulate("contract_net");
}

#[test]
fn swarm_always_ends() {
    simulate("swarm");
}

#[test]
fn a2a_always_ends() {
    simulate("a2a");
}

#[test]
fn blackboard_always_ends() {
    simulate("blackboard");
}

#[test]
fn market_based_always_ends() {
    simulate("market_based");
}

#[test]
fn none_with_and_without_a_graph_always_ends() {
    simulate("none");
}

#[test]
fn autonomous_always_ends() {
    simulate("autonomous");
}

#[test]
fn a_name_added_to_the_registry_is_simulated() {
    let known = ["sequential", "hierarchical", "contract_net", "swarm", "a2a", "blackboard", "market_based", "none", "autonomous"];
    for new in names().filter(|name| !known.contains(name)) {
        simulate(new);
    }
}
