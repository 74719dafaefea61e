//! The store: one contract over both backends, files of others, races, watching, import.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may fail and report like tests")]

mod contract;
mod files;
mod import;
mod race;
mod resume;
mod team;
mod watch;

use signoff::domain::{Envelope, MemberName, MessageId, MessageKind, Party, RequestId, TaskId, Timestamp};
use signoff::store::{Durability, FileBackend, Key, TeamStore, Topic};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub fn name(text: &str) -> MemberName {
    MemberName::parse(text).unwrap()
}

pub fn task(number: u64) -> Key {
    Key::Task(TaskId(number))
}

pub fn request(text: &str) -> RequestId {
    RequestId::parse(text).unwrap()
}

pub fn inbox(text: &str) -> Topic {
    Topic::Inbox(name(text))
}

pub fn files(workspace: &Path) -> TeamStore {
    TeamStore::new(Arc::new(FileBackend::open(workspace, Durability::Buffered).unwrap()))
}

pub fn message(id: &str, to: &str, content: &str) -> Envelope {
    Envelope::new(MessageId(id.into()), MessageKind::Message, Party::lead(), to, content, Timestamp(1_760_000_000_123))
}

/// Waits until `done` says so; fails after `limit`.
#[expect(clippy::disallowed_methods, reason = "a test waits on the wall clock")]
pub fn until(limit: Duration, what: &str, mut done: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
    start.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "a test measures")]
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
