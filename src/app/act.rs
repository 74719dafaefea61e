//! What each action does.

mod open;
mod steer;

use super::action::Action;
use super::available::{is_available, is_filtered};
use super::msg::Cmd;
use super::overlay::{Confirm, ConfirmAction, Form, FormKind, Help, NeedsList, Palette, Prompt, ProtocolList, Purpose, needs, quit};
use super::pane::moves;
use super::reading::{self, Way, find};
use super::state::{Pane, State};
use super::verdict;
use crate::domain::settings::PlanMode;
use crate::domain::{TeamCommand, Timestamp};
use open::{close_all, copy, open};
use steer::{member, task, write};

/// Runs an action, by key or by name.
pub fn run(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    match action {
        Action::Up | Action::Down | Action::Top | Action::Bottom | Action::PageUp | Action::PageDown => {
            if state.help.is_some() || state.needs.is_some() || state.protocols.is_some() || state.detail.is_some() {
                reading::go(state, action);
            } else {
                moves::go(state, action);
            }
            Vec::new()
        }
        Action::Quit => quit::quit(state, now),
        Action::Approve => verdict::approve(state, now),
        Action::ApproveNote => verdict::approve_with_note(state, now),
        Action::ApproveAlways => verdict::approve_always(state, now),
        Action::Reject => verdict::reject(state, now),
        Action::EditPlan => verdict::edit(state, now),
        Action::Shutdown | Action::StopNow | Action::Interrupt | Action::Resume => member(state, action, now),
        Action::ResumeAll if !is_available(state, action) => state.hint("nobody is left to resume", now),
        Action::ResumeAll => vec![state.command("resuming everybody", TeamCommand::Resume { target: "all".into() })],
        Action::WriteLead | Action::WriteMember | Action::Broadcast => write(state, action, now),
        Action::CompleteTask | Action::ReleaseTask | Action::DeleteTask | Action::RepairTask | Action::EditTask | Action::EditBlockers => {
            task(state, action, now)
        }
        Action::Open | Action::Transcript | Action::Trace | Action::Costs => open(state, action, now),
        Action::Copy => copy(state, now),
        Action::Clear => vec![Cmd::Clear],
        Action::Suspend => vec![Cmd::Suspend],
        Action::Mouse => {
            state.mouse = !state.mouse;
            let words = if state.mouse { "the mouse is captured" } else { "the mouse is the terminal's: select text as usual" };
            state.hint(words, now);
            vec![Cmd::Mouse(state.mouse)]
        }
        Action::PlansAsk => plans(state, PlanMode::Ask),
        Action::PlansAuto => plans(state, PlanMode::Auto),
        Action::PlansDeny => plans(state, PlanMode::Deny),
        Action::NextMatch => find(state, Way::Forward, now),
        Action::PreviousMatch => find(state, Way::Back, now),
        other => layout(state, other, now),
    }
}

/// Actions that only change what is seen.
fn layout(state: &mut State, action: Action, now: Timestamp) -> Vec<Cmd> {
    match action {
        Action::NextPane => focus(state, Pane::ALL[(state.focus.index() + 1) % Pane::ALL.len()]),
        Action::PreviousPane => focus(state, Pane::ALL[(state.focus.index() + Pane::ALL.len() - 1) % Pane::ALL.len()]),
        Action::FocusTeam => focus(state, Pane::Team),
        Action::FocusApprovals => focus(state, Pane::Approvals),
        Action::FocusBoard => focus(state, Pane::Board),
        Action::FocusInbox => focus(state, Pane::Inbox),
        Action::FocusActivity => focus(state, Pane::Activity),
        Action::Zoom => state.zoom = !state.zoom,
        Action::Back => back(state),
        Action::Close => close(state),
        Action::Help => {
            state.view.detail = super::view::DetailLines::default();
            state.help = Some(Help::default());
        }
        Action::Palette => state.palette = Some(Palette::default()),
        Action::NeedsYou => {
            if needs::list(&state.team).is_empty() {
                return state.hint("nothing needs you", now);
            }
            state.needs = Some(NeedsList::default());
        }
        Action::Spawn => open_form(state, FormKind::Spawn),
        Action::NewTask => open_form(state, FormKind::Task),
        Action::Search => state.prompt = Some(Prompt::new(Purpose::Search, "")),
        Action::SetProtocol if !is_available(state, action) => {
            return state.hint("members are at work: the protocol changes only while the team is idle", now);
        }
        Action::EndRun => return vec![state.command("ending the run", TeamCommand::EndRun)],
        Action::SetProtocol => state.protocols = Some(ProtocolList::at_own(state)),
        Action::Filter if state.focus == Pane::Activity => {
            let cmds = open(state, Action::Transcript, now);
            if state.detail.is_some() {
                layout(state, Action::Search, now);
            }
            return cmds;
        }
        Action::Filter => {
            let text = match state.focus {
                Pane::Team => state.roster.filter.as_ref(),
                Pane::Approvals => state.approvals.filter.as_ref(),
                Pane::Board => state.board.filter(),
                Pane::Inbox | Pane::Activity => state.inbox.filter.as_ref(),
            };
            let text = text.map(|filter| filter.text().to_owned()).unwrap_or_default();
            state.prompt = Some(Prompt::new(Purpose::Filter(state.focus), &text));
        }
        // Editing actions mean something in a prompt only, and never get here from one.
        _ => {}
    }
    Vec::new()
}

/// A form, with what was written into it before it was closed without sending.
fn open_form(state: &mut State, kind: FormKind) {
    let draft = state.form_draft.take().filter(|form| form.kind == kind);
    state.form = Some(draft.unwrap_or_else(|| Form::new(kind)));
}

fn focus(state: &mut State, pane: Pane) {
    close_all(state);
    state.focus = pane;
}

fn close(state: &mut State) {
    if state.needs.take().is_none() && state.protocols.take().is_none() && state.help.take().is_none() {
        state.detail = None;
    }
    state.view.detail = super::view::DetailLines::default();
}

fn back(state: &mut State) {
    let filtered = is_filtered(state);
    if state.quitting.is_some_and(|q| q.forced.is_none()) {
        state.quitting = None;
    } else if filtered {
        moves::set_filter(state, state.focus, "");
        state.activity.scroll.follow();
    } else {
        state.zoom = false;
    }
}

fn plans(state: &mut State, mode: PlanMode) -> Vec<Cmd> {
    let question = match mode {
        PlanMode::Ask => return vec![state.command("plans wait for you", TeamCommand::SetPlanMode { mode })],
        PlanMode::Auto => "Approve every plan at once, without asking you?",
        PlanMode::Deny => "Reject every plan at once, without asking you?",
    };
    state.confirm = Some(Confirm { question: question.into(), action: ConfirmAction::Plans(mode) });
    Vec::new()
}
