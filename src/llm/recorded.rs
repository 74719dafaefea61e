//! A recorded event stream, read without a server: the same decoder, chunks and accumulator that a live call goes
//! through. For whoever holds the bytes: tests and fuzzing.

use super::accumulate::Accumulator;
use super::sse::{Decoder, Payload};
use super::wire::Chunk;
use super::{ChatRequest, ModelEvent};
use crate::domain::conversation::AssistantAnswer;

/// What a recording holds.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The answer as far as it came.
    pub answer: AssistantAnswer,
    /// What was to be shown on the way.
    pub events: Vec<ModelEvent>,
    /// Whether the stream said that it was done.
    pub done: bool,
    /// Events that were no JSON.
    pub unreadable: usize,
}

/// Reads `bytes` as the answer to `request`, in pieces of at most `piece` bytes (at least 1), as a network may cut them.
pub fn read(bytes: &[u8], piece: usize, request: &ChatRequest) -> Recording {
    let (mut decoder, mut payloads) = (Decoder::default(), Vec::new());
    bytes.chunks(piece.max(1)).for_each(|piece| decoder.push(piece, &mut payloads));
    decoder.finish(&mut payloads);
    let (mut gathered, mut recording) = (Accumulator::new(request), Recording::default());
    for payload in payloads {
        match payload {
            Payload::Done => recording.done = true,
            Payload::Unreadable(_) => recording.unreadable += 1,
            Payload::Json(text) => match serde_json::from_str(&text) {
                Ok(value) => recording.events.extend(gathered.push(Chunk::from_value(&value))),
                Err(_) => recording.unreadable += 1,
            },
        }
    }
    let (answer, rest) = gathered.finish();
    recording.events.extend(rest);
    recording.answer = answer;
    recording
}
