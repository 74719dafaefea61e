//! Plans and the answers to all requests. PROTOCOLS section 3, "Plan approval".

use super::super::effect::{AgentInput, Effect, Ids, Mark, PlanGate};
use super::TeamCore;
use crate::domain::request::Verdict;
use crate::domain::settings::PlanMode;
use crate::domain::{
    Answer, Digest, Extra, MemberName, MemberStatus, MessageKind, Party, Refusal, Reply, Request, RequestId, RequestKind, RequestState,
    TaskId, TeamEvent, Timestamp, text,
};
use std::sync::Arc;

/// Longest plan, in bytes.
const PLAN_MAX: usize = 64 * 1024;

type Decision = Result<Vec<Effect>, Refusal>;

impl TeamCore {
    /// Whether the member must have a plan approved for each task.
    pub(super) fn needs_plan(&self, name: &MemberName) -> bool {
        !name.is_lead() && (self.settings.require_plan || self.member(name).is_some_and(|m| m.require_plan))
    }

    /// What the member may change as far as plans go.
    pub(super) fn check_gate(&self, name: &MemberName) -> Result<(), Refusal> {
        let (Some(seat), Some(member)) = (self.seat(name), self.member(name)) else { return Err(self.unknown(name.as_str())) };
        match &seat.gate {
            PlanGate::Approved { request, task } if self.needs_plan(name) && *task != member.task => {
                Err(Refusal::Gate(format!("plan {request} was for other work; submit a plan for this with plan_approval first")))
            }
            PlanGate::Approved { .. } => Ok(()),
            // The record says whether a plan is needed: it can be edited while the member runs.
            PlanGate::Open | PlanGate::Required if !self.needs_plan(name) => Ok(()),
            PlanGate::Open | PlanGate::Required => {
                Err(Refusal::Gate("submit a plan with plan_approval first; reading is allowed until it is approved".into()))
            }
            PlanGate::Pending(id) => {
                Err(Refusal::Gate(format!("plan {id} waits for its verdict; reading is allowed until it is approved")))
            }
            PlanGate::Rejected(id) => Err(Refusal::Gate(format!("plan {id} was rejected; submit a revised plan with plan_approval first"))),
        }
    }

    /// Whether the member waits for the verdict on a plan.
    pub(super) fn waits_for_verdict(&self, name: &MemberName) -> bool {
        let waits = |id: &RequestId| self.requests.get(id).is_some_and(|r| r.is_pending());
        matches!(self.seat(name).map(|seat| &seat.gate), Some(PlanGate::Pending(id)) if waits(id))
    }

    /// What the member may change when it takes up a task: a plan that waits or was rejected keeps it read-only, and one
    /// that was approved for this very task still counts.
    pub(super) fn gate_for_task(&self, name: &MemberName, task: TaskId) -> PlanGate {
        let generation = self.member(name).map(|m| m.generation);
        let approved = |r: &&Arc<Request>| r.state == RequestState::Approved && r.task == Some(task) && Some(r.generation) == generation;
        if let Some(plan) = self.last_plan(name).filter(approved) {
            return PlanGate::Approved { request: plan.id.clone(), task: plan.task };
        }
        let fresh = if self.needs_plan(name) { PlanGate::Required } else { PlanGate::Open };
        match self.seat(name).map(|seat| seat.gate.clone()) {
            Some(PlanGate::Pending(_)) if !self.waits_for_verdict(name) => fresh,
            Some(gate @ (PlanGate::Pending(_) | PlanGate::Rejected(_))) => gate,
            Some(PlanGate::Open | PlanGate::Required | PlanGate::Approved { .. }) | None => fresh,
        }
    }

    /// A plan for a task that its owner does not have any more is withdrawn: the work changed.
    pub(super) fn withdraw_plan_for(&self, owner: &MemberName, task: TaskId, why: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for plan in self.open_requests().filter(|r| r.kind == RequestKind::Plan && r.target == *owner && r.task == Some(task)) {
            effects.extend(self.close_request(plan, RequestState::Withdrawn, why));
            let gate = if self.needs_plan(owner) { PlanGate::Required } else { PlanGate::Open };
            effects.push(Effect::Mark(Mark::Gate { name: owner.clone(), gate }));
        }
        effects
    }

