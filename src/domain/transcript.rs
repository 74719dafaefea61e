//! A member's conversation on disk: enough to resume it.

use super::{ChatMessage, Envelope, Generation, Timestamp};
use serde::{Deserialize, Serialize};

/// One line of `team/transcripts/NAME.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum TranscriptEntry {
    /// A generation began. Mail before `inbox_offset` (bytes) belongs to an earlier one. Everything before this line
    /// is history that the new generation does not see.
    Started { at: Timestamp, generation: Generation, inbox_offset: u64 },
    /// Mail was taken in: effect and acknowledgement in one append. `offset` is the inbox position after it, in bytes.
    Mail { at: Timestamp, offset: u64, messages: Vec<Envelope> },
    /// A message of the conversation.
    Message { at: Timestamp, message: ChatMessage },
    /// All messages before this line are replaced by `summary` and the last `kept` messages.
    Compacted { at: Timestamp, summary: String, kept: usize },
}
