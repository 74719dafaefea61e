//! The flight recorder and the screens that follow it.

use super::Supervisor;
use crate::domain::event::{EVENT_VERSION, TaskChange};
use crate::domain::{Envelope, EventRecord, Party, TeamEvent};
use crate::runtime::clock;
use crate::store::Events;
use std::sync::Arc;
use tokio::sync::mpsc;

/// History that a new screen gets, in bytes of the log's end. Enough for hours; bounded, so that a start stays quick.
const HISTORY_MAX: u64 = 8 << 20;
/// Notices of this process that a new screen gets.
const NOTICES_MAX: usize = 50;
/// Mail that a new screen gets of one inbox, in bytes of its end.
const MAIL_MAX: u64 = 64 << 10;
/// Bytes read from the log at once.
const READ: usize = 1 << 20;

impl Supervisor {
    /// Logs and shows a fact that changes no state of the core.
    pub(super) fn record(&mut self, event: TeamEvent) {
        self.seq += 1;
        let record = EventRecord { v: EVENT_VERSION, seq: self.seq, at: clock::now(), event };
        let shared = Arc::new(record.clone());
        self.subscribers.retain(|tx| tx.send(shared.clone()).is_ok());
        if matches!(record.event, TeamEvent::Noticed { .. }) {
            if self.notices.len() >= NOTICES_MAX {
                self.notices.pop_front();
            }
            self.notices.push_back(shared);
        }
        self.log.push(record);
    }

    /// The state as events: what a screen that starts now has to know.
    pub(super) fn snapshot(&self) -> Vec<TeamEvent> {
        let mut events = vec![self.opened.1.clone(), TeamEvent::ProtocolChanged { name: self.core.protocol().to_owned() }];
        for member in self.core.members() {
            events.push(TeamEvent::MemberChanged { member: member.clone(), why: None });
            events.push(TeamEvent::ActivityChanged { name: member.name.clone(), activity: self.core.activity(&member.name) });
        }
        events.extend(self.core.board().iter().map(|task| TeamEvent::TaskChanged {
            task: task.clone(),
            change: TaskChange::Loaded,
            by: Party::System,
        }));
        let mut requests: Vec<_> = self.core.requests().cloned().collect();
        requests.sort_by_key(|r| (r.created, r.id.clone()));
        events.extend(self.shown());
        events.extend(requests.into_iter().map(|request| TeamEvent::RequestChanged { request }));
        events
    }

    /// The state first, then what the log tells of the time before, the notices of this process, and then everything that comes.
    pub(super) fn subscribe(&mut self, tx: mpsc::UnboundedSender<Arc<EventRecord>>) {
        self.write_log();
        let at = clock::now();
        let known = self.seq;
        for event in self.snapshot() {
            // The one fact of the snapshot that has a moment of its own: what is older belongs to earlier runs.
            let at = if matches!(event, TeamEvent::Opened { .. }) { self.opened.0 } else { at };
            if tx.send(Arc::new(EventRecord { v: EVENT_VERSION, seq: known, at, event })).is_err() {
                return;
            }
        }
        for record in self.mail().into_iter().chain(self.history()) {
            if tx.send(record).is_err() {
                return;
            }
        }
        // What this process had to say before the screen was there: damaged files, interrupted members, which model.
        for notice in &self.notices {
            if tx.send(notice.clone()).is_err() {
                return;
            }
        }
        self.subscribers.push(tx);
    }

    /// What lies in the inboxes, oldest first; of a long one its end.
    fn mail(&self) -> Vec<Arc<EventRecord>> {
        let names = self.core.members().iter().map(|m| &m.name);
        let inboxes = names.filter_map(|name| {
            let from = self.env.store.inbox_end(name).ok()?.saturating_sub(MAIL_MAX);
            self.env.store.mail_after(name, from, READ).ok().map(|mail| (name.as_str(), mail.messages))
        });
        let human_from = self.env.store.human_inbox_end().unwrap_or(0).saturating_sub(MAIL_MAX);
        let human = self.env.store.human_mail_after(human_from, READ).map(|mail| mail.messages).unwrap_or_default();
        let mut all: Vec<Envelope> = inboxes
            .chain([("human", human)])
            .flat_map(|(to, mail)| mail.into_iter().map(|m| Envelope { to: to.to_owned(), ..m }))
            .collect();
        all.sort_by_key(|message| message.at);
        let record = |message: Envelope| EventRecord {
            v: EVENT_VERSION,
            seq: self.seq,
            at: message.at,
            event: TeamEvent::MessageSent { message: Arc::new(message) },
        };
        all.into_iter().map(record).map(Arc::new).collect()
    }

    fn history(&self) -> Vec<Arc<EventRecord>> {
        let mut from = self.log_start;
        let mut out = Vec::new();
        loop {
            match self.env.store.events_after(from, READ) {
                Ok(Events { records, next, .. }) if next != from => {
                    // What was noticed since this process runs follows by itself; older notices hold no longer.
                    out.extend(records.into_iter().filter(|record| is_history(&record.event)).map(Arc::new));
                    from = next;
                }
                Ok(_) => return out,
                Err(error) => {
                    tracing::error!(%error, "the event log cannot be read");
                    return out;
                }
            }
        }
    }
}

/// Where the history of a log of this length begins.
pub(super) fn history_start(length: u64) -> u64 {
    length.saturating_sub(HISTORY_MAX)
}

/// Facts that feed panes; those that carry state are in the snapshot, and an old one must not overwrite it.
fn is_history(event: &TeamEvent) -> bool {
    match event {
        TeamEvent::TurnStarted { .. }
        | TeamEvent::TurnEnded { .. }
        | TeamEvent::AnswerFinished { .. }
        | TeamEvent::ToolStarted { .. }
        | TeamEvent::ToolFinished { .. }
        | TeamEvent::UsageAdded { .. }
        | TeamEvent::Compacted { .. }
        | TeamEvent::Denied { .. }
        | TeamEvent::Traced { .. } => true,
        TeamEvent::Opened { .. }
        | TeamEvent::MemberChanged { .. }
        | TeamEvent::MemberRemoved { .. }
        | TeamEvent::ActivityChanged { .. }
        // The inboxes themselves tell it, what other programs left in them included.
        | TeamEvent::MessageSent { .. }
        | TeamEvent::TaskChanged { .. }
        | TeamEvent::TaskRemoved { .. }
        | TeamEvent::RequestChanged { .. }
        | TeamEvent::Noticed { .. }
        | TeamEvent::ProtocolChanged { .. }
        | TeamEvent::ProtocolShown { .. }
        | TeamEvent::RunnerGone { .. }
        | TeamEvent::Finished { .. } => false,
    }
}
