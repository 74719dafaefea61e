//! What an OpenAI-compatible provider needs to be told. Nothing here is read from the environment: the composition root
//! decides which key goes to which server.

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Whether reasoning is sent back on assistant turns with tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendReasoning {
    /// Where it was received, until the server says otherwise.
    #[default]
    Auto,
    /// On every such turn, empty where none was received.
    Always,
    /// Never.
    Never,
}

/// The role under which standing instructions are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRole {
    /// Known to nearly every server.
    #[default]
    System,
    /// The newer name.
    Developer,
    /// At the head of the first user message, for models without such a role.
    User,
}

impl SystemRole {
    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
        }
    }
}

/// A provider.
#[derive(Clone, Debug)]
pub struct OpenAiSettings {
    /// A short name for the screen.
    pub name: String,
    /// With or without scheme, `/v1` and trailing slash.
    pub base_url: String,
    /// Sent to `base_url` and nowhere else.
    pub api_key: Option<SecretString>,
    /// How long a server may take until the first byte of its answer. Prompts are processed in that time, which takes
    /// minutes on a processor without a graphics card.
    pub first_byte_timeout: Duration,
    /// Longest silence within an answer; SSE comments count as life.
    pub idle_timeout: Duration,
    /// Longest time until a connection stands.
    pub connect_timeout: Duration,
    /// Tries of one call, the first included; at least 1.
    pub max_tries: u32,
    /// The first wait between tries; it doubles up to [`MAX_BACKOFF`], with jitter.
    pub backoff: Duration,
    /// A provider that asks for a longer wait than this is exhausted: the call fails at once and names the wait.
    pub max_wait: Duration,
    /// Context windows in tokens by model name, where the server does not tell them or tells them wrongly.
    pub windows: BTreeMap<String, u64>,
    /// The role of standing instructions; another one is taken when the server rejects it.
    pub system_role: SystemRole,
    /// Whether reasoning is sent back.
    pub send_reasoning: SendReasoning,
    /// Headers beside our own (`HTTP-Referer`, `api-key`). They may hold secrets: never shown.
    pub headers: BTreeMap<String, SecretString>,
    /// Fields added to every request body (`temperature`, `reasoning_effort`, `max_tokens`). A field that the server
    /// rejects by name is dropped or swapped.
    pub extra_body: serde_json::Map<String, serde_json::Value>,
}

/// Longest wait between two tries when the server names none.
pub const MAX_BACKOFF: Duration = Duration::from_secs(60);

impl Default for OpenAiSettings {
    fn default() -> Self {
        Self {
            name: "openai".into(),
            base_url: "https://api.openai.com/v1".into(),
            api_key: None,
            first_byte_timeout: Duration::from_secs(300),
            idle_timeout: Duration::from_secs(180),
            connect_timeout: Duration::from_secs(10),
            max_tries: 5,
            backoff: Duration::from_secs(1),
            max_wait: Duration::from_secs(300),
            windows: BTreeMap::new(),
            system_role: SystemRole::System,
            send_reasoning: SendReasoning::Auto,
            headers: BTreeMap::new(),
            extra_body: serde_json::Map::new(),
        }
    }
}
