//! What is put right by itself: a batch that a failing write cut short, and what others wrote into the files that the
//! rules do not allow. Each fault is found in the state as it stands, so it is mended whenever the store works again.

use super::super::effect::Effect;
use super::TeamCore;
use crate::domain::member::RESTED;
use crate::domain::{Member, MemberStatus, Party, Request, RequestKind, RequestState, TaskId, Timestamp};

impl TeamCore {
    /// The first thing that is wrong, mended; or nothing.
    pub(super) fn settle_repair(&self, now: Timestamp) -> Vec<Effect> {
        self.mend_status().or_else(|| self.mend_task(now)).or_else(|| self.mend_request()).unwrap_or_default()
    }

    /// A member that is on the roster as running, but has no agent: its start could not be recorded.
    fn mend_status(&self) -> Option<Vec<Effect>> {
        let plan_waits = |m: &Member| self.open_requests().any(|r| r.kind == RequestKind::Plan && r.target == m.name);
        if let Some(left) = self.members.iter().find(|m| m.is_left_waiting() && !plan_waits(m)) {
            let why = if left.task.is_some() { "its plan was withdrawn" } else { RESTED };
            return Some(self.set_status(&left.name, MemberStatus::Interrupted, Some(why.into())));
        }
        let dead = self.members.iter().find(|m| m.status.is_live() && !self.is_live(&m.name))?;
        Some(self.set_status(&dead.name, MemberStatus::Interrupted, Some("it could not be started".into())))
    }

    /// A task in progress that nobody has, whose owner has ended or is not on the team, or that is its owner's second one.
    fn mend_task(&self, now: Timestamp) -> Option<Vec<Effect>> {
        let release = |id: TaskId, words: String| {
            let task = self.board.get(id)?;
            self.release_effects(task, &Party::System, &words, now).ok().map(|effects| {
                let plan = self.plan_lost_task(task, "was given back");
                effects.into_iter().chain(plan).collect()
            })
        };
        if let Some(id) = self.board.unowned().next() {
            return release(id, "released: it was in progress without an owner".to_owned());
        }
        self.board.in_progress().find_map(|(owner, held)| {
            let Some(member) = self.member(owner) else {
                return release(*held.first()?, format!("released: {owner} is not on the team"));
            };
            if has_ended(member.status) && !self.is_live(owner) {
                return release(*held.first()?, format!("released: {owner} is {}", member.status.spoken()));
            }
            let kept = member.task.filter(|id| held.contains(id)).or_else(|| held.first().copied())?;
            let second = held.iter().find(|id| **id != kept)?;
            release(*second, format!("released: {owner} works on task {kept}"))
        })
    }

    /// A request that nobody waits for any more: its member is gone, replaced, ended, or went on without the answer.
    fn mend_request(&self) -> Option<Vec<Effect>> {
        let (request, why) = self.open_requests().find_map(|r| self.why_stale(r).map(|why| (r, why)))?;
        Some(self.close_request(request, RequestState::Withdrawn, why))
    }

    fn why_stale(&self, request: &Request) -> Option<&'static str> {
        let Some(member) = self.member(&request.target).filter(|m| m.generation == request.generation) else {
            return Some("its member is not on the team any more");
        };
        if !self.is_live(&member.name) {
            // A plan of an interrupted member can still be decided: that starts it again.
            let waits = request.kind == RequestKind::Plan && !has_ended(member.status);
            return (!waits).then_some("its member does not run");
        }
        let went_on = request.kind == RequestKind::Permission && self.is_resting(&member.name);
        went_on.then_some("the member went on without it")
    }
}

fn has_ended(status: MemberStatus) -> bool {
    matches!(status, MemberStatus::Shutdown | MemberStatus::Failed)
}
