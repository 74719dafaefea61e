//! Logs: into the platform's state directory, never onto the screen.
//!
//! Written by a thread of its own; when the disk is slower than we are, lines are dropped rather than work stopped. One
//! file a day, the last seven are kept. What would carry keys or whole conversations (async-openai's reports of
//! payloads, HTTP wire traces) is off, whatever the filter says.

use super::error::CliError;
use super::session::Session;
use std::str::FromStr as _;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Log files that are kept, one a day.
const FILES_MAX: usize = 7;
/// Lines that wait for the disk; more are dropped.
const LINES_MAX: usize = 10_000;
/// Parts whose own logs may hold payloads or headers.
const SILENT: [&str; 6] = ["async_openai", "hyper", "hyper_util", "reqwest", "rustls", "h2"];

/// Writes what waits when it is dropped.
pub struct Logging(Option<WorkerGuard>);

impl Logging {
    /// Whether anything is logged.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }
}

/// Starts to log. A directory that cannot be written is no reason not to start: then nothing is logged, and the reason is returned
/// beside it.
///
/// # Errors
/// When the filter does not parse.
pub fn start(session: &Session) -> Result<(Logging, Option<String>), CliError> {
    let filter = filter(&session.loaded.config.log).map_err(|reason| {
        let origin = session.loaded.provenance.of(&["log", "level"]);
        CliError::Usage(format!(
            "{origin}: `log.level`: {reason}; write error, warn, info, debug or trace, or parts such as signoff::llm=debug"
        ))
    })?;
    let Some(places) = &session.places else { return Ok((Logging(None), Some("no directory for logs on this platform".into()))) };
    let dir = places.log_dir();
    let appender = std::fs::create_dir_all(&dir).map_err(|error| error.to_string()).and_then(|()| {
        RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("signoff")
            .filename_suffix("log")
            .max_log_files(FILES_MAX)
            .build(&dir)
            .map_err(|error| error.to_string())
    });
    let appender = match appender {
        Ok(appender) => appender,
        Err(reason) => return Ok((Logging(None), Some(format!("nothing is logged: {}: {reason}", dir.display())))),
    };
    let (writer, guard) = tracing_appender::non_blocking::NonBlockingBuilder::default().buffered_lines_limit(LINES_MAX).finish(appender);
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false).with_target(true);
    let set = tracing_subscriber::registry().with(filter).with(layer).try_init();
    Ok((Logging(set.is_ok().then_some(guard)), None))
}

/// The filter that the text describes, without the silent parts.
fn filter(text: &str) -> Result<Targets, String> {
    let mut targets = Targets::from_str(text).map_err(|error| error.to_string())?;
    for part in SILENT {
        targets = targets.with_target(part, LevelFilter::OFF);
    }
    Ok(targets)
}
