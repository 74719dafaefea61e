//! Events: what happened, past tense. `team/events.jsonl`, the screen, `status` and `run --json` are all folds of them.
//!
//! Events that change an entity carry the whole entity after the change, so a fold is an upsert and seeing one twice
//! does no harm. Streaming text is deliberately not here.

use super::settings::Wall;
use super::shown::{NodeMark, Section, ShownGraph};
use super::usage::TokenUsage;
use super::{Activity, CallId, Envelope, Generation, Member, MemberName, Party, Request, Task, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of the envelope.
pub const EVENT_VERSION: u32 = 1;

/// Outcomes of a turn that the member's state tells already: it is at rest, or it waits.
pub const ORDINARY_ENDS: [&str; 3] = ["done for now", "idle", "waits for a verdict"];

/// One line of the flight recorder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// [`EVENT_VERSION`].
    pub v: u32,
    /// Grows by one a line within one log.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: TeamEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TeamEvent {
    /// A process took the team's lock and runs it.
    Opened {
        team: String,
        protocol: String,
        provider: String,
        model: String,
        scripted: bool,
        pid: u32,
        #[serde(default, skip_serializing_if = "Wall::is_full")]
        wall: Wall,
        /// Why this model answers, where that is worth a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<String>,
    },
    /// A member was spawned, changed its status, or was edited.
    MemberChanged {
        member: Arc<Member>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A member was removed from the roster.
    MemberRemoved { name: MemberName },
    /// A member does or waits for something else now.
    ActivityChanged { name: MemberName, activity: Activity },
    /// A task is new or changed.
    TaskChanged { task: Arc<Task>, change: TaskChange, by: Party },
    /// A task was taken off the board.
    TaskRemoved { id: TaskId, by: Party },
    /// A message was put into an inbox (its `to`).
    MessageSent { message: Arc<Envelope> },
    /// A request was made, answered, withdrawn or expired.
    RequestChanged { request: Arc<Request> },
    /// A member took in mail, a task, a verdict or a prompt, and works on it.
    TurnStarted { name: MemberName, generation: Generation, cause: String },
    /// It stopped working, with the reason in words; [`ORDINARY_ENDS`] are those that are no news.
    TurnEnded { name: MemberName, outcome: String },
    /// The model finished an answer. `text` may be empty when it only called tools.
    AnswerFinished {
        name: MemberName,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
    },
    /// A tool began.
    ToolStarted { name: MemberName, call: CallId, tool: String, summary: String },
    /// A tool ended. `output` is a bounded extract.
    ToolFinished { name: MemberName, call: CallId, tool: String, ok: bool, millis: u64, output: String },
    /// Tokens were used. `cost` is absent when the price is not known.
    UsageAdded {
        name: MemberName,
        model: String,
        usage: TokenUsage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Tokens in the conversation now, and how many fit.
        context: u64,
        window: u64,
    },
    /// A conversation was shortened. Sizes in tokens, estimated.
    Compacted { name: MemberName, before: u64, after: u64 },
    /// Something the person should know.
    Noticed {
        level: NoticeLevel,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<MemberName>,
    },
    /// A request that nobody could answer was denied (no person, no terminal).
    Denied { name: MemberName, what: String },
    /// A step of the collaboration protocol: who was chosen, by which rule, and what came out.
    Traced { step: u64, who: Option<MemberName>, rule: String, outcome: String, millis: u64 },
    /// What the protocol shows of itself now; sent when it changed. `graph` is there when the graph changed.
    ProtocolShown {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph: Option<Arc<ShownGraph>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        marks: Vec<NodeMark>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sections: Vec<Section>,
    },
    /// The protocol of the team changed.
    ProtocolChanged { name: String },
    /// The process that ran the team has ended. Second screens are told; it is never in the log.
    RunnerGone { pid: u32 },
    /// The run ended. Always the last event of a run.
    Finished { reason: String, ok: bool },
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    /// Found at start.
    Loaded,
    /// Put on the board.
    Created,
    /// Taken by its owner.
    Claimed,
    /// Done.
    Completed,
    /// Given back.
    Released,
    /// Words or dependencies changed.
    Edited,
}

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Should be looked at.
    Warning,
    /// Something failed.
    Error,
}
