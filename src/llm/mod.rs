//! Model access: the port and its adapters (OpenAI-compatible, scripted).
//!
//! Imports `domain` only. Deliberately absent: tools' behaviour, the team, files of the workspace.

use crate::domain::conversation::AssistantAnswer;
use crate::domain::{ChatMessage, MemberName, Timestamp, TokenUsage, ToolSpec};
use futures::stream::BoxStream;
use std::sync::Arc;
use std::time::Duration;

/// One model call.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// Who asks (the scripted model keeps one script a member; a real provider ignores it).
    pub member: MemberName,
    /// The model's name as the server knows it.
    pub model: String,
    /// The conversation, system message first.
    pub messages: Arc<Vec<ChatMessage>>,
    /// What may be called.
    pub tools: Arc<Vec<ToolSpec>>,
}

/// What a model call tells while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More visible text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A tool call was begun; its arguments are not complete yet.
    CallStarted { name: String },
    /// The call waits: the provider asked everybody to (429), until then.
    RateLimited { until: Timestamp },
    /// The call failed and is tried again at `until`; nothing had been shown yet.
    Retrying { attempt: u32, until: Timestamp, reason: String },
    /// The whole answer. Always the last event of a stream that succeeds.
    Finished(AssistantAnswer),
    /// The same call went out again with another field set, after the server named the one it rejects.
    Adapted { what: String },
    /// Tokens so far, where the server tells them in between.
    Usage(TokenUsage),
}

/// Why a model call failed for good (retries are done inside).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// 401 or 403.
    #[error("the provider refused the key ({status}): {message}")]
    Unauthorized { status: u16, message: String },
    /// The conversation does not fit.
    #[error("the conversation does not fit into the model: {message}")]
    ContextOverflow { message: String },
    /// 429 for longer than is worth waiting, or the quota is used up.
    #[error("the provider's limit is reached: {message}")]
    Exhausted { message: String, retry_after: Option<Duration> },
    /// No byte, or silence in the middle, for too long.
    #[error("{what} for {} s", after.as_secs())]
    TimedOut { what: &'static str, after: Duration },
    /// No connection, or it broke.
    #[error("cannot reach the provider: {0}")]
    Connection(String),
    /// Another status.
    #[error("the provider answered {status}: {message}")]
    Status { status: u16, message: String },
    /// The answer is no answer.
    #[error("the provider's answer cannot be read: {0}")]
    Malformed(String),
    /// A fault of a script or a setting.
    #[error("{0}")]
    Setup(String),
}

/// A stream of events that ends with [`ModelEvent::Finished`] or an error. Dropping it cancels the call at once.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// A provider of model answers.
pub trait ChatModel: Send + Sync {
    /// Starts a call.
    fn stream(&self, request: ChatRequest) -> ModelStream;
    /// Tokens that fit into `model`, where that is known.
    fn context_window(&self, model: &str) -> Option<u64>;
    /// A short name for the screen (`openai`, `localhost:11434`, `scripted`).
    fn name(&self) -> &str;
    /// Whether answers come from a script: labelled as such wherever it runs.
    fn is_scripted(&self) -> bool {
        false
    }
}

// OpenAI-compatible providers.
pub mod accumulate;
pub mod arguments;
mod base;
mod body;
mod call;
mod calls;
pub mod compat;
pub mod dialect;
pub mod discover;
pub mod fault;
pub mod gate;
mod http;
pub mod listing;
pub mod names;
mod network;
mod openai;
mod outgoing;
mod pieces;
pub mod provider;
pub mod recorded;
pub mod scripted;
pub mod settings;
mod sse;
mod think;
pub mod wire;
