//! The scripted model: plays a documented file (`assets/demo/README.md`) instead of asking a provider. It is the model
//! of `signoff demo`, of `--provider scripted`, and of the tests. Tool calls are real; only the words are written down.
//!
//! Where a member stands is derived from the conversation in each request, by playing it again (`state`), so it
//! goes on after a crash and after compaction. The one thing kept in memory besides is how often a `times`-limited
//! error was raised, and the last state of each member for a compaction request that carries no messages.
//!
//! Imports `domain` and the model port. Deliberately absent: tools, files, the team; a clock other than tokio's timers,
//! which run only while something streams.

use crate::domain::conversation::{AssistantAnswer, FinishReason};
use crate::domain::{CallId, ChatMessage, MemberName, TokenUsage, ToolCall};
use crate::llm::{ChatModel, ChatRequest, ModelError, ModelEvent, ModelStream};
use pace::Beats;
use player::Turn;
use script::{Fault, Pace, Script};
use state::{Part, State};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub mod demo;
mod fill;
mod marks;
mod pace;
mod parse;
mod player;
mod replay;
mod script;
mod state;
mod stimulus;
mod words;

/// The first line of the instruction that asks for a summary; the scripted model answers it by itself.
const COMPACT: &str = include_str!("../../../assets/prompts/compact.md");

/// Which answer of which member, and which step: an error is counted by it.
type Place = (MemberName, u32, usize, usize);

#[derive(Default)]
struct Memory {
    raised: HashMap<Place, u32>,
    last: HashMap<MemberName, State>,
}

/// A model that plays a script.
pub struct ScriptedModel {
    script: Arc<Script>,
    /// `None` = without any wait.
    speed: Option<f64>,
    memory: Mutex<Memory>,
}

impl ScriptedModel {
    /// Reads a script; `origin` is its file name for messages.
    ///
    /// # Errors
    /// [`ModelError::Setup`] with file, line, key and the nearest right word.
    pub fn from_str(text: &str, origin: &str) -> Result<Self, ModelError> {
        let script = Arc::new(parse::parse(text, origin)?);
        Ok(Self { script, speed: Some(1.0), memory: Mutex::default() })
    }

    /// The embedded demonstration, at the speed of the file. The script is checked by a test; should it be broken all the
    /// same, the model says so instead of playing.
    pub fn demo() -> Self {
        let script = parse::parse(demo::SCRIPT, "demo.toml").unwrap_or_else(|fault| Script::saying(fault.to_string()));
        Self { script: Arc::new(script), speed: Some(1.0), memory: Mutex::default() }
    }

    /// Plays faster (2.0 = twice) or slower. 0, infinity and anything that is no positive number: without any wait.
    #[must_use]
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed).filter(|s| s.is_finite() && *s > 0.0);
        self
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A summary that carries the state, so that the script goes on after compaction.
    fn summarise(&self, request: &ChatRequest, covered: &[ChatMessage]) -> ModelStream {
        let part = Part { script: &self.script, name: request.member.as_str() };
        let told = covered.iter().any(|message| matches!(message, ChatMessage::Assistant { .. }));
        let remembered = if told { None } else { self.memory().last.get(&request.member).cloned() };
        let state = remembered.unwrap_or_else(|| State::replay(part, covered));
        let task = state.vars.get("task").map(|task| format!(" Last task: {task}.")).unwrap_or_default();
        let line = marks::save(&self.script, &state, covered.last());
        let text = format!("The scripted member {} gave {} answers so far.{task}\n{line}", request.member, state.turns);
        self.send(request, &state, Turn { text, ..Turn::default() })
    }

    fn send(&self, request: &ChatRequest, state: &State, turn: Turn) -> ModelStream {
        let pace = Pace {
            tokens_per_second: turn.tokens_per_second.unwrap_or(self.script.pace.tokens_per_second),
            pause: turn.pause.unwrap_or(self.script.pace.pause),
        };
        let mut beats = Beats::new(pace, self.speed);
        beats.text(&turn.think, ModelEvent::Reasoning);
        beats.text(&turn.text, ModelEvent::Text);
        let calls: Vec<ToolCall> = turn.calls.iter().enumerate().map(|(index, call)| self.call(state, index, call)).collect();
        calls.iter().for_each(|call| beats.call(&call.name, &call.arguments));
        if let Some(error) = turn.fault.as_ref().and_then(|(step, fault)| self.raise(request, state, *step, fault)) {
            return beats.fail(error);
        }
        beats.finish(answer(request, turn, calls))
    }

    fn call(&self, state: &State, index: usize, (name, arguments): &(String, serde_json::Value)) -> ToolCall {
        let id = CallId::new(marks::call_id(state, &self.script, index));
        ToolCall { id, name: name.clone(), arguments: arguments.to_string() }
    }

    /// The error, unless it was raised often enough.
    fn raise(&self, request: &ChatRequest, state: &State, (rule, step): (usize, usize), fault: &Fault) -> Option<ModelError> {
        let place = (request.member.clone(), state.turns, rule, step);
        let mut memory = self.memory();
        let raised = memory.raised.entry(place).or_default();
        if fault.times > 0 && *raised >= fault.times {
            return None;
        }
        *raised = raised.saturating_add(1);
        Some(pace::error(fault))
    }
}

fn answer(request: &ChatRequest, turn: Turn, calls: Vec<ToolCall>) -> AssistantAnswer {
    let otherwise = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
    let reasoning = (!turn.think.is_empty()).then_some(turn.think);
    let written = ChatMessage::Assistant { text: turn.text.clone(), reasoning: reasoning.clone(), calls: calls.clone() }.size();
    let usage = turn.usage.unwrap_or_else(|| TokenUsage {
        input: pace::tokens(request.messages.iter().map(ChatMessage::size).sum()),
        output: pace::tokens(written),
        cached: 0,
        reasoning: pace::tokens(reasoning.as_ref().map_or(0, String::len)),
    });
    AssistantAnswer { text: turn.text, reasoning, calls, finish: turn.finish.unwrap_or(otherwise), usage }
}

/// The messages that a request for a summary covers; `None` when it asks for something else.
fn to_compact(messages: &[ChatMessage]) -> Option<&[ChatMessage]> {
    let first_line = COMPACT.lines().next().unwrap_or_default();
    let asks = |message: &ChatMessage| match message {
        ChatMessage::System { text } | ChatMessage::User { text } => text.trim_start().starts_with(first_line),
        ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => false,
    };
    match messages {
        [covered @ .., last] if asks(last) => Some(covered),
        [first, covered @ ..] if asks(first) => Some(covered),
        _ => None,
    }
}

impl ChatModel for ScriptedModel {
    fn stream(&self, request: ChatRequest) -> ModelStream {
        if let Some(covered) = to_compact(&request.messages) {
            return self.summarise(&request, covered);
        }
        let part = Part { script: &self.script, name: request.member.as_str() };
        let mut state = State::replay(part, &request.messages);
        let turn = player::next(part, &mut state);
        let stream = self.send(&request, &state, turn);
        self.memory().last.insert(request.member, state);
        stream
    }

    fn context_window(&self, _model: &str) -> Option<u64> {
        Some(self.script.context_window)
    }

    fn name(&self) -> &str {
        "scripted"
    }

    fn is_scripted(&self) -> bool {
        true
    }
}
