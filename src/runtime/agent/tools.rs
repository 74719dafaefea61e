//! One tool call: checked, authorized, run, cancelled when the person or the supervisor says so.

use super::Agent;
use crate::collaboration;
use crate::domain::{Activity, ChatMessage, Reply, TeamCommand, ToolCall, text};
use crate::llm::arguments::parse_arguments;
use crate::protocol::AgentReport;
use crate::protocol::turn::{Follow, Turn, TurnEffect, TurnInput};
use crate::runtime::clock;
use crate::runtime::live::LiveKind;
use crate::tool::{Control, Effect, TeamPort, Tool, ToolContext, ToolOutcome};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A cancelled tool has this long to come back with what it has (its commands get TERM, then KILL after 2 s).
const CANCEL_GRACE: Duration = Duration::from_millis(2_600);
/// Output that goes into the event log, in characters; the transcript has all of it.
const EVENT_OUTPUT: usize = 2_000;

/// What ended the wait for a tool.
enum Wait {
    Done(ToolOutcome),
    /// The turn ends; what the tool had by then.
    Halted(TurnInput, ToolOutcome),
}

impl Agent {
    /// Runs one call and returns what the turn does next.
    pub(super) async fn run_tool(&mut self, turn: &mut Turn, call: ToolCall) -> Vec<TurnEffect> {
        self.poll_down();
        if let Some(halt) = self.take_halt() {
            return turn.handle(halt);
        }
        if self.shutdown_waits() {
            return turn.handle(TurnInput::Yield);
        }
        // Out of turn, the protocol itself says why the call does not count.
        if self.offered.iter().any(|tool| tool.name == call.name) || collaboration::is_tool(&call.name) {
            return self.use_protocol_tool(turn, call).await;
        }
        let (tool, arguments) = match self.env.tools.prepare(&call.name, &call.arguments, self.audience) {
            Ok(prepared) => prepared,
            Err(fault) => return turn.handle(ended(&call, ToolOutcome::error(fault.clone()), Some(format!("{}: {fault}", call.name)))),
        };
        match self.run_prepared(&call, tool, arguments).await {
            Wait::Done(outcome) => turn.handle(ended(&call, outcome, None)),
            Wait::Halted(halt, outcome) => {
                let result = ChatMessage::Tool { call_id: call.id.clone(), name: call.name.clone(), content: outcome.content, ok: false };
                let mut effects = vec![TurnEffect::Append(result)];
                // The running call has its result already.
                effects.extend(
                    turn.handle(halt)
                        .into_iter()
                        .filter(|e| !matches!(e, TurnEffect::Append(ChatMessage::Tool { call_id, .. }) if *call_id == call.id)),
                );
                effects
            }
        }
    }

    /// A tool of the collaboration protocol: answered by its engine in the supervisor, in no time.
    async fn use_protocol_tool(&mut self, turn: &mut Turn, call: ToolCall) -> Vec<TurnEffect> {
        let arguments = match parse_arguments(&call.arguments) {
            Ok(arguments) => Value::Object(arguments),
            Err(fault) => return turn.handle(ended(&call, ToolOutcome::error(fault.clone()), Some(format!("{}: {fault}", call.name)))),
        };
        let summary = text::one_line(&call.arguments, 120);
        self.tell(AgentReport::ToolBegan { call: call.id.clone(), tool: call.name.clone(), summary });
        let outcome = match self.port.command(TeamCommand::UseProtocolTool { tool: call.name.clone(), arguments }).await {
            Ok(Reply::ProtocolSaid { text, ok, ends_turn }) => {
                ToolOutcome { ok, content: text, control: if ends_turn { Control::Idle } else { Control::Continue } }
            }
            Ok(_) => ToolOutcome::error("the protocol gave no answer"),
            Err(refusal) => ToolOutcome::error(refusal.to_string()),
        };
        let (ok, output) = (outcome.ok, extract(&outcome.content));
        self.tell(AgentReport::ToolEnded { call: call.id.clone(), tool: call.name.clone(), ok, millis: 0, output });
        // The same refusal again and again ends the turn, as it does with faulty arguments.
        let fault = (!outcome.ok).then(|| format!("{}: {}", call.name, outcome.content));
        turn.handle(ended(&call, outcome, fault))
    }

