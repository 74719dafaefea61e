//! Telling the person outside of the window: its title, and notifications on transitions only, gathered so that many
//! things at once are one notification.

use super::clip::one_line;
use super::msg::Cmd;
use super::state::State;
use crate::domain::{EventRecord, MemberStatus, TeamEvent, Timestamp};
use std::time::Duration;

/// Between two notifications: what happens meanwhile is told together.
const GATHER: Duration = Duration::from_secs(2);
/// An event that is older was there before the screen opened; nobody needs to be called for it.
const NEWS: Duration = Duration::from_secs(10);

/// Looks at an event before it is folded in: is it a transition that the person should hear of?
pub fn notice(state: &mut State, record: &EventRecord, now: Timestamp) {
    if state.focused || now.since(record.at) > NEWS {
        return;
    }
    let told = match &record.event {
        TeamEvent::RequestChanged { request } if request.is_pending() && request.kind != crate::domain::RequestKind::Shutdown => {
            let known = state.team.requests.get(&request.id).is_some();
            (!known).then(|| format!("{} waits for you: {} {}", request.target, request.kind.word(), request.title))
        }
        TeamEvent::MemberChanged { member, .. } if member.status == MemberStatus::Failed => {
            let known = state.team.member(&member.name).is_some_and(|view| view.member.status == MemberStatus::Failed);
            (!known).then(|| format!("{} failed: {}", member.name, member.reason.as_deref().unwrap_or("no reason given")))
        }
        TeamEvent::Finished { reason, .. } => state.team.finished.is_none().then(|| format!("the team finished: {reason}")),
        _ => None,
    };
    if let Some(text) = told {
        state.alerts.waiting.push(one_line(&text, 160));
    }
}

/// When gathered notifications are due.
pub fn due(state: &State) -> Option<Timestamp> {
    let last = state.alerts.last.filter(|_| !state.alerts.waiting.is_empty())?;
    Some(last.plus(GATHER))
}

/// Sets the title when it changed and tells what is due.
pub fn tell(state: &mut State, now: Timestamp, cmds: &mut Vec<Cmd>) {
    cmds.extend(retitle(state).map(Cmd::Title));
    if state.focused {
        state.alerts.waiting.clear();
    }
    let due = state.alerts.last.is_none_or(|last| now.since(last) >= GATHER);
    if state.alerts.waiting.is_empty() || !due {
        return;
    }
    let news = std::mem::take(&mut state.alerts.waiting);
    state.alerts.last = Some(now);
    let body = match news.as_slice() {
        [one] => one.clone(),
        many => format!("{} things: {}", many.len(), many.join(" · ")),
    };
    cmds.push(Cmd::Notify { title: one_line(&format!("signoff: {}", state.team.team), 60), body: one_line(&body, 240) });
}

/// The window's title, if it changed. Asked after every event, so it compares before it writes.
fn retitle(state: &mut State) -> Option<String> {
    let waiting = state.team.requests.pending_len();
    let team = if state.team.team.is_empty() { &state.options.workspace } else { &state.team.team };
    if state.alerts.titled.as_ref().is_some_and(|(count, name)| (*count, name) == (waiting, team)) {
        return None;
    }
    let count = if waiting > 0 { format!("({waiting}) ") } else { String::new() };
    let title = one_line(&format!("{count}signoff: {team}"), 80);
    state.alerts.titled = Some((waiting, team.clone()));
    Some(title)
}
