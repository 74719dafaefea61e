//! What agents tell about themselves.

use super::super::effect::{AgentInput, AgentReport, Effect, Ids, Mark, Phase, PlanGate, Timer};
use super::super::format;
use super::super::turn::Outcome;
use super::TeamCore;
use crate::domain::event::NoticeLevel;
use crate::domain::member::{LEFT_WAITING, STOPPED_WITH_TEAM};
use crate::domain::{Activity, Generation, Member, MemberName, MemberStatus, MessageKind, Party, RequestKind, TeamEvent, Timestamp};
use std::sync::Arc;
use std::time::Duration;

impl TeamCore {
    pub(super) fn report(
        &self,
        name: &MemberName,
        generation: Generation,
        report: &AgentReport,
        now: Timestamp,
        ids: &mut dyn Ids,
    ) -> Vec<Effect> {
        let Some(member) = self.member(name).filter(|m| m.generation == generation) else { return Vec::new() };
        // What a dead agent left behind may not bring it back to life; what it cost counts.
        if !self.is_live(name) && !matches!(report, AgentReport::Used { .. }) {
            return Vec::new();
        }
        match report {
            AgentReport::Began { cause } => self.began(member, cause),
            AgentReport::Doing(activity) => doing(member, activity),
            AgentReport::Answered { text, reasoning } => {
                emit(TeamEvent::AnswerFinished { name: name.clone(), text: text.clone(), reasoning: reasoning.clone() })
            }
            AgentReport::ToolBegan { call, tool, summary } => {
                emit(TeamEvent::ToolStarted { name: name.clone(), call: call.clone(), tool: tool.clone(), summary: summary.clone() })
            }
            AgentReport::ToolEnded { call, tool, ok, millis, output } => emit(TeamEvent::ToolFinished {
                name: name.clone(),
                call: call.clone(),
                tool: tool.clone(),
                ok: *ok,
                millis: *millis,
                output: output.clone(),
            }),
            AgentReport::Used { model, usage, context, window } => self.used(member, model, *usage, *context, *window, now),
            AgentReport::Compacted { before, after } => emit(TeamEvent::Compacted { name: name.clone(), before: *before, after: *after }),
            AgentReport::Noticed { level, text } => {
                emit(TeamEvent::Noticed { level: *level, text: text.clone(), name: Some(name.clone()) })
            }
            AgentReport::Rested { outcome, text } => self.rested(member, outcome, text, now, ids),
            AgentReport::Ended { failed, reason } => self.ended(member, *failed, reason, now, ids),
        }
    }

