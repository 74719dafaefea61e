//! What is open in full: a request, a task, a message, a transcript, the protocol's trace.

use crate::app::clip::one_line;
use crate::app::projection::{FeedItem, FeedKind, ToolState};
use crate::app::scroll::Scroll;
use crate::domain::{CallId, ChatMessage, Envelope, MemberName, RequestId, TaskId, Timestamp, TranscriptEntry};
use std::collections::VecDeque;
use std::sync::Arc;

/// What is open.
#[derive(Clone, Debug)]
pub enum DetailKind {
    /// A plan or permission, with the difference to its previous version.
    Request(RequestId),
    /// A task with its history.
    Task(TaskId),
    /// A message.
    Message(Arc<Envelope>),
    /// A member's whole conversation.
    Transcript(MemberName),
    /// Who acted, and by which rule.
    Trace,
    /// What was spent, by member, model and task.
    Costs,
}

/// An open detail.
#[derive(Clone, Debug)]
pub struct Detail {
    /// What is open.
    pub kind: DetailKind,
    /// The first line on the screen (all but transcripts).
    pub top: usize,
    /// The selected line (the trace only).
    pub at: usize,
    /// What is searched for.
    pub search: Option<String>,
    /// Entries of a transcript.
    pub items: VecDeque<FeedItem>,
    /// The position in a transcript.
    pub scroll: Scroll,
    next_id: u64,
}

impl Detail {
    /// Opens something. `now` keeps the ids of transcript entries apart from those of other transcripts.
    pub fn new(kind: DetailKind, now: Timestamp) -> Self {
        let base = u64::try_from(now.0).unwrap_or(0).wrapping_shl(20) & (u64::MAX >> 1);
        Self { kind, top: 0, at: 0, search: None, items: VecDeque::new(), scroll: Scroll::default(), next_id: base }
    }

    /// Adds an entry to a transcript.
    pub fn push(&mut self, at: Timestamp, kind: FeedKind) {
        self.next_id += 1;
        self.items.push_back(FeedItem { id: self.next_id, edition: 0, at, kind });
    }

    /// A tool call of a transcript ended.
    pub fn end_tool(&mut self, ended: &CallId, end: ToolState, extract: &str) {
        for item in self.items.iter_mut().rev().take(64) {
            if let FeedKind::Tool { call, state, output, .. } = &mut item.kind
                && call == ended
            {
                *state = end;
                extract.clone_into(output);
                item.edition += 1;
                return;
            }
        }
    }

    /// Replaces the entries by a transcript from the store; `open_call` is the state of a call without a result.
    pub fn load(&mut self, entries: Vec<TranscriptEntry>, open_call: ToolState) {
        self.items.clear();
        for entry in entries {
            match entry {
                TranscriptEntry::Started { at, generation, .. } => {
                    self.push(at, FeedKind::Turn(format!("generation {} began", generation.0)));
                }
                TranscriptEntry::Mail { at, messages, .. } => {
                    for message in messages {
                        self.push(at, FeedKind::Heard(format!("**{}** {}", message.from, message.content)));
                    }
                }
                TranscriptEntry::Compacted { at, summary, .. } => self.push(at, FeedKind::Note(format!("summary so far: {summary}"))),
                TranscriptEntry::Message { at, message } => self.message(at, message, open_call),
            }
        }
    }

    fn message(&mut self, at: Timestamp, message: ChatMessage, open_call: ToolState) {
        match message {
            ChatMessage::System { .. } => {}
            ChatMessage::User { text } => self.push(at, FeedKind::Heard(text)),
            ChatMessage::Assistant { text, reasoning, calls } => {
                if !text.trim().is_empty() || reasoning.is_some() {
                    self.push(at, FeedKind::Answer { text, reasoning });
                }
                for call in calls {
                    let (tool, summary) = (call.name, arguments_line(&call.arguments));
                    let kind = FeedKind::Tool { call: call.id, tool, summary, state: open_call, output: String::new() };
                    self.push(at, kind);
                }
            }
            ChatMessage::Tool { call_id, content, ok, .. } => self.end_tool(&call_id, ToolState::Ended { ok, millis: 0 }, &content),
        }
    }
}

/// Arguments that say most about a call, in the order in which they are worth reading.
const TELLING: [&str; 12] =
    ["command", "path", "to", "name", "teammate", "task_id", "request_id", "subject", "pattern", "glob", "plan", "content"];
/// Cells of one argument.
const ARGUMENT: usize = 160;

/// A call's arguments as one line: the values that tell most, or the text as it is.
fn arguments_line(arguments: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(arguments) else { return one_line(arguments, ARGUMENT) };
    let words = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => one_line(text, ARGUMENT),
        other => one_line(&other.to_string(), ARGUMENT),
    };
    let told: Vec<String> = TELLING.iter().filter_map(|key| fields.get(*key)).map(words).collect();
    match (told.is_empty(), fields.is_empty()) {
        (false, _) => told.join("  "),
        (true, true) => String::new(),
        (true, false) => fields.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>().join("  "),
    }
}
