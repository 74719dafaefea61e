//! What a running team is made of: chosen by the composition root, shared by the supervisor and the agents.

use super::live::LiveBoard;
use crate::collaboration::ProtocolConfig;
use crate::domain::TeamSettings;
use crate::llm::ChatModel;
use crate::store::TeamStore;
use crate::tool::Registry;
use std::path::Path;
use std::sync::Arc;

/// Tokens that a model is taken to hold when nobody says otherwise.
pub const DEFAULT_WINDOW: u64 = 128_000;

/// The instructions that members start with; `{{name}}`, `{{role}}`, `{{team}}`, `{{workspace}}` and `{{protocol}}` are
/// filled in.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    /// For the lead.
    pub lead: String,
    /// For teammates.
    pub teammate: String,
    /// For a summary of a conversation.
    pub compact: String,
}

/// Everything that a team needs to run.
pub struct RuntimeEnv {
    /// Answers.
    pub model: Arc<dyn ChatModel>,
    /// The model's name where a member has none of its own.
    pub model_name: String,
    /// All tools.
    pub tools: Registry,
    /// The files.
    pub store: TeamStore,
    /// Settings.
    pub settings: TeamSettings,
    /// The directory the team works in, canonical.
    pub workspace: Arc<Path>,
    /// Instructions.
    pub prompts: Prompts,
    /// `AGENTS.md`, for everybody.
    pub instructions: Option<String>,
    /// Why this model answers, where that is worth a sentence.
    pub choice: Option<String>,
    /// What else the person should know about how this was put together; shown as notices.
    pub notices: Vec<String>,
    /// Settings of the collaboration protocol.
    pub protocol_config: ProtocolConfig,
    /// Streaming text.
    pub live: Arc<LiveBoard>,
}

impl RuntimeEnv {
    /// Tokens that fit into `model`.
    pub fn window(&self, model: &str) -> u64 {
        if self.settings.context_window > 0 {
            return self.settings.context_window;
        }
        self.model.context_window(model).filter(|n| *n > 0).unwrap_or(DEFAULT_WINDOW)
    }

    /// A prompt with its blanks filled in.
    pub fn fill(&self, template: &str, member: &crate::domain::Member, team: &str, protocol: &str) -> String {
        let blanks = [
            ("{{name}}", member.name.as_str()),
            ("{{role}}", member.role.as_str()),
            ("{{team}}", team),
            ("{{protocol}}", protocol),
            ("{{workspace}}", self.workspace.to_str().unwrap_or(".")),
        ];
        blanks.iter().fold(template.to_owned(), |text, (blank, value)| text.replace(blank, value))
    }
}