    pub(super) fn submit_plan(&self, by: &Party, plan: &str, now: Timestamp, ids: &mut dyn Ids) -> Decision {
        let name = by.member().filter(|name| !name.is_lead()).ok_or_else(|| Refusal::Invalid("only teammates submit plans".into()))?;
        let plan = plan.trim();
        if plan.is_empty() || plan.len() > PLAN_MAX {
            return Err(Refusal::Invalid(format!("a plan has between 1 byte and {} KiB", PLAN_MAX / 1024)));
        }
        let member = self.member(name).ok_or_else(|| self.unknown(name.as_str()))?;
        let mut effects = Vec::new();
        let mut previous = self.last_plan(name);
        if let Some(last) = previous.filter(|r| r.task == member.task && r.generation == member.generation) {
            let same = last.body == plan || last.approved_text() == Some(plan);
            match last.state {
                RequestState::Approved if same => {
                    let gate = PlanGate::Approved { request: last.id.clone(), task: last.task };
                    return Ok(vec![Effect::Mark(Mark::Gate { name: name.clone(), gate }), Effect::Reply(Reply::PlanAlreadyApproved)]);
                }
                RequestState::Pending if same => return Ok(vec![Effect::Reply(Reply::Request(last.clone()))]),
                RequestState::Pending
                | RequestState::Approved
                | RequestState::Rejected
                | RequestState::Withdrawn
                | RequestState::Expired => {}
            }
        } else {
            previous = None;
        }
        // One open plan a member: an older one, for another task too, would open the gate behind the new one's back.
        let older = self.open_requests().filter(|r| r.kind == RequestKind::Plan && r.target == *name);
        effects.extend(older.flat_map(|r| self.close_request(r, RequestState::Withdrawn, "replaced by a newer version")));
        let request = self.plan_request(name, plan, previous.map(|r| r.id.clone()), now, ids);
        effects.extend(self.file_plan(request, now, ids));
        Ok(effects)
    }

    fn plan_request(&self, name: &MemberName, plan: &str, previous: Option<RequestId>, now: Timestamp, ids: &mut dyn Ids) -> Request {
        let member = self.member(name);
        let heading =
            plan.lines().map(|line| line.trim_start_matches(['#', ' ', '-', '*'])).find(|line| !line.is_empty()).unwrap_or("plan");
        Request {
            id: ids.request(),
            kind: RequestKind::Plan,
            asker: Party::Member(name.clone()),
            target: name.clone(),
            generation: member.map(|m| m.generation).unwrap_or_default(),
            title: text::one_line(heading, 80),
            body: plan.to_owned(),
            task: member.and_then(|m| m.task),
            previous,
            rule: None,
            created: now,
            deadline: None,
            force: false,
            state: RequestState::Pending,
            answer: None,
            ended: None,
            extra: Extra::new(),
        }
    }

    /// Puts a plan into the queue, or decides it at once where the settings say so.
    fn file_plan(&self, mut request: Request, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let verdict = match self.settings.plans {
            PlanMode::Ask => None,
            PlanMode::Auto => Some(Verdict::Approve { note: Some("approved by the team's settings".into()), edited: None, always: false }),
            PlanMode::Deny => Some(Verdict::Reject {
                feedback: Some("nobody is there to approve plans in this run: work without changing anything, or end".into()),
            }),
        };
        let name = request.target.clone();
        let mut effects = Vec::new();
        if let Some(verdict) = verdict {
            request.state = if verdict.is_approval() { RequestState::Approved } else { RequestState::Rejected };
            request.answer = Some(Answer { by: Party::System, at: now, digest: request.digest(), verdict });
        }
        let request = Arc::new(request);
        effects.push(Effect::CreateRequest(request.clone()));
        effects.push(Effect::Emit(TeamEvent::RequestChanged { request: request.clone() }));
        if request.is_pending() {
            effects.push(Effect::Mark(Mark::Gate { name: name.clone(), gate: PlanGate::Pending(request.id.clone()) }));
            effects.extend(self.waits_for_approval(&name));
            if self.settings.plan_reviewer == crate::domain::request::PlanReviewer::Lead {
                let words = format!("{name} submitted plan {}. Review it with plan_review.\n{}", request.id, request.body);
                let letter = self
                    .envelope(ids, MessageKind::PlanApprovalRequest, &Party::Member(name), "lead", words, now)
                    .about(request.id.clone());
                effects.extend(self.post(&MemberName::lead(), letter));
            }
        } else {
            if request.state == RequestState::Rejected {
                effects.push(Effect::Emit(TeamEvent::Denied { name, what: format!("plan {}: {}", request.id, request.title) }));
            }
            effects.extend(self.plan_decided(&request, now));
        }
        effects.push(Effect::Reply(Reply::Request(request)));
        effects
    }