    async fn run_prepared(&mut self, call: &ToolCall, tool: Arc<dyn Tool>, arguments: Value) -> Wait {
        let summary = text::one_line(&tool.summary(&arguments), 200);
        let intent = match tool.intent(&arguments, &self.env.workspace) {
            Ok(intent) => intent,
            Err(fault) => return Wait::Done(ToolOutcome::error(fault)),
        };
        let cancel = CancellationToken::new();
        let name = tool.spec().name;
        if tool.effect() == Effect::Changes
            && let Some(intent) = intent
        {
            let port = self.port.clone();
            let asked = Box::pin(async move {
                match port.command(TeamCommand::Authorize(intent)).await {
                    Ok(Reply::Authorized) => ToolOutcome::ok(""),
                    Ok(_) => ToolOutcome::error("not allowed"),
                    Err(refusal) => ToolOutcome::error(refusal.to_string()),
                }
            });
            // Nothing runs yet that would need time to end.
            match self.wait_for(asked, &cancel, Duration::ZERO).await {
                Wait::Done(outcome) if outcome.ok => {}
                Wait::Halted(halt, _) => return Wait::Halted(halt, ToolOutcome::error("not run: it still waited for permission")),
                refused => return refused,
            }
        }
        let began = clock::now();
        self.tell(AgentReport::ToolBegan { call: call.id.clone(), tool: name.clone(), summary: summary.clone() });
        self.doing(Activity::Tool { tool: name.clone(), summary, since: began });
        let context = self.context_for(&cancel);
        let mut waited = self.wait_for(tool.run(arguments, context), &cancel, CANCEL_GRACE).await;
        let outcome = match &mut waited {
            Wait::Done(outcome) | Wait::Halted(_, outcome) => outcome,
        };
        outcome.content = self.port.cleared(&outcome.content).into_owned();
        let millis = u64::try_from(clock::now().since(began).as_millis()).unwrap_or(u64::MAX);
        let output = extract(&outcome.content);
        self.tell(AgentReport::ToolEnded { call: call.id.clone(), tool: name, ok: outcome.ok, millis, output });
        self.env.live.begin(&self.member.name, LiveKind::Text);
        waited
    }

    fn context_for(&self, cancel: &CancellationToken) -> ToolContext {
        ToolContext {
            member: self.member.name.clone(),
            generation: self.member.generation,
            workspace: self.env.workspace.clone(),
            team: self.port.clone(),
            cancel: cancel.clone(),
            jobs: self.jobs.clone(),
            output_limit: self.env.settings.output_limit,
            command_timeout: Duration::from_secs(self.env.settings.command_timeout),
        }
    }

    /// Waits for a tool while listening to the supervisor; an interrupt or a kill cancels it and waits for what it has.
    async fn wait_for(&mut self, mut tool: BoxFuture<'static, ToolOutcome>, cancel: &CancellationToken, grace: Duration) -> Wait {
        loop {
            tokio::select! {
                biased;
                input = self.down.recv() => match input {
                    Some(input) => self.queue_input(input),
                    None => self.app_ended(),
                },
                outcome = &mut tool => return Wait::Done(outcome),
            }
            if let Some(halt) = self.take_cancel() {
                cancel.cancel();
                let late = tokio::time::timeout(grace, tool).await;
                let outcome = late.unwrap_or_else(|_| ToolOutcome::error("cancelled; it did not come back in time"));
                return Wait::Halted(halt, outcome);
            }
        }
    }
}

fn ended(call: &ToolCall, outcome: ToolOutcome, fault: Option<String>) -> TurnInput {
    let control = match outcome.control {
        Control::Continue => Follow::On,
        Control::Idle => Follow::Idle,
        Control::AwaitVerdict => Follow::Await,
        Control::Shutdown { reason } => Follow::End { reason },
    };
    TurnInput::ToolEnded { call: call.id.clone(), name: call.name.clone(), content: outcome.content, ok: outcome.ok, fault, control }
}

fn extract(output: &str) -> String {
    match output.char_indices().nth(EVENT_OUTPUT) {
        None => output.to_owned(),
        Some((cut, _)) => format!("{}\n… {} bytes more", &output[..cut], output.len() - cut),
    }
}
