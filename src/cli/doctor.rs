//! `signoff doctor`: what is there, what is missing, and how to mend it.

mod checks;

use super::args::DoctorArgs;
use super::error::{CliError, Exit};
use super::out::{Form, Out};
use super::session::Session;
use crate::config::{Env, env_var};
use serde::Serialize;

/// What keeps commands in their place, in words, before it was tried.
pub const SANDBOX: &str = "tried when the team opens";

/// What a killed program may have left on: frame, mouse reports, bracketed paste, focus reports, keyboard protocol, hidden cursor,
/// colours, alternate screen.
const RESET: &str =
    "\x18\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?25h\x1b[0m\x1b[?1049l";

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Ok,
    /// Works, but worse than it could.
    Warn,
    /// Does not work.
    Fail,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `terminal`, `workspace`, `provider`, `sandbox`.
    pub area: &'static str,
    /// What was looked at.
    pub name: &'static str,
    /// How it went.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

impl Check {
    fn ok(area: &'static str, name: &'static str, found: impl Into<String>) -> Self {
        Self { area, name, state: State::Ok, found: found.into(), mend: None }
    }

    fn bad(area: &'static str, name: &'static str, state: State, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { area, name, state, found: found.into(), mend: Some(mend.into()) }
    }
}

/// `doctor`
pub async fn doctor(session: &Session, args: &DoctorArgs, out: &mut Out) -> Result<Exit, CliError> {
    let mut all = checks::terminal(&session.env);
    all.extend(checks::workspace(session));
    all.extend(checks::provider(session).await);
    all.push(checks::sandbox(session));
    for check in &all {
        match Form::of(args.json) {
            Form::Json => out.json(check)?,
            Form::Table => tell(check, out)?,
        }
    }
    let failed = all.iter().any(|check| check.state == State::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn tell(check: &Check, out: &mut Out) -> Result<(), CliError> {
    let word = match check.state {
        State::Ok => "ok",
        State::Warn => "warn",
        State::Fail => "FAIL",
    };
    out.line(&format!("{word:<4}  {:<9}  {:<10}  {}", check.area, check.name, check.found))?;
    check.mend.iter().try_for_each(|mend| out.line(&format!("{:29}→ {mend}", "")))
}

/// Brings back a terminal that a killed program left unusable: its modes by sequences, its line settings by itself.
///
/// # Errors
/// When output cannot be written.
pub fn reset_terminal(out: &mut Out) -> Result<Exit, CliError> {
    out.raw(RESET)?;
    if let Ok(mut settings) = rustix::termios::tcgetattr(rustix::stdio::stdin()) {
        use rustix::termios::{InputModes, LocalModes, OptionalActions, OutputModes};
        settings.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHOE | LocalModes::ISIG | LocalModes::IEXTEN;
        settings.input_modes |= InputModes::ICRNL | InputModes::IXON;
        settings.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        // Not a terminal, or gone: then there is nothing to bring back.
        let _ = rustix::termios::tcsetattr(rustix::stdio::stdin(), OptionalActions::Flush, &settings);
    }
    Ok(Exit::Done)
}

/// Whether the locale's characters are UTF-8.
pub fn is_utf8(env: &Env) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env_var(env, name)).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
