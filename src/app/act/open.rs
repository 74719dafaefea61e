//! Opening things in full, and copying them.

use crate::app::action::Action;
use crate::app::available::current_task;
use crate::app::msg::Cmd;
use crate::app::overlay::{Detail, DetailKind, needs, protocols};
use crate::app::projection::FeedKind;
use crate::app::state::{Pane, State};
use crate::app::view::{Choice, DetailLines};
use crate::domain::{Envelope, Timestamp};
use std::sync::Arc;

/// Opens what is selected.
pub fn open(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    if state.protocols.is_some() {
        return protocols::choose(state);
    }
    if state.needs.is_some() {
        let chosen = state.needs.and_then(|list| needs::list(&state.team).into_iter().nth(list.at));
        if let Some(need) = chosen {
            needs::jump(state, need.target);
        }
        return Vec::new();
    }
    if let Some(detail) = state.detail.as_ref().filter(|_| action == Action::Open) {
        let target = state.view.detail.targets.get(detail.at).cloned().flatten().filter(|_| matches!(detail.kind, DetailKind::Trace));
        let Some(name) = target else { return Vec::new() };
        state.roster.selected = Some(name.clone());
        return show(state, DetailKind::Transcript(name), now);
    }
    let transcript = action == Action::Transcript || matches!(state.focus, Pane::Team | Pane::Activity);
    let kind = match (action, state.focus) {
        (Action::Trace, _) => Some(DetailKind::Trace),
        (Action::Costs, _) => Some(DetailKind::Costs),
        _ if transcript => state.roster.selected.clone().map(DetailKind::Transcript),
        (_, Pane::Approvals) => state.approvals.selected.clone().map(DetailKind::Request),
        (_, Pane::Board) => state.board.index().and(state.board.selected).map(DetailKind::Task),
        _ => selected_message(state).map(DetailKind::Message),
    };
    let Some(kind) = kind else { return state.hint("nothing is selected here", now) };
    show(state, kind, now)
}

/// Closes whatever is open.
pub fn close_all(state: &mut State) {
    (state.detail, state.help, state.needs, state.protocols) = (None, None, None, None);
    state.view.detail = DetailLines::default();
}

fn show(state: &mut State, kind: DetailKind, now: Timestamp) -> Vec<Cmd> {
    close_all(state);
    let mut detail = Detail::new(kind, now);
    let mut cmds = Vec::new();
    match &detail.kind {
        DetailKind::Request(_) => state.approvals.choice = Choice::Person,
        DetailKind::Transcript(name) => {
            cmds.push(Cmd::LoadTranscript(name.clone()));
            let known: Vec<_> = state.team.member(name).into_iter().flat_map(|view| view.feed.iter().cloned()).collect();
            known.into_iter().for_each(|item| detail.push(item.at, item.kind));
        }
        DetailKind::Task(_) | DetailKind::Message(_) | DetailKind::Trace | DetailKind::Costs => {}
    }
    state.detail = Some(detail);
    cmds
}

fn selected_message(state: &mut State) -> Option<Arc<Envelope>> {
    let view = state.roster.selected.as_ref().and_then(|name| state.team.member(name))?;
    let list = state.inbox.list(view);
    let at = state.inbox.index(&list)?;
    list.get(at).cloned()
}

/// Copies what is selected, through the terminal.
pub fn copy(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    let text = copied(state).unwrap_or_default();
    let text = crate::domain::text::sanitise(&text).into_owned();
    if text.is_empty() {
        return state.hint("nothing is selected that could be copied", now);
    }
    state.hint("copied (where the terminal allows it)", now);
    vec![Cmd::Copy(text)]
}

fn copied(state: &mut State) -> Option<String> {
    let kind = state.detail.as_ref().map(|d| d.kind.clone());
    match (kind, state.focus) {
        (Some(DetailKind::Request(id)), _) => state.team.requests.get(&id).map(|r| r.body.clone()),
        (Some(DetailKind::Task(id)), _) => state.team.board.get(id).map(|t| format!("{} {}\n\n{}", t.id, t.subject, t.description)),
        (Some(DetailKind::Message(message)), _) => Some(message.content.clone()),
        (Some(DetailKind::Trace | DetailKind::Costs), _) => {
            Some(state.view.detail.lines.iter().map(|l| crate::app::rich::plain(l) + "\n").collect())
        }
        (None, Pane::Approvals) => state.approvals.selected.as_ref().and_then(|id| state.team.requests.get(id)).map(|r| r.body.clone()),
        (None, Pane::Board) => current_task(state).map(|t| format!("{} {}\n\n{}", t.id, t.subject, t.description)),
        (None, Pane::Inbox) => selected_message(state).map(|m| m.content.clone()),
        (Some(DetailKind::Transcript(_)) | None, _) => last_answer(state),
    }
}

fn last_answer(state: &State) -> Option<String> {
    state.selected_member()?.feed.iter().rev().find_map(|item| match &item.kind {
        FeedKind::Answer { text, .. } if !text.is_empty() => Some(text.clone()),
        _ => None,
    })
}
