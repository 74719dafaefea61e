//! What a member waits for, said in words: the roster's second column.

use super::{RequestId, RequestKind, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// What a member is doing or waiting for at this moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Activity {
    /// Registered, not yet started.
    #[default]
    Starting,
    /// A model call runs.
    Model { since: Timestamp },
    /// A tool runs; `summary` is its command or path, already sanitised and short.
    Tool { tool: String, summary: String, since: Timestamp },
    /// Waits for the person (or the lead) to answer a request.
    Approval { request: RequestId, request_kind: RequestKind, since: Timestamp },
    /// The provider asked everybody to wait until then.
    RateLimit { until: Timestamp },
    /// A failed model call is tried again at `until`.
    Retry { attempt: u32, until: Timestamp, reason: String },
    /// Idle, and expects an answer to something it sent.
    Mail { since: Timestamp },
    /// Idle with a task in progress: nudged once already, the person should look.
    HoldsTask { task: TaskId, since: Timestamp },
    /// Idle with nothing to do.
    Nothing { since: Timestamp },
    /// Was asked to shut down; forced stops are possible from `until` on.
    Stopping { since: Timestamp, until: Timestamp },
    /// Summarising its conversation.
    Compacting { since: Timestamp },
    /// Ended.
    Stopped { reason: String },
    /// Ended by an error.
    Failed { reason: String },
}

impl Activity {
    /// When this state began, where that is known.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Model { since }
            | Self::Tool { since, .. }
            | Self::Approval { since, .. }
            | Self::Mail { since }
            | Self::HoldsTask { since, .. }
            | Self::Nothing { since }
            | Self::Stopping { since, .. }
            | Self::Compacting { since } => Some(*since),
            Self::Starting | Self::RateLimit { .. } | Self::Retry { .. } | Self::Stopped { .. } | Self::Failed { .. } => None,
        }
    }
}
