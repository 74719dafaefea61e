//! Why a tool failed, in words for the model and the person.

use std::path::{Path, PathBuf};

/// A tool's failure. Nothing was changed unless the text says so.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", shown(path))]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// The path leads out of the workspace, by `..`, by a link, or from the start.
    #[error("{path} is outside the workspace: give a path below it")]
    Outside { path: String },
    /// Not a path.
    #[error("{path:?} is no path: {reason}")]
    BadPath { path: String, reason: &'static str },
    /// One of our own files, or git's.
    #[error("{path} may not be written: {reason}")]
    Protected { path: String, reason: &'static str },
    /// A directory, a link, a device, a FIFO.
    #[error("{} is {what}: {advice}", shown(path))]
    NotPlain { path: PathBuf, what: &'static str, advice: String },
    /// Not text, or too much of it.
    #[error("{} {reason}", shown(path))]
    Unreadable { path: PathBuf, reason: String },
    /// `old_text` does not name one place.
    #[error("nothing was changed in {}: {reason}", shown(path))]
    NoMatch { path: PathBuf, reason: String },
    /// Somebody else wrote the file in between.
    #[error("{} was changed by somebody else just now: read it again, then try again; nothing was written", shown(path))]
    Changed { path: PathBuf },
    /// A glob or a regular expression does not parse.
    #[error("the {what} {text:?} does not parse: {reason}")]
    Pattern { what: &'static str, text: String, reason: String },
    /// The call was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// A command could not be started.
    #[error("cannot start the command: {reason}")]
    Start { reason: String },
    /// The member has as many background commands as it may have.
    #[error("{max} background commands run already: wait for one to end, or end one with `end-job NUMBER`")]
    TooManyJobs { max: usize },
}

/// An I/O failure of `action` on `path`.
pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ToolError {
    let path = path.to_owned();
    move |source| ToolError::Io { action, path, source }
}

fn shown(path: &Path) -> std::borrow::Cow<'_, str> {
    if path.as_os_str().is_empty() { "the workspace".into() } else { path.to_string_lossy() }
}
