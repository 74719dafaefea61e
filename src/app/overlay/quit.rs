//! Leaving: the team is asked to stop and who still stops is shown; a second time means now, a third leaves at once.

use crate::app::msg::Cmd;
use crate::app::state::{Sent, State};
use crate::domain::{TeamCommand, Timestamp};
use std::time::Duration;

/// After a forced stop the screen leaves even if the team does not answer: TERM and KILL need 2 s.
pub const FORCE_WAIT: Duration = Duration::from_secs(4);

/// The team was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quitting {
    /// When it was asked.
    pub since: Timestamp,
    /// When it was forced.
    pub forced: Option<Timestamp>,
}

/// The person wants out: once, twice, or for the third time.
pub fn quit(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    if !state.options.is_runner || state.team.counts.live == 0 {
        return vec![Cmd::Quit];
    }
    match state.quitting {
        None => {
            state.quitting = Some(Quitting { since: now, forced: None });
            vec![state.command("stopping the team", TeamCommand::StopTeam { now: false })]
        }
        Some(Quitting { forced: None, .. }) => force(state, now),
        Some(Quitting { forced: Some(_), .. }) => vec![Cmd::Quit],
    }
}

/// Stops everybody now and leaves when that is done.
pub fn force(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    if !state.options.is_runner || state.team.counts.live == 0 {
        return vec![Cmd::Quit];
    }
    let since = state.quitting.map_or(now, |q| q.since);
    state.quitting = Some(Quitting { since, forced: Some(now) });
    let token = state.token();
    state.sent.insert(token, Sent { label: "stopping the team now".into(), answers: None, then_quit: true, form: None });
    vec![Cmd::Team { token, command: TeamCommand::StopTeam { now: true } }]
}

/// Whether it is time to leave.
pub fn is_over(state: &State, now: Timestamp) -> bool {
    state.quitting.is_some_and(|q| state.team.counts.live == 0 || q.forced.is_some_and(|at| now.since(at) >= FORCE_WAIT))
}
