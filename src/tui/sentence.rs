//! An event as one line of plain words: for the linear mode and for people who watch `signoff run`.
//!
//! Pure. Each line begins with a label and is sanitised; no colour, no glyph that a screen reader stumbles over.
//! Events that tell a person nothing by themselves (token counts, a model call that begins) have no line.

use crate::domain::event::{NoticeLevel, ORDINARY_ENDS, TaskChange};
use crate::domain::text::one_line;
use crate::domain::{Activity, Envelope, Member, MemberName, MemberStatus, Party, Request, RequestKind, RequestState, Task, TeamEvent};
use std::time::Duration;

/// A title or a reason on one line.
const SHORT: usize = 160;
/// A message or an answer on one line.
const LONG: usize = 500;

/// The line for an event, without a newline; `None` where there is nothing to tell.
pub fn sentence(event: &TeamEvent) -> Option<String> {
    Some(match event {
        TeamEvent::Opened { team, protocol, provider, model, scripted, wall, .. } => {
            let script = if *scripted { " Answers come from a script, not from a model." } else { "" };
            let wall = if wall.is_full() { String::new() } else { format!(" Sandbox {}.", wall.words()) };
            format!(
                "Team: {} is open with the {} protocol and {} at {}.{script}{wall}",
                cut(team),
                cut(protocol),
                cut(model),
                cut(provider)
            )
        }
        TeamEvent::MemberChanged { member, why } => member_changed(member, why.as_deref()),
        TeamEvent::MemberRemoved { name } => format!("Member: {name} left the roster."),
        TeamEvent::ActivityChanged { name, activity } => return activity_changed(name, activity),
        TeamEvent::TaskChanged { task, change, by } => return task_changed(task, *change, by),
        TeamEvent::TaskRemoved { id, by } => format!("Task: {id} was deleted by {}.", party(by)),
        TeamEvent::MessageSent { message } => message_sent(message),
        TeamEvent::RequestChanged { request } => request_changed(request),
        TeamEvent::TurnStarted { name, cause, .. } => format!("Turn: {name} starts to work: {}", cut(cause)),
        TeamEvent::TurnEnded { outcome, .. } if ORDINARY_ENDS.contains(&outcome.as_str()) => return None,
        TeamEvent::TurnEnded { name, outcome } => format!("Turn: {name} stopped working: {}", cut(outcome)),
        TeamEvent::AnswerFinished { text, .. } if text.trim().is_empty() => return None,
        TeamEvent::AnswerFinished { name, text, .. } => format!("Answer: {name}: {}", one_line(text, LONG)),
        TeamEvent::ToolStarted { name, tool, summary, .. } => format!("Tool: {name} runs {}: {}", cut(tool), cut(summary)),
        TeamEvent::ToolFinished { name, tool, ok, millis, .. } => {
            let outcome = if *ok { "succeeded" } else { "failed" };
            format!("Tool: {} of {name} {outcome} after {}.", cut(tool), duration(Duration::from_millis(*millis)))
        }
        TeamEvent::UsageAdded { .. } | TeamEvent::ProtocolShown { .. } | TeamEvent::RunnerGone { .. } => return None,
        TeamEvent::Compacted { name, before, after } => {
            format!("Member: the conversation of {name} was shortened from {before} to {after} tokens.")
        }
        TeamEvent::Noticed { level, text, name } => {
            let label = match level {
                NoticeLevel::Info => "Notice",
                NoticeLevel::Warning => "Warning",
                NoticeLevel::Error => "Error",
            };
            let about = name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            format!("{label}: {about}{}", one_line(text, LONG))
        }
        TeamEvent::Denied { name, what } => format!("Denied: {name} was refused: {}", cut(what)),
        TeamEvent::Traced { step, who, rule, outcome, .. } => {
            let who = who.as_ref().map(|who| format!("{who} was chosen by the rule ")).unwrap_or_default();
            format!("Step {step}: {who}{}: {}", cut(rule), cut(outcome))
        }
        TeamEvent::ProtocolChanged { name } => format!("Team: the protocol is {} now.", cut(name)),
        TeamEvent::Finished { reason, ok: true } => format!("Finished: {}", cut(reason)),
        TeamEvent::Finished { reason, ok: false } => format!("Failed: {}", cut(reason)),
    })
}

fn cut(text: &str) -> String {
    one_line(text, SHORT)
}

fn party(party: &Party) -> String {
    match party {
        Party::Human => "you".into(),
        Party::System => "signoff".into(),
        Party::Member(name) => name.to_string(),
        Party::Outside(text) => format!("another program ({})", cut(text)),
    }
}

fn because(why: Option<&str>) -> String {
    why.map(|why| format!(": {}", cut(why))).unwrap_or_default()
}

fn member_changed(member: &Member, why: Option<&str>) -> String {
    let role = if member.role.is_empty() { String::new() } else { format!(" ({})", cut(&member.role)) };
    let status = match member.status {
        MemberStatus::WaitingApproval => "waiting for an approval",
        MemberStatus::Shutdown => "shut down",
        other => other.word(),
    };
    let task = member.task.map(|task| format!(" on {task}")).unwrap_or_default();
    format!("Member: {}{role} is {status}{task}{}", member.name, because(why.or(member.reason.as_deref())))
}

