//! The terminal: what is written to it and read from it, and the loop that ties the screen's state to the team.
//!
//! Imports `app`, `runtime`, `domain`, ratatui, crossterm (as ratatui's back end) and rustix. Deliberately absent:
//! concrete stores and models, rules of the team, and what the screen shows (that is the state in `app` and the views).

pub mod decode;
pub mod device;
pub mod editor;
pub mod frame;
pub mod input;
pub mod osc;
pub mod plain;
pub mod restore;
pub mod run;
pub mod screen;
pub mod sentence;
pub mod signals;
pub mod style;
pub mod surface;
pub mod team_screen;
pub mod terminal;
pub mod view;
pub mod widget;

pub use run::{Ended, Options, run};
pub use screen::{Screen, TranscriptSource};
pub use team_screen::TeamScreen;

use std::path::PathBuf;

/// Why the terminal could not be used, or why the screen ended early.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Standard output is a file or a pipe.
    #[error("standard output is not a terminal: open signoff in one, or use `signoff run` to work without a screen")]
    NoTerminal,
    /// The device exists but cannot be opened.
    #[error("cannot open the terminal {}: {source}", path.display())]
    Open { path: PathBuf, source: std::io::Error },
    /// A call to the operating system failed.
    #[error("cannot {action}: {source}")]
    Io { action: &'static str, source: std::io::Error },
    /// The team could not be opened.
    #[error("{0}")]
    Team(Box<dyn std::error::Error + Send + Sync>),
}

impl TuiError {
    /// Names the step that failed; for `map_err`.
    pub(crate) fn io<E: Into<std::io::Error>>(action: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Io { action, source: source.into() }
    }
}
