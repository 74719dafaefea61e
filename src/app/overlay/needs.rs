//! What needs the person, over all members: one list, and a key that jumps there.

use crate::app::projection::Projection;
use crate::app::state::{Pane, State};
use crate::app::words;
use crate::domain::{Activity, Member, MemberName, MemberStatus, RequestId, TaskId};

/// The open list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeedsList {
    /// The selected row.
    pub at: usize,
}

/// One thing that needs the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// In words; may hold untrusted text.
    pub text: String,
    /// Where it is.
    pub target: NeedTarget,
}

/// Where to jump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeedTarget {
    /// A request.
    Request(RequestId),
    /// A member.
    Member(MemberName),
    /// A task.
    Task(TaskId),
}

/// Everything that needs the person, the requests first.
pub fn list(team: &Projection) -> Vec<Need> {
    let requests = team.requests.pending().map(|request| Need {
        text: format!("{} asks: {} {}", request.target, words::kind(request.kind), request.title),
        target: NeedTarget::Request(request.id.clone()),
    });
    let members = team.members().filter_map(|view| {
        let name = &view.member.name;
        let reason = match &view.activity {
            Activity::Failed { reason } => reason,
            _ => view.member.reason.as_deref().unwrap_or("no reason given"),
        };
        let text = match (view.member.status, &view.activity) {
            (MemberStatus::Failed, _) => format!("{name} failed: {reason}"),
            (MemberStatus::Interrupted, _) if is_cut_off(&view.member) => format!("{name} was interrupted: R resumes"),
            (status, Activity::HoldsTask { task, .. }) if status.is_live() => format!("{name} is idle and still holds {task}"),
            _ => return None,
        };
        Some(Need { text, target: NeedTarget::Member(name.clone()) })
    });
    let tasks = team
        .stuck_tasks()
        .map(|(id, why)| Need { text: format!("task {id} {}: f repairs", words::stuck(why)), target: NeedTarget::Task(id) });
    requests.chain(members).chain(tasks).collect()
}

/// Whether the end of the app cut the member off in its work. One that was idle needs nobody, and a plan that waits is a request.
pub fn is_cut_off(member: &Member) -> bool {
    member.status == MemberStatus::Interrupted && !member.is_off() && !member.is_left_waiting()
}

/// Goes to what needs the person.
pub fn jump(state: &mut State, target: NeedTarget) {
    state.needs = None;
    match target {
        NeedTarget::Request(id) => {
            state.focus = Pane::Approvals;
            state.approvals.select(id);
        }
        NeedTarget::Member(name) => {
            state.focus = Pane::Team;
            state.roster.selected = Some(name);
        }
        NeedTarget::Task(id) => {
            state.focus = Pane::Board;
            state.board.selected = Some(id);
        }
    }
}
