//! What works right now: the footer and the palette show it, and a key that does not work says why.

use super::action::Action;
use super::overlay::needs::is_cut_off;
use super::overlay::{DetailKind, Purpose};
use super::projection::MemberView;
use super::state::{Pane, State};
use crate::domain::{Activity, MemberStatus, Request, RequestKind, Task, TaskStatus};
use std::sync::Arc;

/// The request that is drawn as the selected one.
pub fn shown_request(state: &State) -> Option<&Arc<Request>> {
    let shown = state.view.shown.as_ref()?;
    state.team.requests.get(&shown.id)
}

/// The task that keys act on: the one that is open, or the selected one.
pub fn current_task(state: &State) -> Option<&Arc<Task>> {
    let id = match state.detail.as_ref().map(|d| &d.kind) {
        Some(DetailKind::Task(id)) => Some(*id),
        Some(_) => None,
        None => state.board.selected,
    };
    state.team.board.get(id?)
}

/// Whether an action does something now.
pub fn is_available(state: &State, action: Action) -> bool {
    let pending = |kind: fn(RequestKind) -> bool| shown_request(state).is_some_and(|r| r.is_pending() && kind(r.kind));
    let member = |fits: fn(MemberStatus) -> bool| state.selected_member().is_some_and(|view| fits(view.member.status));
    let teammate = || state.selected_member().is_some_and(|view| !view.member.name.is_lead());
    match action {
        Action::Approve | Action::ApproveNote | Action::Reject => pending(|_| true),
        Action::EditPlan => pending(|kind| kind == RequestKind::Plan),
        Action::ApproveAlways => pending(|kind| kind == RequestKind::Permission) && shown_request(state).is_some_and(|r| r.rule.is_some()),
        Action::Shutdown => teammate() && member(MemberStatus::is_live),
        Action::StopNow => member(MemberStatus::is_live),
        Action::Interrupt => member(|status| matches!(status, MemberStatus::Working)),
        Action::Resume => member(|status| matches!(status, MemberStatus::Interrupted | MemberStatus::Failed | MemberStatus::Shutdown)),
        Action::ResumeAll => is_somebody_left(state),
        Action::WriteMember | Action::Transcript => state.selected_member().is_some(),
        Action::Broadcast => state.team.counts.live > 0,
        Action::Open => can_open(state),
        Action::NeedsYou => needs_somebody(state),
        Action::Back => state.zoom || is_filtered(state),
        Action::CompleteTask => current_task(state).is_some_and(|task| task.status != TaskStatus::Completed),
        Action::ReleaseTask => current_task(state).is_some_and(|task| task.owner.is_some() && task.status != TaskStatus::Completed),
        Action::DeleteTask | Action::EditTask | Action::EditBlockers => current_task(state).is_some(),
        Action::RepairTask => current_task(state).is_some_and(|task| state.team.stuck(task.id).is_some()),
        Action::SetProtocol => state.team.counts.working == 0,
        Action::NextMatch | Action::PreviousMatch => state.detail.as_ref().is_some_and(|d| d.search.is_some()),
        Action::Search => state.detail.is_some(),
        Action::SwitchVerdict => {
            state.prompt.as_ref().is_some_and(|p| matches!(p.purpose, Purpose::Note { .. } | Purpose::Feedback { .. }))
        }
        Action::NextField | Action::PreviousField => state.form.is_some(),
        Action::Newline => state.palette.is_none(),
        _ => true,
    }
}

/// Whether members do not run because the app ended or the team was stopped.
pub fn is_somebody_left(state: &State) -> bool {
    state.team.members().any(|view| view.member.left_with_team())
}

/// Whether the focused pane shows a part only, or not its end.
pub fn is_filtered(state: &State) -> bool {
    match state.focus {
        Pane::Team => state.roster.filter.is_some(),
        Pane::Approvals => state.approvals.filter.is_some(),
        Pane::Board => state.board.filter().is_some(),
        Pane::Inbox => state.inbox.filter.is_some(),
        Pane::Activity => !state.activity.scroll.is_following(),
    }
}

fn can_open(state: &State) -> bool {
    match state.focus {
        Pane::Team | Pane::Activity => state.selected_member().is_some(),
        Pane::Approvals => state.approvals.selected.is_some(),
        Pane::Board => state.board.index().is_some(),
        Pane::Inbox => state.selected_member().is_some_and(|view| !view.inbox.is_empty()),
    }
}

fn needs_somebody(state: &State) -> bool {
    let team = &state.team;
    let waits = |view: &MemberView| {
        is_cut_off(&view.member) || (view.member.status.is_live() && matches!(view.activity, Activity::HoldsTask { .. }))
    };
    team.requests.pending_len() > 0 || team.counts.failed > 0 || team.stuck_tasks().next().is_some() || team.members().any(waits)
}
