//! A model call: streamed, live on the screen, and cancelled at any moment.

use super::{Agent, End};
use crate::domain::Activity;
use crate::domain::conversation::{AssistantAnswer, FinishReason};
use crate::domain::event::NoticeLevel;
use crate::llm::{ChatRequest, ModelError, ModelEvent};
use crate::protocol::turn::TurnInput;
use crate::protocol::{AgentReport, compaction};
use crate::runtime::clock;
use crate::runtime::live::LiveKind;
use futures::StreamExt;
use std::sync::Arc;

impl Agent {
    /// The boundary before a model call, the call, and what came of it as the turn's next input.
    pub(super) async fn call_model(&mut self) -> Result<TurnInput, End> {
        self.poll_down();
        if let Some(halt) = self.take_halt() {
            return Ok(halt);
        }
        match self.take_in().await {
            Ok(intake) if intake.end.is_some() => {
                let reason = intake.end.map(|end| end.reason).unwrap_or_default();
                return Ok(TurnInput::Stop { reason });
            }
            Ok(intake) if intake.interrupted => return Ok(TurnInput::Interrupt),
            Ok(_) => {}
            Err(reason) => return Err(End { failed: true, reason }),
        }
        if self.compaction_due()
            && let Err(input) = self.compact().await
        {
            return Ok(input);
        }
        self.stream_answer().await
    }

    async fn stream_answer(&mut self) -> Result<TurnInput, End> {
        let request = ChatRequest {
            member: self.member.name.clone(),
            model: self.model.clone(),
            messages: Arc::new(self.conversation()),
            tools: self.tools.clone(),
        };
        let mut stream = self.env.model.stream(request);
        self.doing(Activity::Model { since: clock::now() });
        let mut parked = false;
        loop {
            tokio::select! {
                biased;
                input = self.down.recv() => match input {
                    Some(input) => self.queue_input(input),
                    None => self.app_ended(),
                },
                event = stream.next() => match event {
                    Some(Ok(ModelEvent::Finished(answer))) => return Ok(self.answered(answer)),
                    Some(Ok(event)) => self.streamed(event, &mut parked),
                    Some(Err(error)) => return self.model_failed(error),
                    None => return self.model_failed(ModelError::Malformed("the stream ended without an end".into())),
                },
            }
            if let Some(cancel) = self.take_cancel() {
                // Half an answer is in no conversation, and should not stand on the screen as if it were.
                self.env.live.begin(&self.member.name, LiveKind::Text);
                return Ok(cancel);
            }
        }
    }

    pub(super) fn streamed(&self, event: ModelEvent, parked: &mut bool) {
        let name = &self.member.name;
        let live = &self.env.live;
        let moving = matches!(event, ModelEvent::Text(_) | ModelEvent::Reasoning(_) | ModelEvent::CallStarted { .. });
        if moving && std::mem::take(parked) {
            self.doing(Activity::Model { since: clock::now() });
        }
        match event {
            ModelEvent::Text(text) => live.push(name, LiveKind::Text, &crate::domain::text::sanitise(&text)),
            ModelEvent::Reasoning(text) => live.push(name, LiveKind::Reasoning, &crate::domain::text::sanitise(&text)),
            ModelEvent::CallStarted { .. } | ModelEvent::Usage(_) | ModelEvent::Finished(_) => {}
            ModelEvent::RateLimited { until } => {
                *parked = true;
                self.doing(Activity::RateLimit { until });
            }
            ModelEvent::Retrying { attempt, until, reason } => {
                *parked = true;
                self.doing(Activity::Retry { attempt, until, reason });
            }
            ModelEvent::Adapted { what } => {
                self.notice(NoticeLevel::Info, format!("the provider rejects {what}: sent without it from now on"))
            }
        }
    }

    fn answered(&mut self, answer: AssistantAnswer) -> TurnInput {
        self.env.live.begin(&self.member.name, LiveKind::Text);
        let output: usize = answer.text.len() + answer.calls.iter().map(|c| c.arguments.len()).sum::<usize>();
        let measured = answer.usage.total();
        let schema = compaction::schema_tokens(&self.tools);
        let prompt = compaction::estimate(&self.messages) + schema + compaction::tokens_of(self.system.len());
        // The answer itself is added when it enters the conversation.
        self.context = if answer.usage.input > 0 { answer.usage.input } else { prompt };
        self.tell(AgentReport::Used {
            model: self.model.clone(),
            usage: answer.usage,
            context: if measured > 0 { measured } else { prompt + compaction::tokens_of(output) },
            window: self.env.window(&self.model),
        });
        let cut = match answer.finish {
            FinishReason::Stop | FinishReason::ToolCalls => None,
            FinishReason::Length => Some("the answer was cut at the model's token limit"),
            FinishReason::ContentFilter => Some("the provider's filter cut the answer"),
        };
        if let Some(cut) = cut {
            self.notice(NoticeLevel::Warning, format!("{}: {cut}", self.member.name));
        }
        self.tell(AgentReport::Answered { text: answer.text.clone(), reasoning: answer.reasoning.clone() });
        TurnInput::Answered(answer)
    }

    fn model_failed(&mut self, error: ModelError) -> Result<TurnInput, End> {
        self.env.live.begin(&self.member.name, LiveKind::Text);
        match error {
            ModelError::ContextOverflow { message } => Ok(TurnInput::Overflow(message)),
            ModelError::Exhausted { .. } if self.fall_back(&error) => Ok(TurnInput::Begin),
            ModelError::Unauthorized { .. }
            | ModelError::Exhausted { .. }
            | ModelError::TimedOut { .. }
            | ModelError::Connection(_)
            | ModelError::Status { .. }
            | ModelError::Malformed(_)
            | ModelError::Setup(_) => Err(End { failed: true, reason: error.to_string() }),
        }
    }

    /// Goes on with the fallback model of the member's role, once.
    fn fall_back(&mut self, error: &ModelError) -> bool {
        let fallbacks = &self.env.settings.fallback_models;
        let next =
            fallbacks.get(self.member.name.as_str()).or_else(|| fallbacks.get(&self.member.role)).or_else(|| fallbacks.get("*")).cloned();
        let Some(next) = next.filter(|next| *next != self.model) else { return false };
        self.notice(NoticeLevel::Warning, format!("{}: {error}; goes on with {next}", self.member.name));
        self.model = next;
        true
    }

    /// One that did not make enough room is not repeated before the conversation has grown: each costs a model call.
    fn compaction_due(&self) -> bool {
        let window = self.env.window(&self.model);
        let context = self.size();
        context > self.floor && compaction::is_due(context, 0, window, self.env.settings.context_reserve)
    }

    /// Tokens of the next prompt: as the server counted the last one, plus what came since; else estimated.
    pub(super) fn size(&self) -> u64 {
        let messages = compaction::estimate(&self.messages);
        let rest = compaction::schema_tokens(&self.tools) + compaction::tokens_of(self.system.len());
        if self.context > 0 { self.context.max(messages) } else { messages + rest }
    }
}
