//! Timers, the delayed write of the team's file, and the poll where watching is not possible.

use super::Supervisor;
use crate::domain::Timestamp;
use crate::protocol::{Input, Timer};
use crate::runtime::clock;
use crate::store::Change;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Statuses change often; the team's file follows them this much later, all at once.
pub(super) const TEAM_DELAY: Duration = Duration::from_millis(200);

/// Timers by moment.
#[derive(Default)]
pub(super) struct Timers {
    by_time: BTreeSet<(Timestamp, Timer)>,
    at: HashMap<Timer, Timestamp>,
}

impl Timers {
    pub fn set(&mut self, timer: Timer, at: Timestamp) {
        self.cancel(&timer);
        self.at.insert(timer.clone(), at);
        self.by_time.insert((at, timer));
    }

    pub fn cancel(&mut self, timer: &Timer) {
        if let Some(at) = self.at.remove(timer) {
            self.by_time.remove(&(at, timer.clone()));
        }
    }

    pub fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    pub fn due(&mut self, now: Timestamp) -> Option<Timer> {
        let (at, timer) = self.by_time.first().filter(|(at, _)| *at <= now).cloned()?;
        self.by_time.remove(&(at, timer.clone()));
        self.at.remove(&timer);
        Some(timer)
    }
}

/// Sleeps until the first of two moments; for ever without one.
pub(super) async fn sleep_until(at: Option<Timestamp>, or: Option<Instant>) {
    let first = at.map(|at| at.since(clock::now())).into_iter().chain(or.map(|or| or.saturating_duration_since(Instant::now()))).min();
    match first {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

impl Supervisor {
    pub(super) fn next_wake(&self) -> Option<Timestamp> {
        [self.timers.next(), self.team_dirty, self.poll_at].into_iter().flatten().min()
    }

    pub(super) fn on_wake(&mut self) {
        let now = clock::now();
        while let Some(timer) = self.timers.due(now) {
            self.handle(&Input::Fired(timer), None);
        }
        if self.team_dirty.is_some_and(|at| at <= now) {
            self.flush_team();
            // What another process had written came in with it.
            self.settle();
        }
        self.try_again();
        if self.poll_at.is_some_and(|at| at <= now) {
            self.poll_at = (!self.watching).then(|| now.plus(Duration::from_secs(self.env.settings.poll_interval.max(1))));
            self.on_change(Change::Rescan);
        }
    }
}
