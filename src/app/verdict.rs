//! Verdicts on requests, and the rules that keep a slip of the finger from being one.
//!
//! - A verdict goes to the id that was drawn as the selected one, with the digest of the text that was drawn.
//! - A request that became selected by itself takes one only after it was on the screen for [`SETTLE`] with no key for
//!   [`QUIET`] before the deciding one.
//! - Pasted text and the mouse never get here.

use super::msg::Cmd;
use super::overlay::{Confirm, ConfirmAction, Prompt, Purpose};
use super::state::{EditPurpose, State};
use super::view::{Choice, ShownRequest};
use crate::domain::{Digest, Request, RequestId, RequestKind, TeamCommand, Timestamp, Verdict};
use std::sync::Arc;
use std::time::Duration;

/// How long a request must have been on the screen: about the time to notice and read a title.
pub const SETTLE: Duration = Duration::from_millis(500);
/// How long no key may have been pressed: longer than between two keys of somebody who types.
pub const QUIET: Duration = Duration::from_millis(300);

/// The request that may be decided now, or why none may.
fn decidable(state: &State, now: Timestamp) -> Result<(Arc<Request>, Digest), String> {
    let shown = state.view.shown.as_ref().ok_or_else(|| {
        let waits = state.team.requests.pending_len() > 0;
        if waits { "no request is on the screen: 2 goes to the approvals" } else { "nothing waits for a decision" }.to_owned()
    })?;
    let selected = match state.detail.as_ref().map(|d| &d.kind) {
        Some(super::overlay::DetailKind::Request(id)) => Some(id),
        Some(_) | None => state.approvals.selected.as_ref(),
    };
    let request = state.team.requests.get(&shown.id).ok_or("this request is not known any more")?;
    // First of all who was quicker: being decided is also what moves the selection away.
    if !request.is_pending() {
        return Err(format!("{} already", super::projection::requests_outcome(request)));
    }
    if selected != Some(&shown.id) {
        return Err("the selection just moved: look at it, then press again".into());
    }
    if request.kind == RequestKind::Shutdown {
        return Err("a shutdown request is answered by its member".into());
    }
    if state.is_answering(&request.id) {
        return Err("your answer is on its way".into());
    }
    // Chosen by the person when it was drawn, and not left and come back to by itself since.
    let reading = matches!(state.detail.as_ref().map(|d| &d.kind), Some(super::overlay::DetailKind::Request(_)));
    let chosen = shown.choice == Choice::Person && (reading || state.approvals.choice == Choice::Person);
    if !(chosen && !shown.changed || has_settled(shown, state.previous_key, now)) {
        return Err(format!("{}'s {} has only just come up: look at it, then press again", request.target, request.kind.word()));
    }
    Ok((request.clone(), shown.digest.clone()))
}

fn has_settled(shown: &ShownRequest, previous_key: Option<Timestamp>, now: Timestamp) -> bool {
    now.since(shown.since) >= SETTLE && previous_key.is_none_or(|key| now.since(key) >= QUIET)
}

/// Yes.
pub fn approve(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    with(state, now, |state, request, digest| {
        let label = format!("approving {}'s {}", request.target, request.kind.word());
        vec![answer(state, label, request.id.clone(), Verdict::approve(), digest)]
    })
}

/// Yes, with words.
pub fn approve_with_note(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    with(state, now, |state, request, digest| {
        state.prompt = Some(Prompt::new(Purpose::Note { id: request.id.clone(), digest }, ""));
        Vec::new()
    })
}

/// Yes, by the rule that is shown, for the rest of the session.
pub fn approve_always(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    with(state, now, |state, request, digest| {
        let Some(rule) = request.rule.clone().filter(|_| request.kind == RequestKind::Permission) else {
            return state.hint("only a permission with a rule can be given for always", now);
        };
        let question = format!("Permit {} for the rest of this session?", super::clip::one_line(&rule, 2_000));
        state.confirm = Some(Confirm { question, action: ConfirmAction::Always { id: request.id.clone(), digest } });
        Vec::new()
    })
}

/// No, with words.
pub fn reject(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    with(state, now, |state, request, digest| {
        state.prompt = Some(Prompt::new(Purpose::Feedback { id: request.id.clone(), digest }, ""));
        Vec::new()
    })
}

/// Edit, then approve the edited text.
pub fn edit(state: &mut State, now: Timestamp) -> Vec<Cmd> {
    with(state, now, |state, request, digest| {
        if request.kind != RequestKind::Plan {
            return state.hint("only a plan can be edited", now);
        }
        let token = state.token();
        let (id, text) = (request.id.clone(), request.body.clone());
        state.edits.insert(token, EditPurpose::Plan { id: id.clone(), digest, before: text.clone() });
        vec![Cmd::Edit { token, text, name: format!("plan-{id}.md") }]
    })
}

/// The editor came back with a plan: it is approved if it was changed and is not empty.
pub fn edited(state: &mut State, id: RequestId, digest: Digest, before: &str, text: String, now: Timestamp) -> Vec<Cmd> {
    if text.trim() == before.trim() {
        return state.hint("nothing was changed, so nothing was approved: a approves the plan as it is", now);
    }
    if text.trim().is_empty() {
        return state.hint("the edited plan is empty, so nothing was approved", now);
    }
    let verdict = Verdict::Approve { note: None, edited: Some(text), always: false };
    vec![answer(state, "approving the edited plan".into(), id, verdict, digest)]
}

fn with(state: &mut State, now: Timestamp, decide: impl FnOnce(&mut State, Arc<Request>, Digest) -> Vec<Cmd>) -> Vec<Cmd> {
    match decidable(state, now) {
        Ok((request, digest)) => decide(state, request, digest),
        Err(why) => {
            // Whoever goes on typing means words for it, not commands: they are swallowed until there is a pause.
            state.burst = Some(now);
            state.hint(why, now)
        }
    }
}

fn answer(state: &mut State, label: String, id: RequestId, verdict: Verdict, shown: Digest) -> Cmd {
    state.command(label, TeamCommand::Answer { id, verdict, shown })
}
