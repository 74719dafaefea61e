//! From a response's bytes to clean server-sent events, with the watch on silence.
//!
//! What comes is recognised by its first bytes, not by its content type: servers answer with one JSON document where a
//! stream was asked for, with HTML pages under status 200, and with streams labelled as plain text.

use super::fault::{ErrorBody, Fault, without_tags};
use super::sse::{Decoder, Payload};
use crate::domain::text::one_line;
use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// Longest document that is taken in place of a stream, in bytes.
const DOCUMENT_MAX: usize = 32 << 20;
/// Between two looks at a stream that runs. What came meanwhile is taken together: shorter than a frame, so nobody sees
/// it, and a fast stream wakes everybody on its way 40 times a second instead of once a token.
const GATHER: Duration = Duration::from_millis(25);
/// What has arrived already is handed over within this time.
const AT_HAND: Duration = Duration::from_millis(1);
/// Bytes that are taken together at most.
const GATHER_MAX: usize = 64 << 10;
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

/// Waits for the first bytes of an answer with a good status and makes events of it.
pub(super) async fn clean(response: reqwest::Response, patience: Patience, ending: SharedEnding) -> Result<CleanBody, Fault> {
    let kind = response.headers().get(reqwest::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let labelled = kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("event-stream"));
    let mut source = Source { response, patience, begun: false, look_at: None, held: None };
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

/// More bytes; `None` at the end of the body.
type Piece = Result<Option<Vec<u8>>, Fault>;

struct Source {
    response: reqwest::Response,
    patience: Patience,
    begun: bool,
    look_at: Option<Instant>,
    /// What followed the bytes that were handed out last: the end, or a fault.
    held: Option<Piece>,
}

impl Source {
    /// What came since the last time, the first of it at once.
    async fn next(&mut self) -> Piece {
        if let Some(held) = self.held.take() {
            return held;
        }
        if let Some(moment) = self.look_at {
            sleep_until(moment).await;
        }
        let Some(mut bytes) = self.piece().await? else { return Ok(None) };
        while bytes.len() < GATHER_MAX
            && let Ok(more) = timeout(AT_HAND, self.piece()).await
        {
            match more {
                Ok(Some(more)) => bytes.extend_from_slice(&more),
                last => {
                    self.held = Some(last);
                    break;
                }
            }
        }
        self.look_at = Some(Instant::now() + GATHER);
        Ok(Some(bytes))
    }

    /// The next piece as the server sent it. Cancel safe.
    async fn piece(&mut self) -> Piece {
        let idle = Fault::TimedOut { what: "the provider went silent in the middle of the answer", after: self.patience.idle };
        let chunk = if self.begun {
            timeout(self.patience.idle, self.response.chunk()).await.map_err(|_| idle)?
        } else {
            timeout_at(self.patience.first_by, self.response.chunk()).await.map_err(|_| self.patience.first_fault())?
        };
        self.begun = true;
        match chunk {
            Ok(bytes) => Ok(bytes.map(|bytes| bytes.to_vec())),
            Err(error) => Err(Fault::Connection(format!("the answer was cut off: {}", super::http::reason(&error)))),
        }
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
