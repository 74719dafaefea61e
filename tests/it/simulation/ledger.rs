//! The books that are kept beside the core: what was decided, what was deleted, what was wrong. The core knows nothing
//! of them.

use super::oracle::may_decide;
use signoff::domain::settings::{PlanMode, TeamSettings};
use signoff::domain::*;
use signoff::protocol::TeamCore;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Entry {
    /// The order in which requests came.
    pub order: u64,
    pub state: RequestState,
    pub answer: Option<Answer>,
}

#[derive(Clone, Default)]
pub struct Ledger {
    pub wrong: Vec<String>,
    pub requests: BTreeMap<RequestId, Entry>,
    /// Task files that others removed.
    pub removed: BTreeSet<TaskId>,
    /// The task that somebody with the right to it deletes just now.
    pub deleting: Option<TaskId>,
    /// Request files that others wrote into: what a restart finds there is what there is.
    pub tampered: BTreeSet<RequestId>,
    pub stopping: bool,
    pub finished: u64,
    pub plans: PlanMode,
    /// What happened, and how often: a run that never gets somewhere says nothing about it.
    pub reached: BTreeMap<&'static str, u64>,
    generations: BTreeMap<MemberName, Generation>,
    lives: BTreeMap<MemberName, Generation>,
}

impl Ledger {
    pub fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    pub fn reach(&mut self, what: &'static str) {
        *self.reached.entry(what).or_default() += 1;
    }

    pub fn event(&mut self, core: &TeamCore, event: &TeamEvent, settings: &TeamSettings) {
        match event {
            TeamEvent::RequestChanged { request } => self.request(request, settings),
            TeamEvent::TaskRemoved { id, .. } => {
                let deleted = self.deleting == Some(*id) || self.removed.remove(id);
                if core.board().get(*id).is_some() && !deleted {
                    self.wrong(format!("task {id} vanished and nobody deleted it"));
                }
            }
            TeamEvent::MemberChanged { member, .. } => {
                let before = self.generations.insert(member.name.clone(), member.generation);
                if before.is_some_and(|before| before > member.generation) {
                    self.wrong(format!("the generation of {} fell to {}", member.name, member.generation.0));
                }
            }
            TeamEvent::MemberRemoved { name } => {
                self.lives.remove(name);
                self.generations.remove(name);
            }
            TeamEvent::TaskChanged { change, by, .. } => {
                if *change == event::TaskChange::Claimed {
                    self.reach("task claimed");
                } else if *change == event::TaskChange::Released && *by == Party::System {
                    self.reach("task given back by itself");
                }
            }
            TeamEvent::Finished { ok, .. } => {
                self.reach(if *ok { "finished well" } else { "finished with a reason" });
                self.finished += 1;
                self.stopping = false;
            }
            _ => {}
        }
    }

    /// An agent starts; one with an empty conversation is of a generation that never lived before.
    pub fn started(&mut self, member: &Member, resume: bool) {
        let before = self.lives.insert(member.name.clone(), member.generation);
        if !resume && before.is_some_and(|before| before >= member.generation) {
            self.wrong(format!("{} starts anew in generation {}, which has lived", member.name, member.generation.0));
        }
    }

    fn request(&mut self, request: &Request, settings: &TeamSettings) {
        let id = &request.id;
        let before = self.requests.get(id).cloned();
        if let Some(before) = before.as_ref().filter(|b| b.state != RequestState::Pending)
            && (before.state != request.state || before.answer != request.answer)
        {
            self.wrong(format!("request {id} was {:?} and became {:?}", before.state, request.state));
        }
        match (request.state, &request.answer) {
            (RequestState::Approved | RequestState::Rejected, Some(answer)) => {
                if answer.verdict.is_approval() != (request.state == RequestState::Approved) {
                    self.wrong(format!("request {id} is {:?} on {:?}", request.state, answer.verdict));
                }
                if answer.digest != Digest::of(&request.body) {
                    self.wrong(format!("request {id} was decided on another text"));
                }
                let at_once = before.is_none()
                    && answer.by == Party::System
                    && request.kind == RequestKind::Plan
                    && matches!((self.plans, answer.verdict.is_approval()), (PlanMode::Auto, true) | (PlanMode::Deny, false));
                if !at_once && !may_decide(&answer.by, request.kind, &request.target, settings.plan_reviewer) {
                    self.wrong(format!("{} decided {:?} {id} of {}", answer.by, request.kind, request.target));
                }
            }
            (RequestState::Pending | RequestState::Withdrawn | RequestState::Expired, None) => {}
            (state, answer) => self.wrong(format!("request {id} is {state:?} with {answer:?}")),
        }
        if before.as_ref().is_none_or(|before| before.state != request.state) {
            self.landmark(request);
        }
        self.enter(request);
    }

    fn landmark(&mut self, request: &Request) {
        use RequestKind::{Permission, Plan, Shutdown};
        use RequestState::{Approved, Expired, Pending, Rejected, Withdrawn};
        let by = request.answer.as_ref().map(|answer| &answer.by);
        self.reach(match (request.kind, request.state) {
            (_, Pending) => "asked",
            (Shutdown, Approved) if by == Some(&Party::System) => "shutdown answered by the runtime",
            (Shutdown, Approved) => "shutdown agreed",
            (Shutdown, Rejected) => "shutdown refused",
            (Shutdown, Expired) => "shutdown expired",
            (Plan, Approved) if by == Some(&Party::lead()) => "plan approved by the lead",
            (Plan, Approved) => "plan approved",
            (Plan, Rejected) => "plan rejected",
            (Permission, Approved) => "permission given",
            (Permission, Rejected) => "permission denied",
            (Plan | Permission, Expired) => "expired without a deadline",
            (_, Withdrawn) => "withdrawn",
        });
    }

    fn enter(&mut self, request: &Request) {
        let order = u64::try_from(self.requests.len()).unwrap();
        let entry = self.requests.entry(request.id.clone()).or_insert(Entry { order, state: request.state, answer: None });
        entry.state = request.state;
        entry.answer = request.answer.clone();
    }

    /// A new process read the files: what was decided is still decided.
    pub fn reopened(&mut self, core: &TeamCore, _now: Timestamp) {
        self.stopping = false;
        self.plans = core.settings().plans;
        let decided = |entry: &Entry| entry.state != RequestState::Pending;
        let lost: Vec<RequestId> = self
            .requests
            .iter()
            .filter(|(id, entry)| decided(entry) && !self.tampered.contains(*id))
            .filter(|(id, entry)| core.request(id).is_none_or(|r| r.state != entry.state || r.answer != entry.answer))
            .map(|(id, _)| id.clone())
            .collect();
        lost.iter().for_each(|id| self.wrong(format!("the decision of {id} did not survive the crash")));
        let mut requests: Vec<_> = core.requests().cloned().collect();
        requests.sort_by_key(|r| (r.created, r.id.clone()));
        self.requests.clear();
        requests.iter().for_each(|request| self.enter(request));
        self.lives.clear();
        self.generations = core.members().iter().map(|m| (m.name.clone(), m.generation)).collect();
    }
}
