//! From a transcript back to a conversation, and the repair of one that a crash cut off.
//!
//! A history that ends with tool calls gets "interrupted" results; results without a call go. Both are said, not hidden.

use super::format;
use crate::domain::conversation::CUT_OFF;
use crate::domain::{CallId, ChatMessage, Generation, TranscriptEntry};
use std::collections::HashSet;

/// A conversation as a transcript tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The messages, without the system message.
    pub messages: Vec<ChatMessage>,
    /// The inbox position after the last mail taken in, in bytes.
    pub inbox_offset: u64,
    /// The generation that wrote last; `None` for an empty transcript.
    pub generation: Option<Generation>,
    /// What had to be repaired, in words.
    pub repairs: Vec<String>,
}

/// The conversation of the last generation in `entries`.
pub fn replay(entries: &[TranscriptEntry]) -> Replay {
    let mut state = Replay::default();
    for entry in entries {
        match entry {
            TranscriptEntry::Started { generation, inbox_offset, .. } => {
                state = Replay { inbox_offset: *inbox_offset, generation: Some(*generation), ..Replay::default() };
            }
            TranscriptEntry::Mail { offset, messages, .. } => {
                state.inbox_offset = *offset;
                if !messages.is_empty() {
                    state.messages.push(ChatMessage::user(format::mails(messages)));
                }
            }
            TranscriptEntry::Message { message, .. } => state.messages.push(message.clone()),
            TranscriptEntry::Compacted { summary, kept, .. } => {
                // `kept` counts the conversation as it was then: repaired, if it had been taken up after a crash.
                state.messages = repair(std::mem::take(&mut state.messages)).0;
                let from = state.messages.len().saturating_sub(*kept);
                let tail = state.messages.split_off(from);
                state.messages = std::iter::once(ChatMessage::user(summary.clone())).chain(tail).collect();
            }
        }
    }
    let (messages, repairs) = repair(std::mem::take(&mut state.messages));
    Replay { messages, repairs, ..state }
}

/// Tools that end the turn when they succeed: nothing is missing after them.
const LAST_TOOLS: [&str; 3] = ["idle", "plan_approval", "shutdown_response"];

/// Whether the conversation stopped in the middle: something was told or called, and no last word followed.
pub fn is_unfinished(messages: &[ChatMessage]) -> bool {
    match messages.last() {
        None | Some(ChatMessage::System { .. }) => false,
        Some(ChatMessage::User { .. }) => true,
        Some(ChatMessage::Tool { name, ok, .. }) => !(*ok && LAST_TOOLS.contains(&name.as_str())),
        Some(ChatMessage::Assistant { calls, .. }) => !calls.is_empty(),
    }
}

/// Pairs every tool call with exactly one result right after it.
pub fn repair(messages: Vec<ChatMessage>) -> (Vec<ChatMessage>, Vec<String>) {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut repairs = Vec::new();
    let mut open: Vec<(CallId, String)> = Vec::new();
    let mut answered: HashSet<CallId> = HashSet::new();
    for message in messages {
        if let ChatMessage::Tool { call_id, name, .. } = &message {
            match open.iter().position(|(id, _)| id == call_id) {
                Some(at) => {
                    open.remove(at);
                    answered.insert(call_id.clone());
                    out.push(message);
                }
                None if answered.contains(call_id) => repairs.push(format!("a second result of {name} was dropped")),
                None => repairs.push(format!("a result of {name} without its call was dropped")),
            }
            continue;
        }
        close(&mut open, &mut out, &mut repairs);
        if let ChatMessage::Assistant { calls, .. } = &message {
            open = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
            answered.clear();
        }
        out.push(message);
    }
    close(&mut open, &mut out, &mut repairs);
    (out, repairs)
}

fn close(open: &mut Vec<(CallId, String)>, out: &mut Vec<ChatMessage>, repairs: &mut Vec<String>) {
    for (call_id, name) in open.drain(..) {
        repairs.push(format!("{name} was interrupted"));
        out.push(ChatMessage::Tool { call_id, name, content: CUT_OFF.to_owned(), ok: false });
    }
}
