//! The team's replies in words for a model.

use crate::domain::request::Verdict;
use crate::domain::text::one_line;
use crate::domain::{Activity, Board, Member, MemberName, Reply, Request, Task, TaskStatus};
use std::sync::Arc;

/// A reply in words.
pub(super) fn say(reply: &Reply) -> String {
    match reply {
        Reply::Done => "done".into(),
        Reply::Said(text) | Reply::ProtocolSaid { text, .. } => text.clone(),
        Reply::Task(task) => task_line(task),
        Reply::Tasks(tasks) => task_lines(tasks),
        Reply::Members(members) => roster(members),
        Reply::Request(request) => request_line(request),
        Reply::PlanAlreadyApproved => "this plan is approved already: go on with it".into(),
        Reply::Spawned(member) => format!("spawned {} (role: {}, generation {})", member.name, member.role, member.generation.0),
        Reply::Sent(names) => sent(names),
        Reply::Authorized => "allowed".into(),
    }
}

/// The request that a reply carries.
pub(super) fn request_of(reply: &Reply) -> Option<&Arc<Request>> {
    match reply {
        Reply::Request(request) => Some(request),
        Reply::Done
        | Reply::Said(_)
        | Reply::ProtocolSaid { .. }
        | Reply::Task(_)
        | Reply::Tasks(_)
        | Reply::Members(_)
        | Reply::PlanAlreadyApproved
        | Reply::Spawned(_)
        | Reply::Sent(_)
        | Reply::Authorized => None,
    }
}

/// The task that a reply carries.
pub(super) fn task_of(reply: &Reply) -> Option<&Arc<Task>> {
    match reply {
        Reply::Task(task) => Some(task),
        Reply::Done
        | Reply::Said(_)
        | Reply::ProtocolSaid { .. }
        | Reply::Request(_)
        | Reply::Tasks(_)
        | Reply::Members(_)
        | Reply::PlanAlreadyApproved
        | Reply::Spawned(_)
        | Reply::Sent(_)
        | Reply::Authorized => None,
    }
}

fn sent(names: &[MemberName]) -> String {
    let list: Vec<&str> = names.iter().map(MemberName::as_str).collect();
    if list.is_empty() { "sent to nobody: no other member is live".into() } else { format!("sent to {}", list.join(", ")) }
}

/// One task as the board shows it.
pub(super) fn task_line(task: &Task) -> String {
    let mut line = format!("{} [{}] {}", task.id, status_word(task.status), one_line(&task.subject, 200));
    if let Some(owner) = &task.owner {
        line.push_str(&format!(" (owner: {owner})"));
    }
    line
}

fn task_lines(tasks: &[Arc<Task>]) -> String {
    if tasks.is_empty() {
        return "the board is empty".into();
    }
    let mut board = Board::default();
    tasks.iter().for_each(|task| {
        board.insert(Arc::clone(task));
    });
    let line = |task: &Arc<Task>| match task.status {
        TaskStatus::Pending if board.is_ready(task.id) => format!("{} (ready)", task_line(task)),
        TaskStatus::Pending if task.owner.is_none() => {
            format!("{} (waits for {})", task_line(task), crate::domain::board::describe(&board.blockers(task.id)))
        }
        TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Completed => task_line(task),
    };
    board.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn status_word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::InProgress => "in_progress",
        TaskStatus::Completed => "completed",
    }
}

fn roster(members: &[(Member, Activity)]) -> String {
    let line = |(member, activity): &(Member, Activity)| {
        let task = member.task.map(|task| format!(", works on {task}")).unwrap_or_default();
        let why = doing(activity).map(|why| format!(", {why}")).unwrap_or_default();
        format!("{} ({}): {}{task}{why}", member.name, one_line(&member.role, 80), member.status.word())
    };
    members.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What a member does or waits for, where its status does not tell.
fn doing(activity: &Activity) -> Option<String> {
    match activity {
        Activity::Tool { tool, summary, .. } => Some(format!("runs {tool} {}", one_line(summary, 80))),
        Activity::Approval { request, request_kind, .. } => {
            Some(format!("waits for the answer to {} request {request}", request_kind.word()))
        }
        Activity::RateLimit { .. } => Some("waits for the provider".into()),
        Activity::Retry { reason, .. } => Some(format!("tries again: {}", one_line(reason, 80))),
        Activity::Mail { .. } => Some("waits for mail".into()),
        Activity::HoldsTask { task, .. } => Some(format!("holds {task}")),
        Activity::Stopped { reason } | Activity::Failed { reason } => Some(one_line(reason, 120)),
        Activity::Starting
        | Activity::Model { .. }
        | Activity::Nothing { .. }
        | Activity::Stopping { .. }
        | Activity::Compacting { .. } => None,
    }
}

/// A request and where it stands.
pub(super) fn request_line(request: &Request) -> String {
    let mut line = format!("{} request {} to {}: {}", request.kind.word(), request.id, request.target, request.state.word());
    if let Some(answer) = &request.answer {
        line.push_str(&format!(" by {}", answer.by));
        if let Some(words) = words(&answer.verdict) {
            line.push_str(&format!(": {words}"));
        }
    }
    if let Some(ended) = &request.ended {
        line.push_str(&format!(" ({ended})"));
    }
    line
}

/// The words that came with a verdict.
pub(super) fn words(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Approve { note, .. } => note.as_deref(),
        Verdict::Reject { feedback } => feedback.as_deref(),
    }
}
