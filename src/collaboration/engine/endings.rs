//! How a run ends: by a rule, by its bound, by the person; never before the last one at work is done.

use super::{Directive, Engine, Phase};
use crate::collaboration::{CollaborationError, Ending, SeatState, Step};

impl Engine {
    pub(super) fn end(&mut self, ending: Ending) {
        if self.ending.is_none() {
            self.ending = Some(ending);
            self.question = None;
        }
    }

    /// Ends the run once nobody is at work any more.
    pub(super) fn settle(&mut self) {
        if self.phase != Phase::Running || self.team.busy() > 0 {
            return;
        }
        let Some(ending) = self.ending.take() else { return };
        let answer = self.protocol.on_finished(&self.team, &ending);
        let rule = if ending.ok { "end" } else { "end, goal not reached" };
        self.trace(None, rule, &ending.reason);
        self.phase = Phase::Ended;
        self.question = None;
        self.out.ended = Some(Directive::Ended { reason: ending.reason, ok: ending.ok, answer });
    }

    pub(super) fn stop(&mut self) -> Result<(), CollaborationError> {
        self.running()?;
        self.children.stop(self.now);
        for at in 0..self.team.seats.len() {
            if self.team.seats[at].is_busy() {
                self.team.set_state(at, SeatState::Free);
            }
        }
        self.ending = None;
        // Without a rule there is nothing that could be left undone: being told so is the regular end.
        let ok = !self.protocol.is_driven();
        self.end(Ending::new("stopped", ok));
        Ok(())
    }

    pub(super) fn step_or_end(&mut self, step: Step) -> Step {
        let bound = self.max_turns();
        match step {
            Step::Route(_) | Step::Supervisor if self.team.first().is_none() => Step::End(Ending::new("no member is left", false)),
            Step::Route(_) | Step::Supervisor if self.team.turns >= bound => {
                Step::End(Ending::new(format!("max_turns ({bound}) reached"), false))
            }
            step @ (Step::Route(_) | Step::Supervisor | Step::Wait | Step::End(_)) => step,
        }
    }
}
