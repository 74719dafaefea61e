//! Tools for files: everything stays below the workspace.
//!
//! | file | holds |
//! |---|---|
//! | `place` | pure: which path is meant, and which may not be written |
//! | `beneath` | opening below the workspace without following links out of it; atomic replacement |
//! | `read`, `write`, `edit`, `list`, `search` | one tool a file |
//! | `walk` | which files there are, as git sees them |

mod beneath;
mod edit;
mod list;
pub mod place;
mod read;
mod search;
mod walk;
mod write;

use super::output::{bound, clean};
use super::{Audience, Effect, Tool, ToolContext, ToolError, ToolOutcome, resolved};
use crate::domain::ToolSpec;
use crate::domain::command::{Action, Intent};
use crate::domain::text::one_line;
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Longest file that is edited or compared, in bytes.
const TEXT_MAX: u64 = 10 * 1024 * 1024;

/// The tools of this folder.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let tools = [read::tool(), write::tool(), edit::tool(), list::tool(), search::tool()];
    tools.into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
}

/// A path on one line: a line break in a name would look like another file's line.
fn on_one_line(path: &Path) -> String {
    path.to_string_lossy().replace('\n', "⟨U+000A⟩").replace('\r', "⟨U+000D⟩")
}

/// What the work of a file tool knows.
struct Scope {
    workspace: Arc<Path>,
    cancel: CancellationToken,
    /// Characters.
    limit: usize,
}

impl Scope {
    fn check(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() { Err(ToolError::Interrupted) } else { Ok(()) }
    }
}

/// A file tool as data; its work blocks and runs on a thread for that.
struct FileTool {
    name: &'static str,
    description: &'static str,
    parameters: Value,
    effect: Effect,
    /// The argument that holds the path or pattern, for the summary.
    subject: &'static str,
    work: fn(Value, &Scope) -> Result<String, ToolError>,
}

impl Tool for FileTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.into(), description: self.description.into(), parameters: self.parameters.clone() }
    }

    fn audience(&self) -> Audience {
        Audience::All
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn summary(&self, arguments: &Value) -> String {
        one_line(arguments.get(self.subject).and_then(Value::as_str).unwrap_or_default(), 120)
    }

    fn intent(&self, arguments: &Value, workspace: &Path) -> Result<Option<Intent>, String> {
        match self.effect {
            Effect::Reads | Effect::Team => Ok(None),
            Effect::Changes => {
                let path = arguments.get("path").and_then(Value::as_str).ok_or("`path` is missing")?;
                let path = writable(path, workspace).map_err(|error| error.to_string())?;
                let resolved = resolved::of_file(&path, workspace);
                let action = Action::Write { path: path.to_string_lossy().into_owned() };
                Ok(Some(Intent { tool: self.name.into(), action, resolved }))
            }
        }
    }

    fn run(&self, arguments: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let work = self.work;
        let scope = Scope { workspace: context.workspace, cancel: context.cancel.clone(), limit: context.output_limit };
        let limit = scope.limit;
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(arguments, &scope));
            let result = tokio::select! {
                result = done => result,
                () = context.cancel.cancelled() => return ToolOutcome::error(ToolError::Interrupted.to_string()),
            };
            match result {
                Ok(Ok(text)) => ToolOutcome::ok(bound(&clean(text.as_bytes()), limit)),
                Ok(Err(error)) => ToolOutcome::error(bound(&clean(error.to_string().as_bytes()), limit)),
                Err(_) => ToolOutcome::error("the tool failed: this is a fault of the program"),
            }
        })
    }
}

/// A path that may be written.
fn writable(path: &str, workspace: &Path) -> Result<PathBuf, ToolError> {
    let path = place::locate(path, workspace)?;
    place::check_write(&path)?;
    Ok(path)
}

/// Arguments as a type. They fit the schema already, so this fails only when type and schema disagree.
fn arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|fault| ToolError::Pattern {
        what: "call",
        text: "arguments".into(),
        reason: fault.to_string(),
    })
}

/// `1 line`, `3 lines`.
fn lines(count: usize) -> String {
    if count == 1 { "1 line".into() } else { format!("{count} lines") }
}
