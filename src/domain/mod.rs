//! The nouns of signoff: what a team, a member, a task, a message and a request *are*.
//!
//! Imports std, serde, serde_json (unknown JSON fields survive a rewrite), sha2 and thiserror only.
//! Deliberately absent: clocks, randomness, files, channels, the screen. Time and ids come in from outside.

pub mod activity;
pub mod board;
pub mod command;
pub mod conversation;
pub mod event;
pub mod ids;
pub mod member;
pub mod message;
pub mod names;
pub mod refusal;
pub mod request;
pub mod settings;
pub mod shown;
pub mod task;
pub mod team;
pub mod text;
pub mod time;
pub mod transcript;
pub mod usage;

pub use activity::Activity;
pub use board::Board;
pub use command::{Reply, SpawnOrder, TeamCommand};
pub use conversation::{ChatMessage, ToolCall, ToolSpec};
pub use event::{EventRecord, TeamEvent};
pub use ids::{CallId, Digest, Generation, MessageId, RequestId, TaskId};
pub use member::{Member, MemberStatus};
pub use message::{Envelope, MessageKind};
pub use names::{MemberName, NameError, Party};
pub use refusal::Refusal;
pub use request::{Answer, Request, RequestKind, RequestState, Verdict};
pub use settings::TeamSettings;
pub use shown::Section;
pub use task::{Task, TaskStatus};
pub use team::TeamConfig;
pub use time::Timestamp;
pub use transcript::TranscriptEntry;
pub use usage::TokenUsage;

/// JSON fields that this version does not know: kept when a file is rewritten.
pub type Extra = serde_json::Map<String, serde_json::Value>;
