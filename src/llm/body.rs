//! From a response's bytes to clean server-sent events, with the watch on silence.
//!
//! What comes is recognised by its first bytes, not by its content type: servers answer with one JSON document where a
//! stream was asked for, with HTML pages under status 200, and with streams labelled as plain text.

use super::fault::{ErrorBody, Fault, without_tags};
use super::network::Pulse;
use super::sse::{Decoder, Payload};
use crate::domain::text::one_line;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::Value;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// Longest document that is taken in place of a stream, in bytes.
const DOCUMENT_MAX: usize = 32 << 20;
/// How long the end of the body may take after `[DONE]`, so that the connection can be used again.
const DRAIN: Duration = Duration::from_millis(20);

/// How a stream ended: known here, and lost on the way through the client library.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// `[DONE]` came.
    pub(super) done: bool,
    /// The connection broke or fell silent.
    pub(super) fault: Option<Fault>,
}

pub(super) type SharedEnding = Arc<Mutex<Ending>>;

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The first byte must come before.
    pub(super) first_by: Instant,
    /// The time that was given until the first byte.
    pub(super) first: Duration,
    /// Longest silence after it.
    pub(super) idle: Duration,
}

impl Patience {
    pub(super) fn first_fault(&self) -> Fault {
        Fault::TimedOut { what: "the provider sent nothing", after: self.first }
    }
}

/// Clean events, each with its blank line, the last one `[DONE]` where the server sent it.
pub(super) type CleanBody = BoxStream<'static, Result<Vec<u8>, std::io::Error>>;

/// What a body turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Events,
    Document,
    Page,
    Other,
}

/// Waits for the first bytes of an answer with a good status and makes events of it. `pulse` is beaten as they come.
pub(super) async fn clean(response: reqwest::Response, patience: Patience, ending: SharedEnding, pulse: Pulse) -> Result<CleanBody, Fault> {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let labelled = kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("event-stream"));
    let mut source = Source::new(response, patience, pulse);
    let mut head = Vec::new();
    let kind = loop {
        let Some(bytes) = source.next().await? else {
            break sniff(&head, labelled).unwrap_or(Kind::Other);
        };
        head.extend_from_slice(&bytes);
        if let Some(kind) = sniff(&head, labelled) {
            break kind;
        }
    };
    match kind {
        Kind::Events => Ok(events(source, head, ending)),
        Kind::Document => document(&rest(source, head).await?, &ending),
        Kind::Page => {
            let words = one_line(&without_tags(&String::from_utf8_lossy(&head)), 120);
            Err(Fault::Malformed(format!("it is a web page ({words}); is base_url right, and does it need /v1?")))
        }
        Kind::Other if without_mark(&head).trim_ascii().is_empty() => {
            Err(Fault::Connection("the connection closed before the answer began".into()))
        }
        Kind::Other => Err(Fault::Malformed(format!("it begins {:?}", one_line(&String::from_utf8_lossy(&head), 120)))),
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn sniff(head: &[u8], labelled: bool) -> Option<Kind> {
    let text = without_mark(head).trim_ascii_start();
    let first = *text.first()?;
    match first {
        b'{' | b'[' => return Some(Kind::Document),
        b'<' if !labelled => return Some(Kind::Page),
        0xef if text.len() < 3 => return None,
        _ if labelled => return Some(Kind::Events),
        _ => {}
    }
    let fields: [&[u8]; 5] = [b"data:", b"event:", b":", b"id:", b"retry:"];
    if fields.iter().any(|field| text.starts_with(field)) {
        return Some(Kind::Events);
    }
    let undecided = fields.iter().any(|field| field.starts_with(text));
    (!undecided).then_some(Kind::Other)
}

struct Source {
    response: reqwest::Response,
    patience: Patience,
    pulse: Pulse,
    /// Nothing may come for so long. Set again only when it goes off: each setting costs more than reading a token.
    alarm: Pin<Box<Sleep>>,
    /// When the last bytes came.
    last: Option<Instant>,
}

impl Source {
    fn new(response: reqwest::Response, patience: Patience, pulse: Pulse) -> Self {
        Self { response, patience, pulse, alarm: Box::pin(sleep_until(patience.first_by)), last: None }
    }

    /// More bytes; `None` at the end of the body. Cancel safe.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let chunk = loop {
            tokio::select! {
                biased;
                chunk = self.response.chunk() => break chunk,
                () = self.alarm.as_mut() => self.check_patience()?,
            }
        };
        let now = Instant::now();
        if self.last.replace(now).is_none() {
            self.alarm.as_mut().reset(now + self.patience.idle);
        }
        self.pulse.beat();
        match chunk {
            Ok(bytes) => Ok(bytes.map(|bytes| bytes.to_vec())),
            Err(error) => Err(Fault::Connection(format!("the answer was cut off: {}", super::http::reason(&error)))),
        }
    }

    fn check_patience(&mut self) -> Result<(), Fault> {
        let Some(last) = self.last else { return Err(self.patience.first_fault()) };
        let until = last + self.patience.idle;
        if until <= Instant::now() {
            return Err(Fault::TimedOut { what: "the provider went silent in the middle of the answer", after: self.patience.idle });
        }
        self.alarm.as_mut().reset(until);
        Ok(())
    }
}

