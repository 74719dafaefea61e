//! What a member takes in at a boundary: mail first, then what the supervisor told it.

use super::{Agent, End};
use crate::domain::{ChatMessage, Envelope, MessageKind, Party, RequestState, Task, ToolSpec, TranscriptEntry};
use crate::protocol::turn::TurnInput;
use crate::protocol::{AgentInput, format, replay};
use crate::runtime::clock;
use std::sync::Arc;

/// Mail read at one boundary, in bytes; the rest follows at the next one.
const MAIL_BATCH: usize = 1 << 20;

/// What came in.
#[derive(Default)]
pub(super) struct Intake {
    /// Why the member works now; `None` when nothing new is in the conversation.
    pub cause: Option<String>,
    /// The member is to end.
    pub end: Option<End>,
    /// A person interrupted it.
    pub interrupted: bool,
}

impl Agent {
    /// Takes what is in the channel without waiting; says whether there was anything.
    pub(super) fn poll_down(&mut self) -> bool {
        let mut any = false;
        while let Ok(input) = self.down.try_recv() {
            self.queue_input(input);
            any = true;
        }
        any
    }

    pub(super) fn queue_input(&mut self, input: AgentInput) {
        self.seen += 1;
        match input {
            AgentInput::Mail => self.mail = true,
            // A goal that came meanwhile is the protocol's: the lead reads it when it is asked to decide.
            AgentInput::Unread => self.mail |= self.offset < self.inbox_end,
            other => self.queue.push_back(other),
        }
    }

    /// Moves everything that waits into the conversation.
    pub(super) async fn take_in(&mut self) -> Result<Intake, String> {
        self.poll_down();
        let mut intake = Intake::default();
        if let Some(from) = self.take_mail().await? {
            intake.cause = Some(format!("mail from {from}"));
        }
        while let Some(input) = self.queue.pop_front() {
            match input {
                AgentInput::Mail | AgentInput::Unread => {}
                AgentInput::GoalTaken { goal } => self.pass_over(&goal).await?,
                AgentInput::Tell { text, cause } => {
                    self.append(ChatMessage::user(text)).await?;
                    intake.cause = Some(cause.to_owned());
                }
                AgentInput::Claimed(task) => {
                    self.append(ChatMessage::user(format::claimed(&task))).await?;
                    intake.cause = Some(format!("claimed task {}", task.id));
                }
                AgentInput::GoOn { task } => {
                    if self.go_on(task.as_deref()).await? {
                        intake.cause = Some("resumed".to_owned());
                    }
                }
                AgentInput::Offered(tools) => self.offer(tools),
                AgentInput::Verdict(request) => {
                    let mark = format!("<plan-verdict request=\"{}\"", request.id);
                    let known = self.messages.iter().any(|m| matches!(m, ChatMessage::User { text } if text.starts_with(&mark)));
                    if !known {
                        self.append(ChatMessage::user(format::verdict(&request))).await?;
                        intake.cause = Some(format!("plan {} {}", request.id, request.state.word()));
                    }
                }
                AgentInput::Interrupt => intake.interrupted = true,
                AgentInput::End { reason } | AgentInput::Kill { reason } => {
                    intake.end = Some(End { failed: false, reason });
                    return Ok(intake);
                }
            }
        }
        Ok(intake)
    }

    /// Takes up what a cut-off conversation left; says whether there was anything.
    async fn go_on(&mut self, task: Option<&Task>) -> Result<bool, String> {
        let told = |start: &str| self.messages.iter().any(|m| matches!(m, ChatMessage::User { text } if text.contains(start)));
        let text = match task {
            Some(task) if !told(&format::claim_mark(task.id)) => format::claimed(task),
            Some(task) => format::notice(&format!(
                "You were stopped while you worked on task {} ({}), and run again now. Look at what is there, then go on.",
                task.id, task.subject
            )),
            None if replay::is_unfinished(&self.messages) => {
                format::notice("You were stopped in the middle of your work, and run again now. Look at what is there, then go on.")
            }
            None => return Ok(false),
        };
        self.append(ChatMessage::user(text)).await?;
        Ok(true)
    }

    /// The protocol's tools stand beside the member's own, until others are offered.
    fn offer(&mut self, offered: Arc<Vec<ToolSpec>>) {
        let own = self.env.tools.offered(self.audience);
        self.tools = if offered.is_empty() { own } else { Arc::new(own.iter().chain(offered.iter()).cloned().collect()) };
        self.offered = offered;
    }

