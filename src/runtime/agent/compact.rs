//! Shortening a conversation: a summary by the model, or, if that does not fit either, without the oldest outputs.

use super::Agent;
use crate::domain::event::NoticeLevel;
use crate::domain::{Activity, ChatMessage, TeamCommand, TranscriptEntry};
use crate::llm::{ChatRequest, ModelEvent};
use crate::protocol::turn::TurnInput;
use crate::protocol::{AgentReport, compaction, format};
use crate::runtime::clock;
use crate::tool::TeamPort;
use futures::StreamExt;
use std::sync::Arc;

impl Agent {
    /// Replaces all but the newest messages by a summary. `Err` carries the input that cancelled it.
    pub(super) async fn compact(&mut self) -> Result<(), TurnInput> {
        let window = self.env.window(&self.model);
        let before = self.size();
        self.doing(Activity::Compacting { since: clock::now() });
        let kept = compaction::keep(&self.messages, window);
        let cut = self.messages.len() - kept;
        let words = match self.summary(cut, window).await {
            Ok(words) => words,
            Err(Cancelled::By(input)) => return Err(input),
            Err(Cancelled::Failed(why)) => {
                self.notice(NoticeLevel::Warning, format!("{}: no summary could be made ({why}); old parts are dropped", self.member.name));
                let target = window / 2;
                if !compaction::drop_outputs(&mut self.messages, target) && kept < self.messages.len() {
                    self.messages.drain(..cut);
                }
                "Earlier parts of this conversation were dropped to make room; nothing of them is known any more.".to_owned()
            }
        };
        let summary = self.with_identity(&words).await;
        let kept = if words.starts_with("Earlier parts") { self.messages.len() } else { kept };
        let from = self.messages.len() - kept;
        // Without it on disk a restart has the whole conversation again, which is right, only longer: so the member goes on.
        if let Err(error) = self.keep(TranscriptEntry::Compacted { at: clock::now(), summary: summary.clone(), kept }).await {
            tracing::error!(%error, "transcript not written");
        }
        let tail = self.messages.split_off(from);
        self.messages = std::iter::once(ChatMessage::user(summary)).chain(tail).collect();
        self.context = 0;
        let after = self.size();
        self.floor = after.saturating_add(window / GROWTH_SHARE);
        self.tell(AgentReport::Compacted { before, after });
        Ok(())
    }

    /// Identity first; for the lead also roster, open tasks and pending requests, so that nobody is spawned twice.
    async fn with_identity(&self, words: &str) -> String {
        let mut text = format::identity(&self.member, &self.team);
        if self.member.name.is_lead()
            && let Ok(crate::domain::Reply::Said(brief)) = self.port.command(TeamCommand::Brief).await
        {
            text.push_str(&format!("\n<team>\n{brief}</team>"));
        }
        format!("{text}\nSummary of the conversation so far:\n{words}")
    }

    async fn summary(&mut self, cut: usize, window: u64) -> Result<String, Cancelled> {
        if cut == 0 {
            return Err(Cancelled::Failed("the last exchange alone is too long".into()));
        }
        let limit = usize::try_from(window / 2).unwrap_or(usize::MAX).saturating_mul(3);
        let text = compaction::digest_text(&self.messages[..cut], limit);
        let replaced = self.messages[..cut].iter().map(ChatMessage::size).sum();
        let request = ChatRequest {
            member: self.member.name.clone(),
            model: self.model.clone(),
            messages: Arc::new(vec![ChatMessage::System { text: self.env.prompts.compact.clone() }, ChatMessage::user(text)]),
            tools: Arc::new(Vec::new()),
        };
        let mut stream = self.env.model.stream(request);
        let mut parked = false;
        loop {
            tokio::select! {
                biased;
                input = self.down.recv() => match input {
                    Some(input) => self.queue_input(input),
                    None => self.app_ended(),
                },
                event = stream.next() => match event {
                    Some(Ok(ModelEvent::Finished(answer))) => {
                        self.tell(AgentReport::Used { model: self.model.clone(), usage: answer.usage, context: 0, window });
                        let words = compaction::no_longer_than(answer.text, replaced);
                        return if words.trim().is_empty() { Err(Cancelled::Failed("it was empty".into())) } else { Ok(words) };
                    }
                    Some(Ok(event)) => self.summarising(event, &mut parked),
                    Some(Err(error)) => return Err(Cancelled::Failed(error.to_string())),
                    None => return Err(Cancelled::Failed("the stream ended without an end".into())),
                },
            }
            if let Some(cancel) = self.take_cancel() {
                return Err(Cancelled::By(cancel));
            }
        }
    }

    /// A wait is shown; the words of a summary are not.
    fn summarising(&self, event: ModelEvent, parked: &mut bool) {
        if matches!(event, ModelEvent::RateLimited { .. } | ModelEvent::Retrying { .. } | ModelEvent::Adapted { .. }) {
            self.streamed(event, parked);
        } else if std::mem::take(parked) {
            self.doing(Activity::Compacting { since: clock::now() });
        }
    }
}

/// After a compaction the conversation has to grow by this share of the window before the next one.
const GROWTH_SHARE: u64 = 8;

enum Cancelled {
    By(TurnInput),
    Failed(String),
}
