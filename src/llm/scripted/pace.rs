//! How an answer is streamed: in beats of several tokens, so that hundreds of members at once cost little.

use super::script::{Fault, FaultKind, Pace};
use crate::domain::conversation::AssistantAnswer;
use crate::llm::{ModelError, ModelEvent, ModelStream};
use futures::stream;
use std::collections::VecDeque;
use std::time::Duration;

/// Between two pieces of text: 20 a second look like a stream, and 200 members wake 4,000 times a second.
const BEAT: Duration = Duration::from_millis(50);
/// Arguments are not seen while they are written: no call takes longer than this.
const ARGUMENTS_MAX: Duration = Duration::from_millis(1_500);
/// Characters a token, as everywhere in signoff.
const TOKEN: usize = 4;

/// Tokens in a text, estimated.
pub(super) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(TOKEN) as u64
}

/// Something to send after a wait.
type Beat = (Duration, Result<ModelEvent, ModelError>);

/// A text that is cut into beats while it streams: the beats of a long one take many times its room.
#[derive(Debug)]
struct Run {
    text: String,
    /// Bytes that were sent.
    sent: usize,
    /// Characters a beat.
    size: usize,
    /// Tokens a second.
    rate: f64,
    /// Before the next beat.
    wait: Duration,
    event: fn(String) -> ModelEvent,
}

impl Run {
    fn next(&mut self) -> Option<Beat> {
        let rest = self.text.get(self.sent..).filter(|rest| !rest.is_empty())?;
        let end = rest.char_indices().nth(self.size).map_or(rest.len(), |(at, _)| at);
        let piece = rest[..end].to_owned();
        self.sent += end;
        let wait = std::mem::replace(&mut self.wait, duration_of(piece.chars().count(), self.rate));
        Some((wait, Ok((self.event)(piece))))
    }
}

/// What is still to be sent.
#[derive(Debug)]
enum Part {
    One(Beat),
    Text(Run),
}

/// Turns an answer into beats.
#[derive(Debug, Default)]
pub(super) struct Beats {
    parts: VecDeque<Part>,
    /// What the next beat waits for in addition.
    pending: Duration,
    /// Tokens a second; `None` = at once.
    rate: Option<f64>,
}

impl Beats {
    /// Begins with the pause before the first token. `speed` divides every wait; `None` means none at all.
    pub fn new(pace: Pace, speed: Option<f64>) -> Self {
        let rate = speed.filter(|_| pace.tokens_per_second > 0.0).map(|speed| pace.tokens_per_second * speed);
        let pending = speed.map_or(Duration::ZERO, |speed| divide(pace.pause, speed));
        Self { parts: VecDeque::new(), pending, rate }
    }

    fn push(&mut self, event: Result<ModelEvent, ModelError>) {
        let wait = std::mem::take(&mut self.pending);
        self.parts.push_back(Part::One((wait, event)));
    }

    /// Streams a text through `event`.
    pub fn text(&mut self, text: &str, event: fn(String) -> ModelEvent) {
        let chars = text.chars().count();
        if chars == 0 {
            return;
        }
        let Some(rate) = self.rate else { return self.push(Ok(event(text.to_owned()))) };
        let size = (rate * BEAT.as_secs_f64() * TOKEN as f64).ceil().clamp(1.0, 1e6) as usize;
        // What follows the text waits for its last beat.
        let last = duration_of((chars - 1) % size + 1, rate);
        let wait = std::mem::replace(&mut self.pending, last);
        self.parts.push_back(Part::Text(Run { text: text.to_owned(), sent: 0, size, rate, wait, event }));
    }

    /// Announces a call and takes the time to write its arguments.
    pub fn call(&mut self, name: &str, arguments: &str) {
        self.push(Ok(ModelEvent::CallStarted { name: name.to_owned() }));
        if let Some(rate) = self.rate {
            self.pending = seconds(tokens(arguments.len()) as f64 / rate).min(ARGUMENTS_MAX);
        }
    }

    /// Ends with the whole answer.
    pub fn finish(mut self, answer: AssistantAnswer) -> ModelStream {
        self.push(Ok(ModelEvent::Finished(answer)));
        self.stream()
    }

    /// Ends with an error.
    pub fn fail(mut self, error: ModelError) -> ModelStream {
        self.push(Err(error));
        self.stream()
    }

    fn next(&mut self) -> Option<Beat> {
        loop {
            match self.parts.pop_front()? {
                Part::One(beat) => return Some(beat),
                Part::Text(mut run) => {
                    if let Some(beat) = run.next() {
                        self.parts.push_front(Part::Text(run));
                        return Some(beat);
                    }
                }
            }
        }
    }

    fn stream(self) -> ModelStream {
        Box::pin(stream::unfold(self, |mut beats| async move {
            let (wait, event) = beats.next()?;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            Some((event, beats))
        }))
    }
}

/// How long so many characters take.
fn duration_of(chars: usize, rate: f64) -> Duration {
    seconds(chars as f64 / TOKEN as f64 / rate)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 86_400.0)).unwrap_or_default()
}

fn divide(wait: Duration, speed: f64) -> Duration {
    seconds(wait.as_secs_f64() / speed)
}

/// The error that a fault stands for.
pub(super) fn error(fault: &Fault) -> ModelError {
    let kind = fault.kind.unwrap_or(match fault.status {
        Some(401 | 403) => FaultKind::Unauthorized,
        Some(429) => FaultKind::Exhausted,
        Some(_) => FaultKind::Status,
        None => FaultKind::Connection,
    });
    let message = fault.message.clone().unwrap_or_else(|| "raised by the script".into());
    let retry_after = (!fault.wait.is_zero()).then_some(fault.wait);
    match kind {
        FaultKind::Unauthorized => ModelError::Unauthorized { status: fault.status.unwrap_or(401), message },
        FaultKind::Exhausted => ModelError::Exhausted { message, retry_after },
        FaultKind::Status => ModelError::Status { status: fault.status.unwrap_or(500), message },
        FaultKind::Timeout => ModelError::TimedOut { what: "the script sent nothing", after: fault.wait },
        FaultKind::Connection => ModelError::Connection(message),
        FaultKind::Overflow => ModelError::ContextOverflow { message },
        FaultKind::Malformed => ModelError::Malformed(message),
    }
}