    /// The gate and the wake-up that follow from a decided plan. A member that does not run is started for it.
    pub(super) fn plan_decided(&self, request: &Arc<Request>, now: Timestamp) -> Vec<Effect> {
        let name = request.target.clone();
        let Some(member) = self.member(&name).filter(|m| m.generation == request.generation) else { return Vec::new() };
        let gate = match request.state {
            RequestState::Approved => PlanGate::Approved { request: request.id.clone(), task: request.task },
            RequestState::Rejected => PlanGate::Rejected(request.id.clone()),
            RequestState::Pending => PlanGate::Pending(request.id.clone()),
            RequestState::Withdrawn | RequestState::Expired if self.needs_plan(&name) => PlanGate::Required,
            RequestState::Withdrawn | RequestState::Expired => PlanGate::Open,
        };
        let mut effects = Vec::new();
        if self.may_start_again(member) {
            effects.extend(self.start_again(member, now));
        }
        effects.push(Effect::Mark(Mark::Gate { name: name.clone(), gate }));
        if member.status == MemberStatus::WaitingApproval {
            effects.extend(self.set_status(&name, self.status_at_work(&name, Some(&request.id)), None));
        }
        effects.extend(self.call(&name, AgentInput::Verdict(request.clone())));
        effects
    }

    /// The newest plan of a member: the one that waits, if one does.
    pub(super) fn last_plan(&self, name: &MemberName) -> Option<&Arc<Request>> {
        let open = self.open_requests().find(|r| r.kind == RequestKind::Plan && r.target == *name);
        open.or_else(|| self.requests.get(self.plans.get(name)?))
    }

    pub(super) fn answer(
        &self,
        by: &Party,
        id: &RequestId,
        verdict: &Verdict,
        shown: &Digest,
        now: Timestamp,
        ids: &mut dyn Ids,
    ) -> Decision {
        let request = self.find_request(id)?;
        let answered = request.answered(by, verdict.clone(), shown, self.settings.plan_reviewer, now)?;
        let reply = Reply::Request(Arc::new(answered.clone()));
        let mut effects = self.answer_effects(request, answered, now, ids);
        effects.push(Effect::Reply(reply));
        Ok(effects)
    }

    /// What follows from an answer, by the kind of the request.
    pub(super) fn answer_effects(&self, request: &Request, answered: Request, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        match request.kind {
            RequestKind::Shutdown => self.shutdown_answered(request, answered, now, ids),
            RequestKind::Permission => self.permission_answered(answered),
            RequestKind::Plan => {
                let by = answered.answer.as_ref().map_or(Party::System, |answer| answer.by.clone());
                let mut effects = self.save_answer(answered.clone());
                effects.extend(self.work_given());
                effects.extend(self.plan_decided(&Arc::new(answered), now));
                if !by.is_lead() && self.settings.plan_reviewer == crate::domain::request::PlanReviewer::Lead {
                    let words = format!("{by} decided plan {} of {}.", request.id, request.target);
                    let letter = self.envelope(ids, MessageKind::PlanApprovalResponse, &by, "lead", words, now).about(request.id.clone());
                    effects.extend(self.post(&MemberName::lead(), letter));
                }
                effects
            }
        }
    }

    pub(super) fn set_plan_mode(&self, by: &Party, mode: PlanMode) -> Decision {
        self.check_human(by, "change how plans are decided")?;
        let text = format!(
            "plans: {}",
            match mode {
                PlanMode::Ask => "ask the person",
                PlanMode::Auto => "approved by themselves",
                PlanMode::Deny => "rejected by themselves",
            }
        );
        let notice = TeamEvent::Noticed { level: crate::domain::event::NoticeLevel::Info, text, name: None };
        Ok(vec![Effect::Mark(Mark::PlanMode(mode)), Effect::Emit(notice), Effect::Reply(Reply::Done)])
    }
}
