//! One model call from the first try to the whole answer: the gate, the tries, what is learnt in between.
//!
//! The call runs on the network's thread and feeds a stream: dropping the stream drops everything at once, waits,
//! connection and all. A try is repeated only while nothing of an answer has been shown.

use super::accumulate::Accumulator;
use super::compat::Book;
use super::fault::{Fault, Remedy};
use super::gate::{self, Gate};
use super::network::Network;
use super::openai::{Answer, Link};
use super::outgoing;
use super::pieces::Pieces;
use super::settings::OpenAiSettings;
use super::{ChatRequest, ModelError, ModelEvent, ModelStream};
use crate::domain::Timestamp;
use crate::domain::conversation::AssistantAnswer;
use crate::domain::text::one_line;
use futures::channel::mpsc;
use futures::{SinkExt as _, StreamExt as _, stream};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Events that may wait for the reader; the call stands still beyond that.
const QUEUE: usize = 32;
/// A server that rejects more fields than this rejects the request.
const ADAPT_MAX: u32 = 4;
/// After the finish reason only the usage and `[DONE]` are to come; a server that keeps the socket open is not waited for.
const TAIL: Duration = Duration::from_secs(5);
/// Wait between tries while a server loads its model.
const LOADING_WAIT: Duration = Duration::from_secs(5);

/// What all calls to one provider share.
pub(super) struct Shared {
    pub(super) settings: OpenAiSettings,
    pub(super) link: Link,
    pub(super) network: Network,
    pub(super) gate: Gate,
    pub(super) book: Book,
    pub(super) clock: fn() -> Timestamp,
}

/// A call.
pub(super) struct Call {
    shared: Arc<Shared>,
    request: ChatRequest,
}

/// A try that failed.
struct Failure {
    fault: Fault,
    shown: Shown,
}

/// Whether the person has seen some of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Some,
}

type Out = mpsc::Sender<Result<ModelEvent, ModelError>>;

impl Call {
    pub(super) fn new(shared: Arc<Shared>, request: ChatRequest) -> Self {
        Self { shared, request }
    }

