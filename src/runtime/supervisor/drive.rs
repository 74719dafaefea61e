//! Driving a collaboration protocol: the engine says who acts next, this room lets them act and tells it what came out.
//!
//! The engine is pure and knows no agents; this room knows no protocol. The person's goal starts a run as soon as there
//! are teammates: at once where there are some, else when the lead, who was told the goal, has spawned them and rests.

use super::super::inbound::ReplyTo;
use super::Supervisor;
use crate::collaboration::{
    ArgValue, Directive, Engine, EngineConfig, EngineSnapshot, Input as Step, MemberCard, ProtocolConfig, ProtocolTool, SeatState, build,
};
use crate::domain::event::NoticeLevel;
use crate::domain::{
    Envelope, MemberName, MessageKind, Party, Refusal, Reply, RequestKind, RequestState, TeamCommand, TeamEvent, Timestamp, ToolSpec,
};
use crate::protocol::effect::Phase;
use crate::protocol::turn::Outcome;
use crate::protocol::{AgentInput, AgentReport, Effect, Input, Mark};
use crate::runtime::clock;
use crate::store::{Expect, PutOf};
use std::collections::HashMap;
use std::sync::Arc;

/// The entity that holds a run between restarts: `team/snapshot.json`.
const SNAPSHOT: &str = "snapshot";

/// A member's run of its model loop, as the engine asked for it.
#[derive(Clone, Debug, Default)]
struct Run {
    began: Timestamp,
    tokens: u64,
    cost: Option<f64>,
}

/// The engine of the team's protocol, and what it waits for.
#[derive(Default)]
pub(super) struct Drive {
    engine: Option<Engine>,
    goal: Option<String>,
    runs: HashMap<MemberName, Run>,
    asked: bool,
    restored: bool,
}