async fn rest(mut source: Source, mut head: Vec<u8>) -> Result<Vec<u8>, Fault> {
    while let Some(bytes) = source.next().await? {
        head.extend_from_slice(&bytes);
        if head.len() > DOCUMENT_MAX {
            return Err(Fault::Malformed(format!("it is one document of more than {} MB", DOCUMENT_MAX >> 20)));
        }
    }
    Ok(head)
}

/// One document, or several one after the other, as events.
fn document(bytes: &[u8], ending: &SharedEnding) -> Result<CleanBody, Fault> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(without_mark(bytes)).into_iter::<Value>().collect();
    let values = values.map_err(|e| match e.is_eof() {
        true => Fault::Connection("the answer was cut off in the middle of a document".into()),
        false => Fault::Malformed(format!("it is a document that is no JSON: {e}")),
    })?;
    let is_answer = |value: &Value| value.get("choices").is_some_and(Value::is_array) || value.get("error").is_some_and(|e| !e.is_null());
    if let Some(odd) = values.iter().find(|value| !is_answer(value)) {
        let said = ErrorBody::from_value(odd).message;
        let said = if said.is_empty() { one_line(&odd.to_string(), 120) } else { said };
        return Err(Fault::Malformed(format!("it is a document without an answer: {said}")));
    }
    let mut out = String::new();
    values.iter().for_each(|value| out.push_str(&format!("data: {value}\n\n")));
    out.push_str("data: [DONE]\n\n");
    ending.lock().unwrap_or_else(PoisonError::into_inner).done = true;
    Ok(stream::once(async { Ok(out.into_bytes()) }).boxed())
}

struct Cleaner {
    source: Source,
    decoder: Decoder,
    head: Option<Vec<u8>>,
    ending: SharedEnding,
    over: bool,
}

fn events(source: Source, head: Vec<u8>, ending: SharedEnding) -> CleanBody {
    let cleaner = Cleaner { source, decoder: Decoder::default(), head: Some(head), ending, over: false };
    stream::unfold(cleaner, |mut cleaner| async {
        let bytes = cleaner.next().await?;
        Some((Ok(bytes), cleaner))
    })
    .boxed()
}

impl Cleaner {
    async fn next(&mut self) -> Option<Vec<u8>> {
        while !self.over {
            let mut found = Vec::new();
            let bytes = match self.head.take() {
                Some(head) => Ok(Some(head)),
                None => self.source.next().await,
            };
            match bytes {
                Ok(Some(bytes)) => self.decoder.push(&bytes, &mut found),
                Ok(None) => {
                    self.decoder.finish(&mut found);
                    self.over = true;
                }
                Err(fault) => {
                    self.note(|ending| ending.fault = Some(fault));
                    self.over = true;
                }
            }
            let clean = self.write(found);
            if self.over && self.ending.lock().unwrap_or_else(PoisonError::into_inner).done {
                let _ = timeout(DRAIN, self.source.response.chunk()).await;
            }
            if !clean.is_empty() {
                return Some(clean);
            }
        }
        None
    }

    fn write(&mut self, found: Vec<Payload>) -> Vec<u8> {
        let mut clean = Vec::new();
        for payload in found {
            match payload {
                Payload::Json(text) => clean.extend_from_slice(format!("data: {text}\n\n").as_bytes()),
                Payload::Done => {
                    clean.extend_from_slice(b"data: [DONE]\n\n");
                    self.note(|ending| ending.done = true);
                    self.over = true;
                    break;
                }
                Payload::Unreadable(bytes) => tracing::warn!(bytes, "skipped an event of the provider that is no JSON"),
            }
        }
        clean
    }

    fn note(&self, change: impl FnOnce(&mut Ending)) {
        change(&mut self.ending.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