/// Only what is told by no other event.
fn activity_changed(name: &MemberName, activity: &Activity) -> Option<String> {
    Some(match activity {
        Activity::RateLimit { .. } => format!("Member: {name} waits, because the provider asked everybody to."),
        Activity::Retry { attempt, reason, .. } => format!("Member: {name} tries again (attempt {attempt}): {}", cut(reason)),
        Activity::HoldsTask { task, .. } => format!("Member: {name} is idle and still holds {task}: have a look."),
        Activity::Starting
        | Activity::Model { .. }
        | Activity::Tool { .. }
        | Activity::Approval { .. }
        | Activity::Mail { .. }
        | Activity::Nothing { .. }
        | Activity::Stopping { .. }
        | Activity::Compacting { .. }
        | Activity::Stopped { .. }
        | Activity::Failed { .. } => return None,
    })
}

fn task_changed(task: &Task, change: TaskChange, by: &Party) -> Option<String> {
    let what = match change {
        TaskChange::Loaded => return None,
        TaskChange::Created => "created",
        TaskChange::Claimed => "claimed",
        TaskChange::Completed => "completed",
        TaskChange::Released => "released",
        TaskChange::Edited => "edited",
    };
    Some(format!("Task: {} was {what} by {}: {}", task.id, party(by), cut(&task.subject)))
}

fn message_sent(message: &Envelope) -> String {
    let to = if message.to == "human" { "you".to_owned() } else { cut(&message.to) };
    format!("Message: {} to {to}: {}", party(&message.from), one_line(&message.content, LONG))
}

fn request_changed(request: &Request) -> String {
    let (id, kind, target, title) = (&request.id, request.kind.word(), &request.target, cut(&request.title));
    match (request.state, request.kind) {
        (RequestState::Pending, RequestKind::Shutdown) => {
            format!("Shutdown: {} asked {target} to shut down, request {id}.", party(&request.asker))
        }
        (RequestState::Pending, RequestKind::Plan | RequestKind::Permission) => {
            format!("Approval needed: {kind} of {target}, request {id}: {title}")
        }
        (RequestState::Approved | RequestState::Rejected, _) => {
            let by = request.answer.as_ref().map(|answer| format!(" by {}", party(&answer.by))).unwrap_or_default();
            format!("Request: {kind} {id} of {target} was {}{by}.", request.state.word())
        }
        (RequestState::Withdrawn | RequestState::Expired, _) => {
            format!("Request: {kind} {id} of {target} was {}{}", request.state.word(), because(request.ended.as_deref()))
        }
    }
}

/// `3.1 seconds`, `2 minutes 5 seconds`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=9 => format!("{:.1} seconds", time.as_secs_f64()),
        10..=59 => format!("{seconds} seconds"),
        _ => format!("{} minutes {} seconds", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RequestId, TaskId, Timestamp};
    use std::sync::Arc;

    fn name(text: &str) -> MemberName {
        MemberName::parse(text).unwrap()
    }

    #[test]
    fn a_request_tells_who_what_and_the_id() {
        let request = Request {
            id: RequestId::parse("1a2b3c4d").unwrap(),
            kind: RequestKind::Plan,
            asker: Party::Member(name("bob")),
            target: name("bob"),
            generation: Default::default(),
            title: "Migrate the database".into(),
            body: "1. …".into(),
            task: None,
            previous: None,
            rule: None,
            created: Timestamp(0),
            deadline: None,
            force: false,
            state: RequestState::Pending,
            answer: None,
            ended: None,
            extra: Default::default(),
        };
        let asked = sentence(&TeamEvent::RequestChanged { request: Arc::new(request.clone()) }).unwrap();
        assert_eq!(asked, "Approval needed: plan of bob, request 1a2b3c4d: Migrate the database");
        let closed = request.closed(RequestState::Withdrawn, "bob stopped").unwrap();
        let told = sentence(&TeamEvent::RequestChanged { request: Arc::new(closed) }).unwrap();
        assert_eq!(told, "Request: plan 1a2b3c4d of bob was withdrawn: bob stopped");
    }

    #[test]
    fn text_of_others_cannot_steer_the_terminal_or_add_lines() {
        let event = TeamEvent::AnswerFinished { name: name("alice"), text: "a\x1b]0;x\x07\nApproval needed: b".into(), reasoning: None };
        let line = sentence(&event).unwrap();
        assert!(line.starts_with("Answer: alice: ") && !line.contains(['\n', '\x1b', '\x07']), "{line:?}");
    }

    #[test]
    fn tasks_found_at_start_and_token_counts_are_not_told() {
        let task = Arc::new(Task::new(TaskId(1), "x"));
        assert_eq!(sentence(&TeamEvent::TaskChanged { task: Arc::clone(&task), change: TaskChange::Loaded, by: Party::System }), None);
        let claimed = TeamEvent::TaskChanged { task, change: TaskChange::Claimed, by: Party::Member(name("alice")) };
        assert_eq!(sentence(&claimed).unwrap(), "Task: #1 was claimed by alice: x");
    }
}
