//! Tools: the port that a member's tool calls go through, and every tool.
//!
//! Imports `domain` only; what a tool needs of the team it asks through [`TeamPort`]. Deliberately absent: who may do
//! what (the team core decides), the model, the screen.
//!
//! | file | holds |
//! |---|---|
//! | `registry` | the one list of tools; finds one by name or alias and checks a call's arguments |
//! | `schema`, `arguments` | the subset of JSON Schema that is used, and reading what a model wrote |
//! | `shell`, `jobs` | the `bash` tool and background commands |
//! | `process`, `tree`, `guard` | starting a command, finding all it started, ending every bit of it |
//! | `sandbox` | the operating system's wall around a command |
//! | `output` | bounded capture of output, free of escape sequences |
//! | `files` | reading, writing, listing, searching below the workspace |
//! | `task`, `message`, `team`, `plan` | tools that are commands to the team |
//! | `redact` | pure: known shapes of secrets taken out of what tools bring in |
//! | `resolved` | what the names in a command or path lead to, for the person who is asked |
//! | `policy` | pure: may this command run, may this file be written |

use crate::domain::command::Intent;
use crate::domain::{Generation, MemberName, Refusal, Reply, TeamCommand, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Who a tool is offered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The lead and teammates.
    All,
    /// The lead.
    Lead,
    /// Teammates.
    Teammate,
}

/// What a tool changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: allowed while a plan is pending.
    Reads,
    /// Files or processes: refused while a plan is pending, and subject to permission.
    Changes,
    /// The team's own state; the team core checks each such command by itself.
    Team,
}

/// What the agent's loop must do after a tool, beside handing the result to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    #[default]
    Continue,
    /// End the turn and idle.
    Idle,
    /// The member agreed to shut down: no further tool of the batch starts.
    Shutdown { reason: String },
    /// A plan was handed in: end the turn and wait for the verdict.
    AwaitVerdict,
}

/// What came of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutcome {
    /// Whether it succeeded (a command's exit code was 0).
    pub ok: bool,
    /// What the model is told: bounded, sanitised.
    pub content: String,
    /// What the loop must do.
    pub control: Control,
}

impl ToolOutcome {
    /// Success.
    pub fn ok(content: impl Into<String>) -> Self {
        Self { ok: true, content: content.into(), control: Control::Continue }
    }

    /// Failure that the model is told.
    pub fn error(content: impl Into<String>) -> Self {
        Self { ok: false, content: content.into(), control: Control::Continue }
    }
}

/// The team, as a tool sees it: commands given by the tool's member.
pub trait TeamPort: Send + Sync {
    /// Carries out a command in the member's name.
    fn command(&self, command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>>;
    /// Mail that arrived after the last take-in, formatted for the model; takes it in (offset and effect in one append).
    fn take_mail(&self) -> BoxFuture<'_, Result<String, Refusal>>;
    /// Tells the member later, as mail from the system: a background command ended.
    fn notify_later(&self, text: String);
    /// Shows output while a tool runs.
    fn live(&self, text: &str);
}

/// What a tool call gets.
#[derive(Clone)]
pub struct ToolContext {
    /// Who calls.
    pub member: MemberName,
    /// Which generation of it.
    pub generation: Generation,
    /// The directory the team works in, canonical.
    pub workspace: Arc<Path>,
    /// The team.
    pub team: Arc<dyn TeamPort>,
    /// Cancelled by interrupt, force and quit: then the whole process group dies (TERM, KILL after 2 s).
    pub cancel: CancellationToken,
    /// The member's background commands.
    pub jobs: Arc<shell::Jobs>,
    /// Longest output in characters.
    pub output_limit: usize,
    /// How long a command may run when the model names no time-out.
    pub command_timeout: Duration,
}

/// A tool.
pub trait Tool: Send + Sync {
    /// Name, description and JSON Schema as the model is shown them.
    fn spec(&self) -> ToolSpec;
    /// Who it is offered to.
    fn audience(&self) -> Audience;
    /// What it changes.
    fn effect(&self) -> Effect;
    /// One line for the screen: the command, the path, the receiver. `arguments` fit the schema.
    fn summary(&self, arguments: &Value) -> String;
    /// What the policy is asked before it runs; `None` needs no permission. May fail: a path outside the workspace.
    fn intent(&self, arguments: &Value, workspace: &Path) -> Result<Option<Intent>, String>;
    /// Whether an argument that it does not know fails the call: where leaving it out would do something else than was meant.
    fn is_exact(&self) -> bool {
        false
    }
    /// Runs. Never panics on odd arguments; returns quickly after cancellation.
    fn run(&self, arguments: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome>;
}

mod arguments;
mod declared;
mod environment;
pub mod error;
pub mod files;
pub mod guard;
mod jobs;
mod message;
pub mod output;
mod plan;
pub mod policy;
mod process;
pub mod redact;
pub mod registry;
mod reply;
mod resolved;
pub mod sandbox;
pub mod schema;
pub mod shell;
mod shell_settings;
mod task;
mod team;
mod tree;

pub use error::ToolError;
pub use registry::Registry;
pub use shell_settings::ShellSettings;
