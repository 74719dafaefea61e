//! What ends a command, and the exit code that tells scripts.

use crate::config::ConfigError;
use crate::domain::Refusal;
use crate::llm::ModelError;
use crate::store::StoreError;
use crate::tui::TuiError;

/// How a command ended; scripts read the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Failed.
    Failed,
    /// The command line or the settings are wrong, or there is no terminal.
    Usage,
    /// Refused, or an unknown name or id.
    Refused,
    /// Timed out.
    TimedOut,
    /// Ctrl-C, or another signal that asks to end.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::TimedOut => 4,
            Self::Interrupted => 130,
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The settings are wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The team said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The files could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No model can be asked.
    #[error("{0}")]
    Model(#[from] ModelError),
    /// The screen could not be shown.
    #[error(transparent)]
    Screen(#[from] TuiError),
    /// It failed, in words.
    #[error("{0}")]
    Failed(String),
    /// The operating system said no.
    #[error("cannot {action}: {source}")]
    Io { action: String, source: std::io::Error },
    /// Whoever read our output has enough (`signoff status | head -1`): not a failure.
    #[error("the reader of the output is gone")]
    ReaderGone,
}

impl CliError {
    /// Names the step that failed; for `map_err`. A closed pipe on output is [`CliError::ReaderGone`].
    pub fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action: action.into(), source }
    }

    /// What scripts are told.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Config(_) | Self::Screen(TuiError::NoTerminal) => Exit::Usage,
            Self::Refused(Refusal::Store(_) | Refusal::Unavailable(_)) => Exit::Failed,
            Self::Refused(_) => Exit::Refused,
            Self::ReaderGone => Exit::Done,
            Self::Store(_) | Self::Model(_) | Self::Screen(_) | Self::Failed(_) | Self::Io { .. } => Exit::Failed,
        }
    }
}