    /// Reads new mail and takes it in: the line that records it carries the inbox offset, so that effect and
    /// acknowledgement are one append. Returns who wrote last.
    async fn take_mail(&mut self) -> Result<Option<String>, String> {
        if !std::mem::take(&mut self.mail) {
            return Ok(None);
        }
        let mut from = None;
        loop {
            let mail = self.env.store.mail_after(&self.member.name, self.offset, MAIL_BATCH).map_err(|e| e.to_string())?;
            for fault in &mail.faults {
                self.notice(crate::domain::event::NoticeLevel::Warning, format!("inbox of {}: {fault}", self.member.name));
            }
            if mail.next == self.offset {
                return Ok(from);
            }
            let messages: Vec<Envelope> = mail.messages.into_iter().filter(|message| !self.is_over(message)).collect();
            self.keep(TranscriptEntry::Mail { at: clock::now(), offset: mail.next, messages: messages.clone() }).await?;
            self.offset = mail.next;
            if let Some(last) = messages.last() {
                from = Some(last.from.to_string());
                self.push(ChatMessage::user(format::mails(&messages)));
            }
        }
    }

    /// Whether a letter asks for a shutdown that is done: the runtime answered it while the member was at rest, and the
    /// member, resumed, must not read it as if it were asked again.
    fn is_over(&self, message: &Envelope) -> bool {
        let asks = message.request_id.as_ref().filter(|_| message.kind == MessageKind::ShutdownRequest);
        let request = asks.and_then(|id| self.env.store.request(id).ok().flatten());
        request.is_some_and(|(request, _)| matches!(request.state, RequestState::Approved | RequestState::Withdrawn))
    }

    /// Acknowledges the person's message that a run was started for. Where other mail came with it, all stays to be read.
    async fn pass_over(&mut self, goal: &str) -> Result<(), String> {
        let mail = self.env.store.mail_after(&self.member.name, self.offset, MAIL_BATCH).map_err(|e| e.to_string())?;
        if mail.next == self.offset || mail.messages.iter().any(|m| m.from != Party::Human || m.content != goal) {
            return Ok(());
        }
        self.keep(TranscriptEntry::Mail { at: clock::now(), offset: mail.next, messages: Vec::new() }).await?;
        self.offset = mail.next;
        Ok(())
    }

    /// Whether a shutdown request is among the mail that was not taken in yet. Between two tools it comes before the rest
    /// of the batch; other mail waits for the batch's end, since results must follow their calls.
    pub(super) fn shutdown_waits(&self) -> bool {
        let asks = |m: &Envelope| m.kind == MessageKind::ShutdownRequest && m.request_id.is_some();
        self.mail && self.env.store.mail_after(&self.member.name, self.offset, MAIL_BATCH).is_ok_and(|mail| mail.messages.iter().any(asks))
    }

    /// What ends the turn here, between two steps: a kill before an end by handshake before an interrupt. Mail that came
    /// with it stays unread, so that it is not taken as seen by a model that was not asked.
    pub(super) fn take_halt(&mut self) -> Option<TurnInput> {
        self.take(|i| matches!(i, AgentInput::Kill { .. }))
            .or_else(|| self.take(|i| matches!(i, AgentInput::End { .. })))
            .or_else(|| self.take(|i| matches!(i, AgentInput::Interrupt)))
    }

    /// What ends even a step that runs: a kill before an interrupt. An end by handshake waits for the boundary and hides
    /// neither.
    pub(super) fn take_cancel(&mut self) -> Option<TurnInput> {
        self.take(|i| matches!(i, AgentInput::Kill { .. })).or_else(|| self.take(|i| matches!(i, AgentInput::Interrupt)))
    }

    fn take(&mut self, wanted: fn(&AgentInput) -> bool) -> Option<TurnInput> {
        let at = self.queue.iter().position(wanted)?;
        match self.queue.remove(at)? {
            AgentInput::Kill { reason } => {
                // At once: their two seconds run beside those of the tool that is cancelled.
                self.jobs.kill_all();
                Some(TurnInput::Stop { reason })
            }
            AgentInput::End { reason } => Some(TurnInput::Stop { reason }),
            AgentInput::Interrupt => Some(TurnInput::Interrupt),
            AgentInput::Mail
            | AgentInput::Unread
            | AgentInput::GoalTaken { .. }
            | AgentInput::Tell { .. }
            | AgentInput::Claimed(_)
            | AgentInput::GoOn { .. }
            | AgentInput::Offered(_)
            | AgentInput::Verdict(_) => None,
        }
    }

    /// The supervisor is gone, and with it the app.
    pub(super) fn app_ended(&mut self) {
        self.queue.push_front(AgentInput::Kill { reason: "the app ended".into() });
    }
}
