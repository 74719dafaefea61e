//! What follows from the state as it stands, one consequence at a time.

use super::super::effect::{AgentInput, Closing, Effect, Ids, Mark, Phase};
use super::super::format;
use super::super::turn::Outcome;
use super::TeamCore;
use crate::domain::{MemberName, MemberStatus, RequestKind, TaskId, TaskStatus, TeamEvent, Timestamp, board};

/// Reasons named when the board stands still; more would not be read.
const REASONS_MAX: usize = 8;

impl TeamCore {
    /// The next consequence of the state, or nothing. Called after every input until nothing follows.
    pub fn settle(&self, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let repaired = self.settle_repair(now);
        if !repaired.is_empty() {
            return repaired;
        }
        let started = self.settle_requested(now);
        if !started.is_empty() {
            return started;
        }
        let answered = self.settle_shutdown(now, ids);
        if !answered.is_empty() {
            return answered;
        }
        let stopped = self.settle_stop(now);
        if !stopped.is_empty() {
            return stopped;
        }
        let claimed = self.settle_claim(now);
        if !claimed.is_empty() {
            return claimed;
        }
        self.settle_end()
    }

    /// While the team stops, who comes to rest ends: nobody takes up anything new.
    fn settle_stop(&self, now: Timestamp) -> Vec<Effect> {
        let Some(reason) = &self.stopping else { return Vec::new() };
        let unasked = |name: &&MemberName| self.seat(name).is_some_and(|seat| seat.ending.is_none());
        let next = self.resting.iter().map(|(_, name)| name).find(unasked);
        next.map(|name| self.end_member(name, reason, now)).unwrap_or_default()
    }

    fn settle_shutdown(&self, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let open = self.open_requests().filter(|r| r.kind == RequestKind::Shutdown);
        open.filter(|r| self.is_resting(&r.target)).find_map(|r| self.answer_for_resting(r, now, ids).ok()).unwrap_or_default()
    }

    pub(super) fn claims_by_themselves(&self) -> bool {
        self.claims && !self.settings.no_model
    }

    /// The first idle member, in registration order, claims the first ready task, by number.
    fn settle_claim(&self, now: Timestamp) -> Vec<Effect> {
        if self.stopping.is_some() || !self.claims_by_themselves() {
            return Vec::new();
        }
        let Some(task) = self.board.ready().next() else { return Vec::new() };
        let Some(name) = self.resting.iter().map(|(_, name)| name).find(|name| self.may_claim(name)) else { return Vec::new() };
        let Ok((task, mut effects)) = self.claim_effects(name, task, now) else { return Vec::new() };
        effects.extend(self.set_status(name, MemberStatus::Working, None));
        effects.extend(self.work_given());
        effects.extend(self.call(name, AgentInput::Claimed(task)));
        effects
    }

    fn may_claim(&self, name: &MemberName) -> bool {
        let Some(seat) = self.seat(name).filter(|_| !name.is_lead()) else { return false };
        let rested_well = matches!(&seat.phase, Phase::Resting { outcome, .. } if !matches!(outcome, Outcome::Interrupted));
        rested_well && seat.ending.is_none() && !self.waits_for_verdict(name) && self.board.in_progress_of(name).next().is_none()
    }

    /// The end of the work: the lead sums up, then the run is finished. Or it stands still, and the lead is told once.
    fn settle_end(&self) -> Vec<Effect> {
        if let Some(reason) = &self.stopping {
            return if self.anybody_live() { Vec::new() } else { vec![Effect::Mark(Mark::Stopping(None)), finished(reason, false)] };
        }
        let busy = self.driving || self.anybody_busy();
        if self.ended || busy || self.closing == Closing::Quiet || !self.pending.is_empty() {
            return Vec::new();
        }
        let lead = MemberName::lead();
        match self.seat(&lead).map(|seat| &seat.phase) {
            Some(Phase::Resting { outcome: Outcome::Interrupted, .. }) | None => Vec::new(),
            Some(Phase::Off) => vec![finished(&self.lead_reason(), false)],
            Some(Phase::Resting { outcome, .. }) => self.close(outcome),
            Some(Phase::Working | Phase::Called) => Vec::new(),
        }
    }

    fn lead_reason(&self) -> String {
        let lead = self.member(&MemberName::lead());
        let reason = lead.and_then(|m| m.reason.clone()).unwrap_or_else(|| "it does not run".into());
        format!("the lead has ended: {reason}")
    }

    /// The lead ended with no task on the board. Where a protocol would have chosen who acts, nobody was there to be chosen.
    fn lead_done(&self) -> String {
        let alone = self.driven && self.members.iter().all(|member| member.name.is_lead());
        let why = if alone { format!(" alone: no teammate was started, so {} chose nobody", self.protocol) } else { String::new() };
        format!("the lead is done{why}")
    }

    fn close(&self, outcome: &Outcome) -> Vec<Effect> {
        let done = self.board.counts().done;
        let lead = MemberName::lead();
        if self.board.is_finished() {
            if self.board.is_empty() || self.summed_up {
                let ok = matches!(outcome, Outcome::Done | Outcome::Idled);
                let what = if self.board.is_empty() { self.lead_done() } else { format::all_done(done) };
                return vec![finished(&if ok { what } else { format!("{what}; the lead: {}", outcome.words()) }, ok)];
            }
            return self.tell_lead(&lead, format::board_finished(done), Closing::SummingUp);
        }
        let reasons = self.why_open();
        if self.closing == Closing::Stalled {
            return vec![finished(&format!("open tasks are left: {reasons}"), false)];
        }
        self.tell_lead(&lead, format::board_stalled(&reasons), Closing::Stalled)
    }

    fn tell_lead(&self, lead: &MemberName, text: String, closing: Closing) -> Vec<Effect> {
        let mut effects = vec![Effect::Mark(Mark::Closing(closing))];
        effects.extend(self.call(lead, AgentInput::Tell { text, cause: "board" }));
        effects
    }

    fn why_open(&self) -> String {
        let open = self.board.iter().filter(|t| t.status != TaskStatus::Completed);
        let mut reasons: Vec<String> = open.clone().take(REASONS_MAX).map(|task| self.why(task.id)).collect();
        let rest = open.count().saturating_sub(REASONS_MAX);
        if rest > 0 {
            reasons.push(format!("and {rest} more"));
        }
        reasons.join("; ")
    }

    fn why(&self, id: TaskId) -> String {
        let Some(task) = self.board.get(id) else { return id.to_string() };
        if let Some(owner) = &task.owner {
            return format!("{id} is held by {owner}");
        }
        let blockers = self.board.blockers(id);
        if blockers.is_empty() {
            format!("{id} is ready but nobody takes it")
        } else {
            format!("{id} waits for {}", board::describe(&blockers))
        }
    }
}

fn finished(reason: &str, ok: bool) -> Effect {
    Effect::Emit(TeamEvent::Finished { reason: reason.to_owned(), ok })
}
