//! Writing the transcript, with patience: a disk that is full or fails for a while stops a member where it is, and it goes
//! on from there. Nothing that is not on the disk counts as said.

use super::Agent;
use crate::domain::TranscriptEntry;
use crate::domain::event::NoticeLevel;
use crate::protocol::AgentInput;
use std::time::Duration;
use tokio::time::Instant;

/// How long a member waits for the disk before it fails and gives its task back.
const PATIENCE: Duration = Duration::from_secs(60);
/// The first pause; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Agent {
    /// Adds a line to the transcript. Tries again as long as that may help and nobody wants the member to end.
    pub(super) async fn keep(&mut self, entry: TranscriptEntry) -> Result<(), String> {
        let (mut since, mut pause) = (None, FIRST_PAUSE);
        loop {
            let error = match self.env.store.append_transcript(&self.member.name, std::slice::from_ref(&entry)) {
                Ok(_) if since.is_none() => return Ok(()),
                Ok(_) => {
                    self.notice(NoticeLevel::Info, format!("the transcript of {} can be written again: it goes on", self.member.name));
                    return Ok(());
                }
                Err(error) => error,
            };
            let began = *since.get_or_insert_with(Instant::now);
            if !error.may_pass() || began.elapsed() >= PATIENCE || self.has_to_end() {
                return Err(format!("the transcript cannot be written: {error}"));
            }
            if pause == FIRST_PAUSE {
                let (name, seconds) = (&self.member.name, PATIENCE.as_secs());
                self.notice(
                    NoticeLevel::Error,
                    format!("{name} waits: its transcript cannot be written; tried again for {seconds} s: {error}"),
                );
            }
            self.pause(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits; takes meanwhile what it is told.
    async fn pause(&mut self, pause: Duration) {
        let until = Instant::now() + pause;
        while !self.has_to_end() {
            match tokio::time::timeout_at(until, self.down.recv()).await {
                Ok(Some(input)) => self.queue_input(input),
                Ok(None) => self.app_ended(),
                Err(_) => return,
            }
        }
    }

    fn has_to_end(&self) -> bool {
        self.queue.iter().any(|input| matches!(input, AgentInput::Kill { .. } | AgentInput::End { .. }))
    }
}
