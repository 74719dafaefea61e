//! How mail, tasks and verdicts enter a conversation: tags with attributes that only the runtime writes. Content is
//! quoted, so that text cannot imitate a tag.

use crate::domain::event::NoticeLevel;
use crate::domain::request::Verdict;
use crate::domain::{Envelope, Member, MessageKind, Request, Task, TaskId};

/// Quotes `<` in text that others wrote where it would open or close one of our tags.
fn quote(text: &str) -> String {
    const TAGS: [&str; 10] =
        ["mail", "auto-claimed", "plan-verdict", "edited-plan", "identity", "nudge", "board-finished", "board-stalled", "notice", "team"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let name = after.strip_prefix('/').unwrap_or(after);
        let ours = TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)));
        out.push_str(if ours { "&lt;" } else { "<" });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn kind_word(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Message | MessageKind::Other => "message",
        MessageKind::Broadcast => "broadcast",
        MessageKind::ShutdownRequest => "shutdown_request",
        MessageKind::ShutdownResponse => "shutdown_response",
        MessageKind::PlanApprovalRequest => "plan_approval_request",
        MessageKind::PlanApprovalResponse => "plan_approval_response",
        MessageKind::IdleNotification => "idle_notification",
        MessageKind::Result => "result",
        MessageKind::Error => "error",
    }
}

/// `<mail from="lead" type="message" request_id="…">…</mail>`
pub fn mail(message: &Envelope) -> String {
    let from: String = message.from.as_str().chars().filter(|c| !matches!(c, '"' | '<' | '>' | '\n')).take(64).collect();
    let request = message.request_id.as_ref().map(|id| format!(" request_id=\"{id}\"")).unwrap_or_default();
    format!("<mail from=\"{from}\" type=\"{}\"{request}>{}</mail>", kind_word(message.kind), quote(&message.content))
}

/// All of a batch of mail as one text.
pub fn mails(messages: &[Envelope]) -> String {
    messages.iter().map(mail).collect::<Vec<_>>().join("\n")
}

/// `<auto-claimed>Task #3: subject\ndescription</auto-claimed>`
pub fn claimed(task: &Task) -> String {
    format!("{} {}\n{}</auto-claimed>", claim_mark(task.id), quote(&task.subject), quote(&task.description))
}

/// How [`claimed`] begins for a task, whatever its words.
pub fn claim_mark(id: TaskId) -> String {
    format!("<auto-claimed>Task {id}:")
}

/// `<plan-verdict request="…" verdict="approved" by="human">WORDS<edited-plan>…</edited-plan></plan-verdict>`, then what to
/// do as a notice. The words are the decider's and nothing but.
pub fn verdict(request: &Request) -> String {
    let by = request.answer.as_ref().map_or_else(|| "system".to_owned(), |answer| answer.by.to_string());
    let (words, next) = match request.answer.as_ref().map(|answer| &answer.verdict) {
        Some(Verdict::Approve { note, edited: Some(text), .. }) => {
            let words = [note.as_deref().map(quote), Some(format!("<edited-plan>{}</edited-plan>", quote(text)))];
            (words.into_iter().flatten().collect::<Vec<_>>().join("\n"), "The plan was edited: carry out the edited text, not your own.")
        }
        Some(Verdict::Approve { note, .. }) => (note.as_deref().map(quote).unwrap_or_default(), "Go on with the plan."),
        Some(Verdict::Reject { feedback: Some(words) }) => (quote(words), "Do not change anything yet: submit a revised plan."),
        Some(Verdict::Reject { feedback: None }) => {
            (String::new(), "No reason was given. Do not change anything yet: submit a revised plan.")
        }
        None => (quote(request.ended.as_deref().unwrap_or_default()), "The request has ended without an answer."),
    };
    let (id, state) = (&request.id, request.state.word());
    format!("<plan-verdict request=\"{id}\" verdict=\"{state}\" by=\"{by}\">{words}</plan-verdict>\n{}", notice(next))
}

/// `<identity>You are 'NAME', role: ROLE, team: TEAM.</identity>`
pub fn identity(member: &Member, team: &str) -> String {
    format!("<identity>You are '{}', role: {}, team: {}.</identity>", member.name, quote(&member.role), quote(team))
}

/// A nudge for a member that rests with a task in progress.
pub fn nudge(task: &Task) -> String {
    format!(
        "<nudge>You still hold task {} ({}). Finish it and mark it as completed, or give it back with task_update status \"pending\" and say what blocks it.</nudge>",
        task.id,
        quote(&task.subject)
    )
}

/// Something that happened to the member's work by somebody else's hand.
pub fn notice(text: &str) -> String {
    format!("<notice>{}</notice>", quote(text))
}

/// `all 8 tasks are completed`
pub fn all_done(done: usize) -> String {
    if done == 1 { "the one task is completed".to_owned() } else { format!("all {done} tasks are completed") }
}

/// Told to the lead when the board is done.
pub fn board_finished(done: usize) -> String {
    format!(
        "<board-finished>The board is done ({}) and nobody works. Sum up for the person in a few sentences: what was done, what is left, what to check.</board-finished>",
        all_done(done)
    )
}

/// Told to the lead when open tasks are left and nobody can go on.
pub fn board_stalled(reasons: &str) -> String {
    format!(
        "<board-stalled>Nobody works, but tasks are open: {}. Spawn a teammate, repair the tasks, or say why it ends here.</board-stalled>",
        quote(reasons)
    )
}

/// The word for a notice's level.
pub fn level_word(level: NoticeLevel) -> &'static str {
    match level {
        NoticeLevel::Info => "note",
        NoticeLevel::Warning => "warning",
        NoticeLevel::Error => "error",
    }
}