    pub(super) fn stream(self) -> ModelStream {
        let (mut out, events) = mpsc::channel(QUEUE);
        let shared = self.shared.clone();
        let running = shared.network.run(async move {
            let last = self.run(&mut out).await.map(ModelEvent::Finished);
            let _ = out.send(last).await;
        });
        match running {
            // The stream owns the call: they end together.
            Ok(running) => events.map(move |event| (&running, event).1).boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn run(&self, out: &mut Out) -> Result<AssistantAnswer, ModelError> {
        let begun = Instant::now();
        let (mut tries, mut adapted) = (0, 0);
        loop {
            self.wait_at_gate(out).await?;
            let body = self.body();
            let Failure { fault, shown } = match self.attempt(body.clone(), out).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if shown == Shown::Some {
                return Err(fault.error());
            }
            let learnt = self.learn(&fault, &body);
            // What the settings insist on stays as it was: sending the same once more would not help.
            if let Some(what) = learnt.filter(|_| adapted < ADAPT_MAX && self.body() != body) {
                adapted += 1;
                emit(out, ModelEvent::Adapted { what }).await;
                continue;
            }
            let loads = is_loading(&fault) && begun.elapsed() < self.shared.settings.first_byte_timeout;
            tries += u32::from(!loads || tries == 0);
            self.recover(&fault, tries, out).await?;
        }
    }

    /// What is sent otherwise now, in words. A call that failed with a form that another call has left meanwhile teaches
    /// nothing new.
    fn learn(&self, fault: &Fault, body: &Value) -> Option<String> {
        let refused = matches!(fault.remedy(), Remedy::Fail(_));
        if refused && self.body() != *body {
            return Some("as another call has learnt".into());
        }
        self.shared.book.learn(&self.request.model, fault, body)
    }

    fn body(&self) -> Value {
        outgoing::body(&self.request, &self.shared.settings, &self.shared.book.get(&self.request.model))
    }

    /// Waits while the provider asked everybody to.
    async fn wait_at_gate(&self, out: &mut Out) -> Result<(), ModelError> {
        while let Some(wait) = self.shared.gate.wait(&self.request.model, Instant::now()) {
            if wait > self.shared.settings.max_wait {
                let message = format!("the provider asked to wait for {} s", wait.as_secs());
                return Err(ModelError::Exhausted { message, retry_after: Some(wait) });
            }
            let wait = wait + gate::spread(wait, gate::random_unit());
            emit(out, ModelEvent::RateLimited { until: (self.shared.clock)().plus(wait) }).await;
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    /// Waits as the fault asks for, or gives up.
    async fn recover(&self, fault: &Fault, tries: u32, out: &mut Out) -> Result<(), ModelError> {
        let settings = &self.shared.settings;
        let usual = gate::backoff(settings.backoff, tries, gate::random_unit());
        let (wait, parks) = match fault.remedy() {
            Remedy::Fail(error) => return Err(error),
            Remedy::Park(told) => (told.unwrap_or(usual), true),
            Remedy::Retry(told) => (told.unwrap_or(if is_loading(fault) { usual.min(LOADING_WAIT) } else { usual }), false),
        };
        match parks {
            true if wait > settings.max_wait => self.shared.gate.park_model(&self.request.model, Instant::now() + wait),
            true => self.shared.gate.park(Instant::now() + wait),
            false => {}
        }
        if tries >= settings.max_tries.max(1) || wait > settings.max_wait {
            return Err(fault.error());
        }
        if !parks {
            let until = (self.shared.clock)().plus(wait);
            emit(out, ModelEvent::Retrying { attempt: tries + 1, until, reason: one_line(&fault.to_string(), 200) }).await;
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    async fn attempt(&self, body: Value, out: &mut Out) -> Result<AssistantAnswer, Failure> {
        let mut answer = self.shared.link.open(body).await.map_err(|fault| Failure { fault, shown: Shown::Nothing })?;
        let mut gathered = Accumulator::new(&self.request);
        let mut shown = Shown::Nothing;
        let fault = self.gather(&mut answer, &mut gathered, &mut shown, out).await;
        if let Some(fault) = fault {
            return Err(Failure { fault, shown });
        }
        if let Some(field) = gathered.reasoning_field() {
            self.shared.book.set_reasoning_field(&self.request.model, field);
        }
        let (answer, events) = gathered.finish();
        for event in events {
            emit(out, event).await;
        }
        Ok(answer)
    }

    /// Takes the chunks in; gives the fault that ended them, if they did not end well.
    async fn gather(&self, answer: &mut Answer, gathered: &mut Accumulator, shown: &mut Shown, out: &mut Out) -> Option<Fault> {
        let mut pieces = Pieces::default();
        let told = self.take_chunks(answer, gathered, (&mut pieces, shown), out).await;
        if let Some(rest) = pieces.flush(Instant::now()) {
            emit(out, rest).await;
        }
        if told.is_some() {
            return told;
        }
        let ending = answer.take_ending();
        if gathered.is_finished() {
            return None;
        }
        match ending.fault {
            Some(fault) => Some(fault),
            None if ending.done && gathered.has_content() => None,
            None => Some(Fault::Connection("the connection closed before the answer was whole".into())),
        }
    }

    /// Until the stream ends, or the server tells an error in it.
    async fn take_chunks(
        &self,
        answer: &mut Answer,
        gathered: &mut Accumulator,
        (pieces, shown): (&mut Pieces, &mut Shown),
        out: &mut Out,
    ) -> Option<Fault> {
        loop {
            let tail = gathered.is_finished().then(|| Instant::now() + TAIL);
            let next = tokio::select! {
                biased;
                next = answer.chunks.next() => next?,
                () = at(pieces.due()) => {
                    if let Some(piece) = pieces.flush(Instant::now()) {
                        emit(out, piece).await;
                    }
                    continue;
                }
                () = at(tail) => return None,
            };
            let mut chunk = match next {
                Ok(chunk) => chunk,
                Err(text) => {
                    tracing::warn!(reason = %self.shared.link.redact(&text), "skipped an event of the provider");
                    continue;
                }
            };
            // An answer that is whole stays an answer, whatever its server says afterwards.
            let error = chunk.error.take().filter(|_| !gathered.is_finished());
            for event in gathered.push(chunk) {
                if matches!(event, ModelEvent::Text(_) | ModelEvent::Reasoning(_) | ModelEvent::CallStarted { .. }) {
                    *shown = Shown::Some;
                }
                for event in pieces.push(event, Instant::now()) {
                    emit(out, event).await;
                }
            }
            if let Some(mut body) = error {
                body.message = self.shared.link.redact(&body.message);
                return Some(Fault::InStream(Box::new(body)));
            }
        }
    }
}

/// At this moment; never without one.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

fn is_loading(fault: &Fault) -> bool {
    fault.status() == Some(503) && fault.body().is_some_and(|body| body.message.to_ascii_lowercase().contains("loading"))
}

/// A reader that is gone takes the call with it: nothing is left to do about it here.
async fn emit(out: &mut Out, event: ModelEvent) {
    let _ = out.send(Ok(event)).await;
}
