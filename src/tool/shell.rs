//! The `bash` tool.

use super::declared::object;
use super::output::{Capture, Cleaner};
use super::process::{Cause, Ending, Running};
use super::shell_settings::ShellSettings;
use super::{Audience, Effect, Tool, ToolContext, ToolError, ToolOutcome, guard, resolved};
use crate::domain::ToolSpec;
use crate::domain::command::{Action, Intent};
use crate::domain::text::one_line;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub use super::jobs::{JOBS_MAX, JobInfo, Jobs};

/// Longest time-out that a model may ask for, in seconds: an hour. What takes longer belongs in the background.
const TIMEOUT_MAX: u64 = 3600;
/// Bytes of one piece of output that are shown live: the screen shows the newest lines only, and a flood costs nothing.
const LIVE_MAX: usize = 4096;

/// More than this many bytes in this time are a flood.
const FLOOD_BYTES: usize = 64 * 1024;
const FLOOD_TIME: Duration = Duration::from_millis(50);

/// A command of the tool itself that ends a background job by its number. Behind a wall `kill` does not reach one.
const END_JOB: &str = "end-job";

/// Runs shell commands.
pub struct Bash {
    settings: Arc<ShellSettings>,
}

impl Bash {
    /// With commands started as `settings` say.
    pub fn new(settings: ShellSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }
}

#[derive(Deserialize)]
struct Arguments {
    command: String,
    timeout: Option<u64>,
    #[serde(default)]
    run_in_background: bool,
}

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        let parameters = object(
            json!({
                "command": { "type": "string", "minLength": 1, "description": "The command line." },
                "timeout": { "type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX, "description": "Seconds it may run." },
                "run_in_background": { "type": "boolean",
                    "description": "Return at once; you get mail with the exit code and the end of its output when it ends." },
            }),
            &["command"],
        );
        let description = "Run a shell command in the workspace, without standard input and without a terminal. \
            Everything it started is ended when it returns: use run_in_background for servers and long builds.";
        ToolSpec { name: "bash".into(), description: description.into(), parameters }
    }

    fn audience(&self) -> Audience {
        Audience::All
    }

    fn effect(&self) -> Effect {
        Effect::Changes
    }

    fn summary(&self, arguments: &Value) -> String {
        one_line(arguments.get("command").and_then(Value::as_str).unwrap_or_default(), 200)
    }

    fn intent(&self, arguments: &Value, workspace: &Path) -> Result<Option<Intent>, String> {
        let command = arguments.get("command").and_then(Value::as_str).ok_or("`command` is missing")?;
        if command.contains('\0') {
            return Err("`command` holds a NUL character, which no shell takes".into());
        }
        if job_to_end(command).is_some() {
            return Ok(None);
        }
        let action = Action::Command { command: command.to_owned(), cwd: workspace.to_string_lossy().into_owned() };
        Ok(Some(Intent { tool: "bash".into(), action, resolved: resolved::of_command(command, workspace) }))
    }

    fn run(&self, arguments: Value, context: ToolContext) -> BoxFuture<'static, ToolOutcome> {
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            let arguments: Arguments = match serde_json::from_value(arguments) {
                Ok(arguments) => arguments,
                Err(fault) => return ToolOutcome::error(format!("the arguments do not fit: {fault}")),
            };
            if context.cancel.is_cancelled() {
                return ToolOutcome::error("interrupted before it was started");
            }
            if let Some(id) = job_to_end(&arguments.command) {
                return end_job(id, &context);
            }
            settings.settle_sandbox().await;
            let timeout = arguments.timeout.map(|seconds| Duration::from_secs(seconds.min(TIMEOUT_MAX)));
            match Running::start(&arguments.command, &context.workspace, &settings) {
                Ok(running) if arguments.run_in_background => background(running, &arguments.command, timeout, &context),
                Ok(running) => foreground(running, timeout.unwrap_or(context.command_timeout), &context).await,
                Err(error) => ToolOutcome::error(error.to_string()),
            }
        })
    }
}

/// The number in a command that asks to end a background job, and nothing else.
fn job_to_end(command: &str) -> Option<u64> {
    command.trim().strip_prefix(END_JOB)?.strip_prefix(' ')?.trim().parse().ok()
}

fn end_job(id: u64, context: &ToolContext) -> ToolOutcome {
    if context.jobs.kill(id) {
        return ToolOutcome::ok(format!("background job {id} is being ended, with everything it started"));
    }
    let running: Vec<String> = context.jobs.list().iter().map(|job| job.id.to_string()).collect();
    ToolOutcome::error(format!(
        "there is no background job {id}; running: {}",
        if running.is_empty() { "none".into() } else { running.join(", ") }
    ))
}

fn background(running: Running, command: &str, timeout: Option<Duration>, context: &ToolContext) -> ToolOutcome {
    match context.jobs.adopt(running, command, timeout, Arc::clone(&context.team)) {
        Ok(job) => {
            let id = job.id;
            ToolOutcome::ok(format!("background job {id} started. You get mail when it ends. To end it early: {END_JOB} {id}"))
        }
        Err(error) => ToolOutcome::error(ToolError::to_string(&error)),
    }
}

async fn foreground(running: Running, timeout: Duration, context: &ToolContext) -> ToolOutcome {
    let mut capture = Capture::new(context.output_limit);
    let mut cleaner = Cleaner::default();
    let mut shown = Shown::default();
    let mut sink = |piece: &[u8]| {
        capture.push(piece);
        if !shown.takes(piece.len()) {
            return;
        }
        let newest = &piece[piece.len().saturating_sub(LIVE_MAX)..];
        context.team.live(&cleaner.push(newest));
    };
    let ending = running.drive(Some(timeout), &context.cancel, &mut sink).await;
    let mut content = capture.finish().trim_end().to_owned();
    let how = how(&ending, Some(timeout));
    let strays = (ending.strays > 0).then(|| guard::strays_ended(ending.strays));
    for note in how.map(|how| format!("[{how}]")).into_iter().chain(strays) {
        if !content.is_empty() {
            content.push('\n');
        }
        content.push_str(&note);
    }
    if content.is_empty() {
        content.push_str("(no output)");
    }
    ToolOutcome { ok: ending.is_success(), content, ..ToolOutcome::default() }
}

/// How much was shown live of late.
#[derive(Default)]
struct Shown {
    since: Option<Instant>,
    bytes: usize,
}

impl Shown {
    /// Whether a piece of output is still worth showing: in a flood nobody can read it, and each piece costs a look.
    fn takes(&mut self, bytes: usize) -> bool {
        let now = Instant::now();
        if self.since.is_none_or(|since| now.duration_since(since) > FLOOD_TIME) {
            *self = Self { since: Some(now), bytes: 0 };
        }
        let takes = self.bytes < FLOOD_BYTES;
        self.bytes += bytes;
        takes
    }
}

/// How a command ended, in words; `None` when it ended with exit code 0.
pub(super) fn how(ending: &Ending, timeout: Option<Duration>) -> Option<String> {
    match ending.cause {
        Cause::Ended => ending.words(),
        Cause::TimedOut => {
            let seconds = timeout.unwrap_or_default().as_secs_f64();
            Some(format!("timed out after {seconds} s: it and everything it started were killed"))
        }
        Cause::Cancelled => Some("interrupted: it and everything it started were killed".into()),
    }
}
