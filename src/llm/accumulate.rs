//! From chunks to events and to the whole answer.
//!
//! Pure: no clock, no channel, no network. Deliberately absent: whether an ending is a fault (see `call`).

use super::calls::Calls;
use super::dialect;
use super::names::NameMap;
use super::think::{Piece, Splitter};
use super::wire::Chunk;
use super::{ChatRequest, ModelEvent};
use crate::domain::conversation::{AssistantAnswer, FinishReason};
use crate::domain::{ChatMessage, TokenUsage, ToolSpec};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Gathers one answer.
#[derive(Debug)]
pub struct Accumulator {
    names: NameMap,
    tools: Arc<Vec<ToolSpec>>,
    splitter: Splitter,
    calls: Calls,
    text: String,
    reasoning: String,
    reasoning_field: Option<&'static str>,
    finish: Option<String>,
    usage: TokenUsage,
    anything: bool,
}

impl Accumulator {
    /// Ready for the answer to `request`.
    pub fn new(request: &ChatRequest) -> Self {
        let ids = request.messages.iter().flat_map(|message| match message {
            ChatMessage::Assistant { calls, .. } => calls.as_slice(),
            ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => &[],
        });
        let taken: BTreeSet<String> = ids.map(|call| call.id.to_string()).collect();
        Self {
            names: NameMap::new(&request.tools),
            tools: request.tools.clone(),
            splitter: Splitter::default(),
            calls: Calls::new(taken),
            text: String::new(),
            reasoning: String::new(),
            reasoning_field: None,
            finish: None,
            usage: TokenUsage::default(),
            anything: false,
        }
    }

    /// Takes a chunk; gives what there is to show.
    pub fn push(&mut self, chunk: Chunk) -> Vec<ModelEvent> {
        let mut events = Vec::new();
        self.finish = self.finish.take().or(chunk.finish);
        if let Some(usage) = chunk.usage {
            self.take_usage(usage, &mut events);
        }
        // A last chunk that repeats the whole message adds nothing to what came in pieces.
        if chunk.whole && self.anything {
            return events;
        }
        if let Some((field, text)) = chunk.reasoning {
            self.anything = true;
            self.reasoning_field = Some(field);
            self.reasoning.push_str(&text);
            events.push(ModelEvent::Reasoning(text));
        }
        if !chunk.text.is_empty() {
            self.anything = true;
            let pieces = self.splitter.push(&chunk.text);
            self.take_pieces(pieces, &mut events);
        }
        for delta in chunk.calls {
            self.anything = true;
            if let Some(name) = self.calls.push(delta) {
                events.push(ModelEvent::CallStarted { name: self.names.offered(&name) });
            }
        }
        events
    }

    /// Totals grow, some servers leave fields out in between: the largest number of each is the last one told.
    fn take_usage(&mut self, told: TokenUsage, events: &mut Vec<ModelEvent>) {
        let known = self.usage;
        self.usage = TokenUsage {
            input: known.input.max(told.input),
            output: known.output.max(told.output),
            cached: known.cached.max(told.cached),
            reasoning: known.reasoning.max(told.reasoning),
        };
        if self.usage != known {
            events.push(ModelEvent::Usage(self.usage));
        }
    }

    fn take_pieces(&mut self, pieces: Vec<Piece>, events: &mut Vec<ModelEvent>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    self.text.push_str(&text);
                    events.push(ModelEvent::Text(text));
                }
                Piece::Thought(text) => {
                    self.reasoning.push_str(&text);
                    events.push(ModelEvent::Reasoning(text));
                }
                Piece::WasThought => {
                    let text = std::mem::take(&mut self.text);
                    self.reasoning.push_str(&text);
                }
            }
        }
    }

    /// Whether the server said why it ended: what may follow is the usage.
    pub fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether any text, reasoning or call came.
    pub fn has_content(&self) -> bool {
        self.anything
    }

    /// The field in which reasoning came, if it came in one of its own.
    pub fn reasoning_field(&self) -> Option<&'static str> {
        self.reasoning_field
    }

    /// The whole answer, and what is left to show before it.
    pub fn finish(mut self) -> (AssistantAnswer, Vec<ModelEvent>) {
        let mut events = Vec::new();
        let rest = self.splitter.finish();
        self.take_pieces(rest, &mut events);
        if self.calls.is_empty() && !self.tools.is_empty() {
            self.take_text_calls(&mut events);
        }
        let (mut calls, started) = self.calls.finish();
        calls.iter_mut().for_each(|call| call.name = self.names.offered(&call.name));
        events.extend(started.iter().map(|name| ModelEvent::CallStarted { name: self.names.offered(name) }));
        let text = if self.text.trim().is_empty() { String::new() } else { self.text };
        let reasoning = Some(self.reasoning).filter(|text| !text.trim().is_empty());
        let finish = finish_reason(self.finish.as_deref(), calls.is_empty());
        (AssistantAnswer { text, reasoning, calls, finish, usage: self.usage }, events)
    }

    fn take_text_calls(&mut self, events: &mut Vec<ModelEvent>) {
        let Some(found) = dialect::read_calls(&self.text, &self.tools, &self.names) else { return };
        self.text.clear();
        for (index, (name, arguments)) in found.into_iter().enumerate() {
            let delta = super::wire::CallDelta { index: Some(index as u64), id: String::new(), name, arguments };
            let started = self.calls.push(delta);
            events.extend(started.map(|name| ModelEvent::CallStarted { name }));
        }
    }
}

/// The reason in our words. An unknown one counts by what came: calls want tools, else it is done.
fn finish_reason(word: Option<&str>, no_calls: bool) -> FinishReason {
    let done = if no_calls { FinishReason::Stop } else { FinishReason::ToolCalls };
    match word.unwrap_or_default().to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "max_length" | "model_length" | "max_output_tokens" => FinishReason::Length,
        "content_filter" | "safety" | "recitation" | "blocked" | "prohibited_content" => FinishReason::ContentFilter,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        _ => done,
    }
}
