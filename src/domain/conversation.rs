//! A conversation with a model, in no vendor's types.

use super::CallId;
use serde::{Deserialize, Serialize};

/// The result that a tool call gets when the app died before it was done.
pub const CUT_OFF: &str = "interrupted: the app ended before this tool was done; look at what it left before calling it again";

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// Standing instructions.
    System { text: String },
    /// Anything that is told to the model: a prompt, mail, a claimed task, a nudge.
    User { text: String },
    /// The model's answer.
    Assistant {
        #[serde(default)]
        text: String,
        /// Sent back on turns with tool calls where the provider wants it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The result of one tool call.
    Tool {
        call_id: CallId,
        name: String,
        content: String,
        #[serde(default = "yes")]
        ok: bool,
    },
}

fn yes() -> bool {
    true
}

impl ChatMessage {
    /// A user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// A rough size in bytes, for context estimates (about four bytes a token).
    pub fn size(&self) -> usize {
        match self {
            Self::System { text } | Self::User { text } => text.len(),
            Self::Assistant { text, reasoning, calls } => {
                let calls: usize = calls.iter().map(|c| c.name.len() + c.arguments.len() + 16).sum();
                text.len() + reasoning.as_ref().map_or(0, String::len) + calls
            }
            Self::Tool { content, name, .. } => content.len() + name.len() + 16,
        }
    }
}

/// A tool call as the model made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Never blank: the model port makes one up where the server gave none.
    pub id: CallId,
    /// As offered.
    pub name: String,
    /// JSON text as the model wrote it; it may not parse.
    pub arguments: String,
}

/// A tool as it is offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `^[A-Za-z0-9_-]{1,64}$`.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments: an object.
    pub parameters: serde_json::Value,
}

/// A whole answer of a model, put together from its stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssistantAnswer {
    /// Visible text.
    pub text: String,
    /// Reasoning, never shown as the answer.
    pub reasoning: Option<String>,
    /// Tool calls in order.
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Tokens; empty where the server told nothing.
    pub usage: super::TokenUsage,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// It wants tools.
    ToolCalls,
    /// The answer was cut at the token limit.
    Length,
    /// The provider's filter cut it.
    ContentFilter,
}
