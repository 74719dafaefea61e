//! Logs of typed lines: events and transcripts. A line that does not parse is reported and passed over.

use super::{Fault, TeamStore, decode};
use crate::domain::{EventRecord, MemberName, TranscriptEntry};
use crate::store::{StoreError, Topic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// How much of a transcript is read in one go.
const PAGE: usize = 1024 * 1024;

/// Typed lines after an offset.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next: u64,
    pub(super) faults: Vec<Fault>,
}

/// Events after an offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// The events, oldest first.
    pub records: Vec<EventRecord>,
    /// The offset after them, in bytes.
    pub next: u64,
    /// Lines that are no events; `next` is after them, too.
    pub faults: Vec<Fault>,
}

impl TeamStore {
    /// Appends to the event log; returns its length, in bytes.
    pub fn append_events(&self, events: &[EventRecord]) -> Result<u64, StoreError> {
        self.write_lines(&Topic::Events, events)
    }

    /// Events after `offset`, at most about `max_bytes` of them.
    pub fn events_after(&self, offset: u64, max_bytes: usize) -> Result<Events, StoreError> {
        let page = self.read_lines(&Topic::Events, offset, max_bytes)?;
        Ok(Events { records: page.items, next: page.next, faults: page.faults })
    }

    /// The latest events, about `max_bytes` of them: enough to find the last `seq` of a long log.
    pub fn recent_events(&self, max_bytes: usize) -> Result<Events, StoreError> {
        let end = self.backend.end(&Topic::Events)?;
        let from = end.saturating_sub(max_bytes as u64);
        let mut recent = self.events_after(from, max_bytes)?;
        if from > 0 && !recent.faults.is_empty() {
            // The first line was most likely cut by starting in its middle.
            recent.faults.remove(0);
        }
        Ok(recent)
    }

    /// Appends to a member's transcript in one write; returns its length, in bytes.
    pub fn append_transcript(&self, name: &MemberName, entries: &[TranscriptEntry]) -> Result<u64, StoreError> {
        self.write_lines(&Topic::Transcript(name.clone()), entries)
    }

    /// A member's whole transcript, with what is wrong with the lines that are missing in it.
    pub fn transcript(&self, name: &MemberName) -> Result<(Vec<TranscriptEntry>, Vec<Fault>), StoreError> {
        let topic = Topic::Transcript(name.clone());
        let (mut entries, mut faults, mut offset) = (Vec::new(), Vec::new(), 0);
        loop {
            let page = self.read_lines(&topic, offset, PAGE)?;
            entries.extend(page.items);
            faults.extend(page.faults);
            if page.next <= offset {
                return Ok((entries, faults));
            }
            offset = page.next;
        }
    }

    pub(in crate::store) fn write_lines<T: Serialize>(&self, topic: &Topic, items: &[T]) -> Result<u64, StoreError> {
        let failed = |error: serde_json::Error| StoreError::Io {
            action: "encode a line of",
            path: PathBuf::from(topic.to_string()),
            source: error.into(),
        };
        let lines: Result<Vec<_>, _> = items.iter().map(serde_json::to_vec).collect();
        self.backend.append(topic, &lines.map_err(failed)?)
    }

    pub(super) fn read_lines<T: DeserializeOwned>(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Page<T>, StoreError> {
        let lines = self.backend.read_after(topic, offset, max_bytes)?;
        let mut page = Page { items: Vec::with_capacity(lines.lines.len()), next: lines.next, faults: Vec::new() };
        if lines.next < offset {
            page.faults.push(Fault::new(topic, format_args!("is shorter than it was ({offset} bytes): read again from its beginning")));
        }
        for line in &lines.lines {
            match decode(line) {
                Ok(item) => page.items.push(item),
                Err(reason) => {
                    let head = String::from_utf8_lossy(&line[..line.len().min(80)]);
                    let reason = format!("a line before byte {} does not parse ({reason}) and is passed over: {head}", lines.next);
                    page.faults.push(Fault::new(topic, reason));
                }
            }
        }
        Ok(page)
    }
}
