//! What the files did not take: said once, kept, and tried again, so that nothing is lost to a disk that was full for a
//! while.
//!
//! Kept are letters and the lines of the event log. Everything else follows from the state: `settle` finds it again.

use super::Supervisor;
use crate::domain::event::{EVENT_VERSION, NoticeLevel};
use crate::domain::{Envelope, EventRecord, Party, TeamEvent};
use crate::protocol::{Input, Outside};
use crate::runtime::clock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long nothing is tried after a failure.
pub(super) const PAUSE: Duration = Duration::from_millis(500);
/// The same words are not said again within this time.
const REPEAT: Duration = Duration::from_secs(20);
/// A run whose files take nothing for this long has failed.
const PATIENCE: Duration = Duration::from_secs(90);
/// Letters that wait; the oldest are given up beyond it.
const LETTERS_MAX: usize = 1_000;
/// Lines of the event log that wait; the oldest are given up beyond it.
const LINES_MAX: usize = 20_000;

/// The state of it.
#[derive(Default)]
pub(super) struct Trouble {
    letters: VecDeque<Arc<Envelope>>,
    /// When the state could not be settled for the first time since it last could.
    since: Option<Instant>,
    retry: Option<Instant>,
    said: VecDeque<(String, Instant)>,
    log_failed: Option<Instant>,
    given_up: bool,
}

impl Trouble {
    /// When it is tried again.
    pub fn next(&self) -> Option<Instant> {
        self.retry
    }

    fn try_later(&mut self) {
        self.retry.get_or_insert_with(|| Instant::now() + PAUSE);
    }

    fn is_news(&mut self, text: &str) -> bool {
        let now = Instant::now();
        self.said.retain(|(_, at)| now.duration_since(*at) < REPEAT);
        let news = !self.said.iter().any(|(said, _)| said == text);
        if news {
            self.said.push_back((text.to_owned(), now));
        }
        news
    }
}

impl Supervisor {
    /// Says what the store answered; the same again only after a while.
    pub(super) fn notice_store(&mut self, error: &str) {
        let text = crate::domain::text::one_line(error, 500);
        if self.trouble.is_news(&text) {
            tracing::error!(text, "store");
            self.record(TeamEvent::Noticed { level: NoticeLevel::Error, text, name: None });
        }
    }

    /// A letter that could not be delivered now is delivered later.
    pub(super) fn keep_letter(&mut self, letter: Arc<Envelope>) {
        self.trouble.letters.push_back(letter);
        if self.trouble.letters.len() > LETTERS_MAX {
            self.trouble.letters.pop_front();
            self.notice_store("letters that could not be written were given up: the disk takes nothing");
        }
        self.trouble.try_later();
    }

    /// The state was settled, or could not be.
    pub(super) fn settled(&mut self, failed: bool) {
        if !failed {
            (self.trouble.since, self.trouble.given_up) = (None, false);
            return;
        }
        let since = *self.trouble.since.get_or_insert_with(Instant::now);
        self.trouble.try_later();
        if since.elapsed() > PATIENCE && !std::mem::replace(&mut self.trouble.given_up, true) && !self.core.has_ended() {
            let reason = format!("the files of the team took nothing for {} s: see what the notices say, then go on", PATIENCE.as_secs());
            self.emit(TeamEvent::Finished { reason, ok: false });
        }
    }

    /// Tries again what failed.
    pub(super) fn try_again(&mut self) {
        if self.trouble.retry.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.trouble.retry = None;
        while let Some(letter) = self.trouble.letters.pop_front() {
            if let Err(error) = self.deliver(&letter) {
                self.notice_store(&error.to_string());
                self.trouble.letters.push_front(letter);
                self.trouble.try_later();
                break;
            }
            self.delivered_late(letter);
        }
        self.settle();
    }

    fn delivered_late(&mut self, letter: Arc<Envelope>) {
        match Party::read(&letter.to) {
            Party::Member(name) => self.handle(&Input::Outside(Outside::Mail(name, vec![letter])), None),
            Party::Human | Party::System | Party::Outside(_) => self.emit(TeamEvent::MessageSent { message: letter }),
        }
    }

    /// Writes what was recorded since the last time, in one append. What the disk does not take stays for the next time.
    pub(super) fn write_log(&mut self) {
        let waits = self.trouble.log_failed.is_some_and(|at| at.elapsed() < PAUSE);
        if self.log.is_empty() {
            return;
        }
        if waits {
            return self.trouble.try_later();
        }
        match self.env.store.append_events(&self.log) {
            Ok(_) => {
                self.log.clear();
                self.trouble.log_failed = None;
            }
            Err(error) => {
                self.trouble.log_failed = Some(Instant::now());
                self.trouble.try_later();
                self.drop_surplus_lines();
                self.notice_store(&format!("the event log cannot be written, it is tried again: {error}"));
            }
        }
    }

    /// The last chance: everything that waits is written now, or never by this process.
    pub(super) fn write_rest(&mut self) {
        (self.trouble.retry, self.trouble.log_failed) = (None, None);
        self.trouble.letters.retain(|letter| match self.env.store.deliver(letter) {
            Ok(_) => false,
            Err(error) => {
                tracing::error!(%error, "a letter could not be written before the end");
                true
            }
        });
        self.flush_team();
        self.write_log();
    }

    fn drop_surplus_lines(&mut self) {
        let surplus = self.log.len().saturating_sub(LINES_MAX);
        if surplus == 0 {
            return;
        }
        self.log.drain(..surplus);
        let text = format!("{surplus} lines of the event log were given up: the disk took nothing for too long");
        let event = TeamEvent::Noticed { level: NoticeLevel::Error, text, name: None };
        self.log.insert(0, EventRecord { v: EVENT_VERSION, seq: self.seq, at: clock::now(), event });
    }
}
