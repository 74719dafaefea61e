//! Facts change the state; nothing else does.

use super::super::effect::{Closing, Mark, Phase};
use super::{Seat, TeamCore};
use crate::domain::event::TaskChange;
use crate::domain::{Member, MemberName, Request, RequestKind, RequestState, TeamEvent};
use std::sync::Arc;

impl TeamCore {
    /// Applies a fact that was carried out (and saved, where it has a file).
    pub fn apply(&mut self, event: &TeamEvent) {
        match event {
            TeamEvent::MemberChanged { member, .. } => self.put_member(member),
            TeamEvent::MemberRemoved { name } => self.remove_member(name),
            TeamEvent::ActivityChanged { name, activity } => {
                if let Some(seat) = self.seats.get_mut(name) {
                    seat.activity = activity.clone();
                }
            }
            TeamEvent::TaskChanged { task, change, .. } => {
                if *change != TaskChange::Loaded {
                    self.summed_up = false;
                }
                self.board.insert(task.clone());
            }
            TeamEvent::TaskRemoved { id, .. } => {
                self.board.remove(*id);
            }
            TeamEvent::RequestChanged { request } => {
                self.pending.retain(|id| *id != request.id);
                if request.is_pending() {
                    self.pending.push(request.id.clone());
                }
                let known = self.requests.insert(request.id.clone(), request.clone());
                if known.is_none() && request.kind == RequestKind::Plan {
                    self.note_plan(request);
                }
            }
            TeamEvent::UsageAdded { name, usage, cost, .. } => {
                self.spend.add_call(*usage, *cost);
                if let Some(seat) = self.seats.get_mut(name) {
                    seat.spend.add_call(*usage, *cost);
                }
            }
            TeamEvent::ProtocolChanged { name } => {
                self.protocol = name.clone();
                (self.claims, self.driven) = Self::rules_of(name, &self.protocol_config);
            }
            TeamEvent::Finished { .. } => {
                self.ended = true;
                self.closing = Closing::Quiet;
            }
            TeamEvent::TurnStarted { name, .. } => {
                self.ended = false;
                self.with_seat(name, |seat| seat.in_turn = true);
            }
            TeamEvent::TurnEnded { name, .. } => self.with_seat(name, |seat| seat.in_turn = false),
            TeamEvent::Opened { .. }
            | TeamEvent::MessageSent { .. }
            | TeamEvent::AnswerFinished { .. }
            | TeamEvent::ToolStarted { .. }
            | TeamEvent::ToolFinished { .. }
            | TeamEvent::Compacted { .. }
            | TeamEvent::Noticed { .. }
            | TeamEvent::Denied { .. }
            | TeamEvent::Traced { .. }
            | TeamEvent::ProtocolShown { .. }
            | TeamEvent::RunnerGone { .. } => {}
        }
    }

    /// Remembers the newest plan of a member. One that comes withdrawn (from the files) decides nothing.
    fn note_plan(&mut self, plan: &Request) {
        let counts = !matches!(plan.state, RequestState::Withdrawn | RequestState::Expired);
        if counts || !self.plans.contains_key(&plan.target) {
            self.plans.insert(plan.target.clone(), plan.id.clone());
        }
    }

    fn put_member(&mut self, member: &Arc<Member>) {
        match self.seats.get(&member.name).map(|seat| seat.order) {
            Some(order) => {
                let old = &self.members[order];
                if old.generation != member.generation
                    && let Some(seat) = self.seats.get_mut(&member.name)
                {
                    let spend = seat.spend;
                    *seat = Seat { order, spend, ..Seat::default() };
                }
                self.members[order] = member.clone();
            }
            None => {
                let order = self.members.len();
                self.seats.insert(member.name.clone(), Seat { order, ..Seat::default() });
                self.members.push(member.clone());
            }
        }
    }

    fn remove_member(&mut self, name: &MemberName) {
        if let Some(seat) = self.seats.remove(name) {
            self.members.remove(seat.order);
            self.resting.remove(&(seat.order, name.clone()));
            for (order, member) in self.members.iter().enumerate() {
                if let Some(seat) = self.seats.get_mut(&member.name) {
                    seat.order = order;
                }
            }
            self.reindex_resting();
        }
    }

    fn reindex_resting(&mut self) {
        let resting = |seat: &Seat| matches!(seat.phase, Phase::Resting { .. });
        self.resting = self.seats.iter().filter(|(_, seat)| resting(seat)).map(|(name, seat)| (seat.order, name.clone())).collect();
    }

    /// Applies a change of the core's own state.
    pub fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Live { name, live } => self.set_phase(&name, if live { Phase::Working } else { Phase::Off }),
            Mark::Phase { name, phase } => self.set_phase(&name, phase),
            Mark::Gate { name, gate } => self.with_seat(&name, |seat| seat.gate = gate),
            Mark::Nudged { name, task } => self.with_seat(&name, |seat| seat.nudged = task),
            Mark::Ending { name, reason } => self.with_seat(&name, |seat| seat.ending = reason),
            Mark::ReportsBack { name, yes } => self.with_seat(&name, |seat| seat.reports_back = yes),
            Mark::SessionRule(rule) => self.session_rules.push(rule),
            Mark::Killed(name) => self.with_seat(&name, |seat| seat.killed = true),
            Mark::RunOpened => self.ended = false,
            Mark::Requested { name, resume } => self.with_seat(&name, |seat| seat.resumes = resume),
            Mark::Closing(closing) => {
                self.summed_up |= closing == Closing::SummingUp;
                self.closing = closing;
            }
            Mark::Stopping(reason) => self.stopping = reason,
            Mark::Driving(driving) => self.driving = driving,
            Mark::PlanMode(mode) => self.settings.plans = mode,
            Mark::NumberTaken(id) => self.taken = self.taken.max(id.0),
            Mark::TeamExtra { extra, unread } => (self.extra, self.unread) = (extra, unread),
        }
    }

    fn with_seat(&mut self, name: &MemberName, change: impl FnOnce(&mut Seat)) {
        if let Some(seat) = self.seats.get_mut(name) {
            change(seat);
        }
    }

    fn set_phase(&mut self, name: &MemberName, phase: Phase) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        let key = (seat.order, name.clone());
        if matches!(phase, Phase::Resting { .. }) {
            self.resting.insert(key);
        } else {
            self.resting.remove(&key);
        }
        if phase == Phase::Off {
            (seat.ending, seat.in_turn, seat.killed) = (None, false, false);
        }
        seat.phase = phase;
    }
}