    fn began(&self, member: &Arc<Member>, cause: &str) -> Vec<Effect> {
        let name = &member.name;
        let mut effects = vec![
            Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Working }),
            Effect::CancelTimer(Timer::Idle(name.clone(), member.generation)),
        ];
        if !self.is_stopping(name, None) {
            effects.extend(self.set_status(name, MemberStatus::Working, None));
        } else if member.status != MemberStatus::Stopping {
            effects.extend(self.set_status(name, MemberStatus::Stopping, Some("asked to shut down".into())));
        }
        effects.push(Effect::Emit(TeamEvent::TurnStarted { name: name.clone(), generation: member.generation, cause: cause.to_owned() }));
        effects
    }

    fn rested(&self, member: &Arc<Member>, outcome: &Outcome, text: &str, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let name = &member.name;
        let Some(seat) = self.seat(name) else { return Vec::new() };
        let mut effects = Vec::new();
        // One that was only asked to look for mail and found none had no turn.
        if seat.in_turn {
            effects.push(Effect::Emit(TeamEvent::TurnEnded { name: name.clone(), outcome: outcome.words() }));
        }
        let holds = self.board.in_progress_of(name).next();
        let waits = self.waits_for_verdict(name);
        let nudgeable = matches!(outcome, Outcome::Done | Outcome::Idled | Outcome::Empty);
        if let Some(task) = holds
            .filter(|id| nudgeable && !waits && seat.nudged != Some(*id) && !self.is_stopping(name, None) && self.stopping.is_none())
            .and_then(|id| self.board.get(id))
        {
            effects.push(Effect::Mark(Mark::Nudged { name: name.clone(), task: Some(task.id) }));
            effects.push(Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Called }));
            effects.push(Effect::Tell { name: name.clone(), input: AgentInput::Tell { text: format::nudge(task), cause: "nudge" } });
            return effects;
        }
        effects.push(Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Resting { since: now, outcome: outcome.clone() } }));
        let mut state = self.rest_state(member, outcome, now);
        if matches!(&seat.phase, Phase::Resting { outcome: before, .. } if before == outcome) {
            // It was told something that is no work, and rests as before: nobody is told again.
            let as_before = |activity: &Activity| std::mem::discriminant(activity) == std::mem::discriminant(&seat.activity);
            state.retain(|effect| !matches!(effect, Effect::Emit(TeamEvent::ActivityChanged { activity, .. }) if as_before(activity)));
        } else {
            effects.extend(self.rest_notice(member, outcome));
        }
        effects.extend(state);
        if seat.reports_back && !self.driving && holds.is_none() && !waits && !text.trim().is_empty() && !name.is_lead() {
            let letter = self.envelope(ids, MessageKind::Result, &Party::Member(name.clone()), "lead", text.to_owned(), now);
            effects.extend(self.post(&MemberName::lead(), letter));
            effects.push(Effect::Mark(Mark::ReportsBack { name: name.clone(), yes: false }));
        }
        effects
    }

    /// Status, activity and idle timer of a member that rests.
    fn rest_state(&self, member: &Member, outcome: &Outcome, now: Timestamp) -> Vec<Effect> {
        let name = &member.name;
        let holds = self.board.in_progress_of(name).next();
        let gate = self.seat(name).map(|seat| seat.gate.clone()).unwrap_or_default();
        let (status, activity) = match (gate, holds) {
            (PlanGate::Pending(request), _) if self.waits_for_verdict(name) => {
                (MemberStatus::WaitingApproval, Activity::Approval { request, request_kind: RequestKind::Plan, since: now })
            }
            (_, Some(task)) => (MemberStatus::Idle, Activity::HoldsTask { task, since: now }),
            (_, None) => (MemberStatus::Idle, Activity::Nothing { since: now }),
        };
        let why = match outcome {
            Outcome::Done | Outcome::Idled | Outcome::AwaitsVerdict => None,
            Outcome::RoundCap(_) | Outcome::Interrupted | Outcome::Empty | Outcome::Circling(_) | Outcome::Repeating(_) => {
                Some(outcome.words())
            }
        };
        let mut effects = self.set_status(name, status, why);
        effects.extend(emit(TeamEvent::ActivityChanged { name: name.clone(), activity }));
        if !name.is_lead() && self.settings.idle_timeout > 0 {
            let at = now.plus(Duration::from_secs(self.settings.idle_timeout));
            effects.push(Effect::SetTimer { timer: Timer::Idle(name.clone(), member.generation), at });
        }
        effects
    }

    fn rest_notice(&self, member: &Member, outcome: &Outcome) -> Vec<Effect> {
        let name = &member.name;
        let nudged = self.seat(name).and_then(|seat| seat.nudged);
        let text = match outcome {
            Outcome::Done | Outcome::Idled => match nudged.filter(|id| self.board.in_progress_of(name).any(|held| held == *id)) {
                Some(task) => {
                    format!("{name} rests but holds task {task}: write to it (m), or release or complete the task on the board (3)")
                }
                None => return Vec::new(),
            },
            Outcome::AwaitsVerdict | Outcome::Interrupted => return Vec::new(),
            Outcome::RoundCap(_) | Outcome::Empty | Outcome::Circling(_) | Outcome::Repeating(_) => format!("{name}: {}", outcome.words()),
        };
        emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: Some(name.clone()) })
    }

    fn ended(&self, member: &Arc<Member>, failed: bool, reason: &str, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let name = &member.name;
        let agreed = self.seat(name).and_then(|seat| seat.ending.clone());
        let with_team = !failed && self.stopping.is_some();
        if with_team && agreed == self.stopping && self.waits_for_verdict(name) {
            return self.left_waiting(member);
        }
        let reason = if with_team { STOPPED_WITH_TEAM.to_owned() } else { agreed.filter(|_| !failed).unwrap_or_else(|| reason.to_owned()) };
        let (status, activity, words) = if failed {
            (MemberStatus::Failed, Activity::Failed { reason: reason.clone() }, format!("released: {name} failed: {reason}"))
        } else {
            (MemberStatus::Shutdown, Activity::Stopped { reason: reason.clone() }, format!("released: {name} shut down: {reason}"))
        };
        // What cannot fail comes first: when a write does, `settle` gives back what is left by the member's status.
        let mut effects = off(member);
        effects.extend(self.set_status(name, status, Some(reason.clone())));
        effects.extend(emit(TeamEvent::ActivityChanged { name: name.clone(), activity }));
        effects.extend(self.release_all_of(name, &words, now));
        effects.extend(self.end_open_requests(member, &reason, now, ids));
        if failed {
            effects.extend(emit(TeamEvent::Noticed {
                level: NoticeLevel::Error,
                text: format!("{name} failed: {reason}"),
                name: Some(name.clone()),
            }));
            if !name.is_lead() {
                let letter =
                    self.envelope(ids, MessageKind::Error, &Party::Member(name.clone()), "lead", format!("{name} failed: {reason}"), now);
                effects.extend(self.post(&MemberName::lead(), letter));
            }
        }
        effects.push(Effect::SaveTeam);
        effects
    }

    /// The team stops while a plan waits: the plan and its task stay, as if the app had died. The verdict starts the member.
    fn left_waiting(&self, member: &Member) -> Vec<Effect> {
        let mut effects = off(member);
        effects.extend(self.set_status(&member.name, MemberStatus::Interrupted, Some(LEFT_WAITING.into())));
        effects.push(Effect::SaveTeam);
        effects
    }

    /// A shutdown request of a member that has ended counts as approved by the runtime; other requests are withdrawn.
    fn end_open_requests(&self, member: &Member, reason: &str, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        use crate::domain::{RequestState, Verdict};
        let (mut effects, mut letters) = (Vec::new(), Vec::new());
        for request in self.open_requests().filter(|r| r.target == member.name) {
            if request.kind == RequestKind::Shutdown {
                let yes = Verdict::Approve { note: Some(reason.to_owned()), edited: None, always: false };
                let answered = request.answered(&Party::System, yes, &request.digest(), self.settings.plan_reviewer, now);
                effects.extend(answered.map(|r| self.save_answer(r)).unwrap_or_default());
                let words = format!("{} has ended: {reason}", member.name);
                letters.extend(self.tell_asker(request, MessageKind::ShutdownResponse, words, now, ids));
            } else {
                effects.extend(self.close_request(request, RequestState::Withdrawn, &format!("{} has ended: {reason}", member.name)));
            }
        }
        effects.extend(letters);
        effects
    }
}

/// The agent is gone, and nothing waits for it any more.
fn off(member: &Member) -> Vec<Effect> {
    let (name, generation) = (member.name.clone(), member.generation);
    vec![
        Effect::Mark(Mark::Live { name: name.clone(), live: false }),
        Effect::CancelTimer(Timer::Idle(name.clone(), generation)),
        Effect::CancelTimer(Timer::Kill(name.clone(), generation)),
        Effect::CancelTimer(Timer::WallTime(Some(name))),
    ]
}

fn doing(member: &Member, activity: &Activity) -> Vec<Effect> {
    emit(TeamEvent::ActivityChanged { name: member.name.clone(), activity: activity.clone() })
}

fn emit(event: TeamEvent) -> Vec<Effect> {
    vec![Effect::Emit(event)]
}
