//! Directives carried out, and the protocol's tools: offered to whom and while they apply, answered by the engine.

use super::super::Supervisor;
use crate::collaboration::{ArgValue, Directive, Input as Step, ProtocolTool};
use crate::domain::{MemberName, Party, Refusal, Reply, TeamEvent, ToolSpec};
use crate::protocol::effect::Phase;
use crate::protocol::{AgentInput, Effect, Mark};
use crate::runtime::clock;
use crate::runtime::inbound::ReplyTo;
use std::sync::Arc;

/// Why a member works, when the protocol chose it.
pub(super) const CAUSE: &str = "protocol";

impl Supervisor {
    /// Carries out a directive; the reply of a tool call is handed back.
    pub(super) fn direct(&mut self, directive: Directive) -> Option<Reply> {
        match directive {
            Directive::RunMember { name, prompt, instruction_addendum, tools } => {
                if self.core.runs(&name) {
                    self.let_act(&name, &tools, &instruction_addendum, &prompt);
                } else {
                    let why = self.why_not(&name);
                    self.drive.inputs.push_back(Step::MemberGone { name, why });
                }
            }
            Directive::AskSupervisor { team, context, tools, instruction } => {
                let lead = MemberName::lead();
                let of = team.iter().map(MemberName::as_str).collect::<Vec<_>>().join(" / ");
                let context = if of.is_empty() { context } else { format!("You decide for the team {of}.\n\n{context}") };
                if self.core.runs(&lead) {
                    self.let_act(&lead, &tools, &instruction, &context);
                } else {
                    let error = self.why_no_lead();
                    self.drive.inputs.push_back(Step::SupervisorFailed { error });
                }
            }
            Directive::ToolReply { ok, text, ends_turn, .. } => return Some(Reply::ProtocolSaid { text, ok, ends_turn }),
            Directive::Trace(record) => {
                let nested: String = record.team.iter().map(|name| format!("{name} / ")).collect();
                self.emit(TeamEvent::Traced {
                    step: record.step,
                    who: record.who,
                    rule: format!("{nested}{}", record.rule),
                    outcome: record.outcome,
                    millis: record.duration_ms,
                });
            }
            Directive::Snapshot => self.save_run(),
            Directive::Ended { reason, ok, answer } => self.end_run(&reason, ok, &answer),
        }
        None
    }

    fn let_act(&mut self, name: &MemberName, tools: &[ProtocolTool], instruction: &str, prompt: &str) {
        self.begin_work(name);
        let specs: Vec<ToolSpec> = tools.iter().map(spec).collect();
        let first = self.first_instruction(name);
        let text = [first.as_str(), instruction, prompt].iter().filter(|t| !t.is_empty()).copied().collect::<Vec<_>>().join("\n\n");
        self.drive.offered.insert(name.clone());
        let effects = vec![
            Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Called }),
            Effect::Tell { name: name.clone(), input: AgentInput::Offered(Arc::new(specs)) },
            Effect::Tell { name: name.clone(), input: AgentInput::Tell { text, cause: CAUSE } },
        ];
        self.carry_out(effects, &mut None);
    }

    /// What the member was spawned with, once: it stands before its first step.
    fn first_instruction(&mut self, name: &MemberName) -> String {
        let Some(member) = self.core.member(name) else { return String::new() };
        let key = (name.clone(), member.generation);
        let prompt = member.prompt.clone().unwrap_or_default();
        if self.drive.briefed.insert(key) { prompt } else { String::new() }
    }

    /// Takes the protocol's tools back from everybody whose step is over.
    pub(super) fn withdraw_tools(&mut self) {
        let over: Vec<MemberName> = self.drive.offered.iter().filter(|name| !self.drive.work.contains_key(*name)).cloned().collect();
        for name in over {
            self.drive.offered.remove(&name);
            self.tell(&name, AgentInput::Offered(Arc::default()));
        }
    }

    /// A tool of the protocol, called by whom the runtime knows it was.
    pub(in super::super) fn use_protocol_tool(&mut self, by: &Party, tool: &str, arguments: serde_json::Value, reply: ReplyTo) {
        let result = self.protocol_tool(by, tool, arguments);
        let _ = reply.send(result);
        self.pump();
        self.settle();
    }

    fn protocol_tool(&mut self, by: &Party, tool: &str, arguments: serde_json::Value) -> Result<Reply, Refusal> {
        let by = by.member().cloned().ok_or_else(|| Refusal::Invalid("only members use a protocol's tools".into()))?;
        let engine = self.drive.engine.as_mut().filter(|_| !self.drive.restored);
        let engine = engine.ok_or_else(|| Refusal::Invalid(format!("{tool}: no run goes on now")))?;
        let arguments: Vec<(String, ArgValue)> = match arguments {
            serde_json::Value::Object(map) => {
                map.into_iter().map(|(key, value)| (key, serde_json::from_value(value).unwrap_or_default())).collect()
            }
            _ => Vec::new(),
        };
        let called = Step::ProtocolToolCalled { by, tool: tool.to_owned(), arguments };
        let directives = engine.handle(called, clock::now()).map_err(|error| Refusal::Invalid(error.to_string()))?;
        let mut said = None;
        for directive in directives {
            said = self.direct(directive).or(said);
        }
        said.ok_or_else(|| Refusal::Invalid("the protocol gave no answer".into()))
    }
}

/// A protocol's tool as a model is offered it.
fn spec(tool: &ProtocolTool) -> ToolSpec {
    let parameters = crate::runtime::supervisor::schema::object(tool.params);
    ToolSpec { name: tool.name.to_owned(), description: tool.description.to_owned(), parameters }
}