impl Supervisor {
    /// Takes a run up that an earlier process left; it goes on when somebody says so.
    pub(super) fn restore_drive(&mut self) {
        if !self.core.is_driven() {
            return;
        }
        let Some(snapshot) = self.load_snapshot() else { return };
        let Ok(protocol) = build(self.core.protocol(), self.protocol_config()) else { return };
        match Engine::restore(protocol, snapshot) {
            Ok(engine) if engine.is_running() => {
                self.drive.engine = Some(engine);
                self.drive.restored = true;
                self.core.mark(Mark::Driving(true));
                let text =
                    "a run was interrupted: resume its members (R), and it goes on where it stopped; a new goal starts over".to_owned();
                self.record(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: None });
            }
            Ok(_) => {}
            Err(error) => self.notice_store(&format!("team/{SNAPSHOT}.json: {error}")),
        }
    }

    fn load_snapshot(&mut self) -> Option<EngineSnapshot> {
        let key = MemberName::parse(SNAPSHOT).ok()?;
        let (value, _) = self.env.store.memory(&key).ok().flatten()?;
        serde_json::from_value(value).ok()
    }

    fn protocol_config(&self) -> ProtocolConfig {
        let market = MemberName::parse("market").ok().and_then(|key| self.env.store.memory(&key).ok().flatten());
        let market = market.and_then(|(value, _)| serde_json::from_value(value).ok());
        ProtocolConfig { market, ..self.env.protocol_config.clone() }
    }

    /// What an input means for the run, after the core has carried it out.
    pub(super) fn drive_after(&mut self, input: &Input) {
        if !self.core.is_driven() {
            return;
        }
        match input {
            Input::Command { by: Party::Human, command: TeamCommand::Send { to, content } } if to.trim().eq_ignore_ascii_case("lead") => {
                if !self.core.is_driving() || self.drive.restored || !self.drive.engine.as_ref().is_some_and(Engine::is_running) {
                    self.drive.goal = Some(content.clone());
                }
            }
            Input::Command { command: TeamCommand::StopTeam { .. }, .. } => self.step(Step::Stop),
            Input::Outside(crate::protocol::Outside::Mail(name, mail)) if name.is_lead() && !self.core.is_driving() => {
                let last = mail.iter().rev().find(|m| m.from == Party::Human);
                self.drive.goal = last.map(|m| m.content.clone()).or(self.drive.goal.take());
            }
            Input::Report { name, report, .. } => self.drive_report(name, report),
            Input::Command { .. } | Input::Outside(_) | Input::Fired(_) => self.tell_verdicts(),
        }
        self.start_run();
        self.go_on();
    }

    fn drive_report(&mut self, name: &MemberName, report: &AgentReport) {
        match report {
            AgentReport::Used { usage, .. } => {
                if let Some(run) = self.drive.runs.get_mut(name) {
                    run.tokens = run.tokens.saturating_add(usage.total());
                }
            }
            AgentReport::Rested { outcome: Outcome::AwaitsVerdict, .. } if self.drive.runs.contains_key(name) => {
                self.step(Step::MemberHeld { name: name.clone() });
            }
            AgentReport::Rested { outcome, text } => self.rested_in_run(name, outcome, text),
            AgentReport::Ended { reason, .. } => {
                if self.drive.runs.remove(name).is_some() {
                    self.step(Step::failed(name, reason.clone()));
                }
                if self.core.is_driving() && name.is_lead() && std::mem::take(&mut self.drive.asked) {
                    self.step(Step::SupervisorFailed { error: reason.clone() });
                } else if self.core.is_driving() {
                    self.step(Step::MemberGone { name: name.clone() });
                }
            }
            AgentReport::Began { .. }
            | AgentReport::Doing(_)
            | AgentReport::Answered { .. }
            | AgentReport::ToolBegan { .. }
            | AgentReport::ToolEnded { .. }
            | AgentReport::Compacted { .. }
            | AgentReport::Noticed { .. } => {}
        }
    }

    fn rested_in_run(&mut self, name: &MemberName, outcome: &Outcome, text: &str) {
        let fault = match outcome {
            Outcome::Done | Outcome::Idled | Outcome::AwaitsVerdict | Outcome::Empty => None,
            Outcome::RoundCap(_) | Outcome::Interrupted | Outcome::Circling(_) => Some(outcome.words()),
        };
        if name.is_lead() {
            if std::mem::take(&mut self.drive.asked) {
                self.step(match fault {
                    Some(error) => Step::SupervisorFailed { error },
                    None => Step::SupervisorAnswered { text: text.to_owned() },
                });
            }
            return;
        }
        let Some(run) = self.drive.runs.remove(name) else { return };
        let duration_ms = u64::try_from(clock::now().since(run.began).as_millis()).unwrap_or(u64::MAX);
        self.step(Step::MemberEnded {
            name: name.clone(),
            output: text.to_owned(),
            error: fault,
            duration_ms,
            cost: run.cost,
            tokens: run.tokens,
        });
    }

    /// A plan of a held member that was decided lets it go on by itself; its verdict wakes it.
    fn tell_verdicts(&mut self) {
        let waits = |name: &&MemberName| {
            !self.core.requests().any(|r| r.target == **name && r.kind == RequestKind::Plan && r.state == RequestState::Pending)
        };
        let held: Vec<MemberName> = self.drive.engine.as_ref().map(Engine::held_members).unwrap_or_default();
        let free: Vec<MemberName> = held.iter().filter(waits).cloned().collect();
        for name in free {
            self.drive.runs.entry(name.clone()).or_insert_with(|| Run { began: clock::now(), ..Run::default() });
            self.step(Step::MemberReleased { name, approved_text: None });
        }
    }

    /// Starts the run for which a goal waits, once there is a team and the lead rests.
    fn start_run(&mut self) {
        if self.drive.goal.is_none() || !self.core.is_at_rest(&MemberName::lead()) {
            return;
        }
        let cards: Vec<MemberCard> = self
            .core
            .members()
            .iter()
            .filter(|m| !m.name.is_lead() && m.status.is_live())
            .map(|m| {
                let words: Vec<&str> = m.role.split([',', ';', '/']).map(str::trim).filter(|w| !w.is_empty()).collect();
                MemberCard::new(m.name.clone(), m.role.clone()).able(&words)
            })
            .collect();
        if cards.is_empty() {
            return;
        }
        let Some(goal) = self.drive.goal.take() else { return };
        let max_turns = (self.env.settings.max_turns > 0).then_some(self.env.settings.max_turns);
        let engine = build(self.core.protocol(), self.protocol_config())
            .and_then(|protocol| Engine::new(protocol, cards, EngineConfig { max_turns }));
        match engine {
            Ok(engine) => {
                self.drive.engine = Some(engine);
                self.drive.runs.clear();
                self.drive.asked = false;
                self.drive.restored = false;
                self.core.mark(Mark::Driving(true));
                self.step(Step::Prompt(goal));
            }
            Err(error) => self.end_run(&error.to_string(), false, ""),
        }
    }

    /// Lets an interrupted run go on as soon as everybody that it needs is back.
    fn go_on(&mut self) {
        let Some(engine) = self.drive.engine.as_ref().filter(|_| self.drive.restored) else { return };
        let needed = engine.team().seats.iter().filter(|seat| seat.state == SeatState::Interrupted);
        if needed.into_iter().all(|seat| self.core.member(seat.name()).is_some_and(|m| m.status.is_live())) {
            self.drive.restored = false;
            self.step(Step::Prompt(String::new()));
        }
    }

    /// One input for the engine, and what it wants done.
    fn step(&mut self, input: Step) {
        let Some(engine) = self.drive.engine.as_mut() else { return };
        let directives = match engine.handle(input, clock::now()) {
            Ok(directives) => directives,
            Err(error) => {
                tracing::debug!(%error, "the protocol did not take it");
                return;
            }
        };
        for directive in directives {
            let _ = self.direct(directive);
        }
    }

    /// Carries out a directive; the reply of a tool call is handed back.
    fn direct(&mut self, directive: Directive) -> Option<Reply> {
        match directive {
            Directive::RunMember { name, prompt, instruction_addendum, tools } => {
                self.drive.runs.insert(name.clone(), Run { began: clock::now(), ..Run::default() });
                self.let_act(&name, &tools, &instruction_addendum, &prompt);
            }
            Directive::AskSupervisor { context, tools, instruction, .. } => {
                self.drive.asked = true;
                self.let_act(&MemberName::lead(), &tools, &instruction, &context);
            }
            Directive::ToolReply { ok, text, ends_turn, .. } => return Some(Reply::ProtocolSaid { text, ok, ends_turn }),
            Directive::Trace(record) => self.emit(TeamEvent::Traced {
                step: record.step,
                who: record.who,
                rule: record.rule,
                outcome: record.outcome,
                millis: record.duration_ms,
            }),
            Directive::Snapshot => self.save_drive(),
            Directive::Ended { reason, ok, answer } => self.end_run(&reason, ok, &answer),
        }
        None
    }

    fn let_act(&mut self, name: &MemberName, tools: &[ProtocolTool], instruction: &str, prompt: &str) {
        let specs: Vec<ToolSpec> = tools.iter().map(spec).collect();
        let text = [instruction, prompt].iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join("\n\n");
        let effects = vec![
            Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Working }),
            Effect::Tell { name: name.clone(), input: AgentInput::Offered(Arc::new(specs)) },
            Effect::Tell { name: name.clone(), input: AgentInput::Tell { text, cause: "protocol" } },
        ];
        self.carry_out(effects, &mut None);
    }

    fn end_run(&mut self, reason: &str, ok: bool, answer: &str) {
        self.core.mark(Mark::Driving(false));
        self.drive.engine = None;
        self.drive.runs.clear();
        self.drive.asked = false;
        let names: Vec<MemberName> = self.core.members().iter().map(|m| m.name.clone()).collect();
        for name in names {
            self.tell(&name, AgentInput::Offered(Arc::default()));
        }
        if !answer.trim().is_empty() {
            let message = Envelope::new(clock::message_id(), MessageKind::Result, Party::lead(), "human", answer, clock::now());
            let message = Arc::new(message);
            self.carry_out(vec![Effect::Deliver(message.clone()), Effect::Emit(TeamEvent::MessageSent { message })], &mut None);
        }
        self.emit(TeamEvent::Finished { reason: reason.to_owned(), ok });
    }

    /// Saves the run after each step, so that it goes on where it stopped; and what the protocol keeps beyond it.
    fn save_drive(&mut self) {
        let Some(engine) = self.drive.engine.as_ref() else { return };
        let mut kept = vec![(SNAPSHOT, serde_json::to_value(engine.snapshot()))];
        kept.extend(engine.keepsake().map(|(name, value)| (name, serde_json::to_value(value))));
        for (name, value) in kept {
            let Ok(value) = value else { continue };
            if let Err(error) = self.save_memory(name, &value) {
                self.notice_store(&format!("team/{name}.json: {error}"));
            }
        }
    }

    fn save_memory(&self, name: &str, value: &serde_json::Value) -> Result<(), String> {
        let key = MemberName::parse(name).map_err(|e| e.to_string())?;
        let mut expect = match self.env.store.memory(&key).map_err(|e| e.to_string())? {
            Some((_, revision)) => Expect::At(revision),
            None => Expect::Absent,
        };
        for _ in 0..super::RETRIES {
            match self.env.store.put_memory(&key, value, expect).map_err(|e| e.to_string())? {
                PutOf::Applied(_) => return Ok(()),
                PutOf::Lost(Some((_, revision))) => expect = Expect::At(revision),
                PutOf::Lost(None) => expect = Expect::Absent,
            }
        }
        Err("another process keeps changing it".into())
    }

    /// A tool of the protocol, called by whom the runtime knows it was.
    pub(super) fn use_protocol_tool(&mut self, by: &Party, tool: &str, arguments: serde_json::Value, reply: ReplyTo) {
        let refuse = |text: &str| Err(Refusal::Invalid(text.to_owned()));
        let Some(by) = by.member().cloned() else {
            let _ = reply.send(refuse("only members use a protocol's tools"));
            return;
        };
        let arguments: Vec<(String, ArgValue)> = match arguments {
            serde_json::Value::Object(map) => {
                map.into_iter().map(|(key, value)| (key, serde_json::from_value(value).unwrap_or_default())).collect()
            }
            _ => Vec::new(),
        };
        let called = Step::ProtocolToolCalled { by, tool: tool.to_owned(), arguments };
        let directives = match self.drive.engine.as_mut().map(|engine| engine.handle(called, clock::now())) {
            Some(Ok(directives)) => directives,
            Some(Err(error)) => {
                let _ = reply.send(refuse(&error.to_string()));
                return;
            }
            None => {
                let _ = reply.send(refuse("no run goes on"));
                return;
            }
        };
        let mut said = None;
        for directive in directives {
            said = self.direct(directive).or(said);
        }
        let _ = reply.send(said.ok_or_else(|| Refusal::Invalid("the protocol gave no answer".into())));
        self.settle();
    }
}

/// A protocol's tool as a model is offered it.
fn spec(tool: &ProtocolTool) -> ToolSpec {
    ToolSpec { name: tool.name.to_owned(), description: tool.description.to_owned(), parameters: super::schema::object(tool.params) }
}
