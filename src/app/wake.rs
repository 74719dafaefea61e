//! When the screen has to be drawn without anything happening: counted seconds and countdowns, hints that go away,
//! gathered notifications. Nothing of these means no wake at all.

use super::alerts;
use super::msg::Cmd;
use super::overlay::quit;
use super::state::State;
use super::words::next_change;
use crate::domain::Timestamp;

/// Asks for the next wake if there has to be one, and takes back one that is not needed any more.
pub fn schedule(state: &mut State, now: Timestamp, cmds: &mut Vec<Cmd>) {
    if state.status.as_ref().is_some_and(|status| status.until <= now) {
        state.status = None;
    }
    let next = next_wake(state, now);
    let stands = match (state.wake_at, next) {
        (Some(set), Some(next)) => set <= next && set > now,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    if !stands {
        state.wake_at = next;
        cmds.push(Cmd::Wake(next));
    }
}

fn next_wake(state: &State, now: Timestamp) -> Option<Timestamp> {
    let members = state.team.members().filter_map(|view| next_change(view.member.status, &view.activity, now)).min();
    let hint = state.status.as_ref().map(|status| status.until);
    let quitting = state.quitting.and_then(|q| q.forced).map(|at| at.plus(quit::FORCE_WAIT));
    let next = [members, hint, quitting, alerts::due(state)].into_iter().flatten().min();
    next.map(|at| at.max(now.plus(std::time::Duration::from_millis(1))))
}
