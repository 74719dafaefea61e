//! Timers that fired.

use super::super::effect::{Effect, Phase, Timer};
use super::TeamCore;
use crate::domain::{MemberName, Timestamp};
use std::time::Duration;

impl TeamCore {
    pub(super) fn fired(&self, timer: &Timer, now: Timestamp) -> Vec<Effect> {
        match timer {
            Timer::Idle(name, generation) if self.member(name).is_some_and(|m| m.generation == *generation) => {
                self.idled_out(name, timer, now)
            }
            Timer::Kill(name, generation) if self.member(name).is_some_and(|m| m.generation == *generation) && self.is_live(name) => {
                vec![Effect::Abort { name: name.clone() }]
            }
            Timer::Idle(..) | Timer::Kill(..) => Vec::new(),
            Timer::Shutdown(id) => {
                self.requests.get(id).filter(|r| r.is_pending()).map(|r| self.shutdown_expired(r, now)).unwrap_or_default()
            }
            Timer::WallTime(None) => {
                self.stop_for_budget(&format!("the team's budget is used up: {} s of wall time", self.settings.budget.seconds), now)
            }
            Timer::WallTime(Some(name)) if !self.is_live(name) => Vec::new(),
            Timer::WallTime(Some(name)) => self.kill(name, &format!("budget: {} s of wall time", self.settings.member_budget.seconds), now),
        }
    }

    /// A teammate with nothing to do shuts down, unless something may still come to it: a verdict, a task that somebody
    /// else's work makes ready, a word of the lead, its turn where a protocol chooses who acts. (Origin programs count from
    /// the member's own last work; there a long plan of the lead, or a plan that waits for the person, costs the whole team.)
    fn idled_out(&self, name: &MemberName, timer: &Timer, now: Timestamp) -> Vec<Effect> {
        let rests = |seat: &super::Seat| matches!(seat.phase, Phase::Resting { .. }) && seat.ending.is_none();
        if !self.seat(name).is_some_and(rests) {
            return Vec::new();
        }
        let waits = self.waits_for_verdict(name) || self.board.in_progress_of(name).next().is_some();
        if waits || self.driven || !self.pending.is_empty() || self.anybody_busy() {
            return vec![Effect::SetTimer { timer: timer.clone(), at: now.plus(Duration::from_secs(self.settings.idle_timeout)) }];
        }
        self.end_member(name, &format!("nothing to do for {} s", self.settings.idle_timeout), now)
    }
}
