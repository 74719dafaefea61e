//! The event log so far, in bounded memory.

use crate::domain::event::EVENT_VERSION;
use crate::domain::{EventRecord, MemberName, TeamEvent, Timestamp, TokenUsage};
use std::collections::{BTreeMap, VecDeque};

/// Events of the past that are told one by one.
const PAST_MAX: usize = 5_000;

/// The log so far: the latest events, and of those before them the spending and what opened the team.
#[derive(Default)]
pub(super) struct Past {
    latest: VecDeque<EventRecord>,
    opened: Option<EventRecord>,
    spent: BTreeMap<(MemberName, String, Priced), Spent>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Priced {
    Known,
    Unknown,
}

struct Spent {
    usage: TokenUsage,
    cost: f64,
    at: Timestamp,
    seq: u64,
    context: u64,
    window: u64,
}

impl Past {
    /// Takes the next event in.
    pub(super) fn add(&mut self, record: EventRecord) {
        // How an earlier run ended says nothing about this one.
        if matches!(record.event, TeamEvent::Finished { .. }) {
            return;
        }
        self.latest.push_back(record);
        if self.latest.len() > PAST_MAX
            && let Some(old) = self.latest.pop_front()
        {
            self.forget(old);
        }
    }

    fn forget(&mut self, record: EventRecord) {
        let (at, seq) = (record.at, record.seq);
        if matches!(record.event, TeamEvent::Opened { .. }) {
            self.opened = Some(record);
        } else if let TeamEvent::UsageAdded { name, model, usage, cost, task: _, context, window } = record.event {
            let priced = if cost.is_some() { Priced::Known } else { Priced::Unknown };
            let empty = || Spent { usage: TokenUsage::default(), cost: 0.0, at, seq, context, window };
            let spent = self.spent.entry((name, model, priced)).or_insert_with(empty);
            spent.usage += usage;
            spent.cost += cost.unwrap_or(0.0);
            (spent.at, spent.seq, spent.context, spent.window) = (at, seq, context, window);
        }
    }

    /// In the order in which they are to be told.
    pub(super) fn into_events(self) -> Vec<EventRecord> {
        let spent = self.spent.into_iter().map(|((name, model, priced), spent)| {
            let cost = (priced == Priced::Known).then_some(spent.cost);
            let Spent { usage, at, seq, context, window, .. } = spent;
            let event = TeamEvent::UsageAdded { name, model, usage, cost, task: None, context, window };
            EventRecord { v: EVENT_VERSION, seq, at, event }
        });
        self.opened.into_iter().chain(spent).chain(self.latest).collect()
    }
}
