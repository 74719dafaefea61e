//! Requests through their files: answering them, and asking members to shut down.

use super::{Act, Files, Runner};
use crate::domain::request::please_finish;
use crate::domain::{Digest, Member, Refusal, Reply, Request, RequestId, RequestKind, RequestState, Verdict};
use crate::runtime::clock;
use crate::store::{Expect, PutOf};
use std::sync::Arc;
use std::time::Duration;

/// Ids that are drawn before a collision is called an error.
const DRAWS: u32 = 32;

/// How a shutdown is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Force {
    Handshake,
    Now,
}

impl Files {
    pub(super) fn answer(&self, act: &Act<'_>, id: &RequestId, verdict: &Verdict, shown: &Digest) -> Result<Reply, Refusal> {
        let reviewer = self.settings.plan_reviewer;
        let (request, _) = self.store.update_request(id, |there| {
            if matches!(verdict, Verdict::Approve { edited: Some(text), .. } if there.kind == RequestKind::Plan && text.trim().is_empty()) {
                return Err(Refusal::Invalid("an empty plan is not approved; reject it instead".into()));
            }
            there.answered(act.by, verdict.clone(), shown, reviewer, act.at)
        })?;
        Ok(Reply::Request(Arc::new(request)))
    }

    pub(super) fn get_request(&self, id: &RequestId) -> Result<Reply, Refusal> {
        let (request, _) = self.store.request(id)?.ok_or_else(|| Refusal::UnknownRequest(id.to_string()))?;
        Ok(Reply::Request(Arc::new(request)))
    }

    pub(super) fn request_shutdown(&self, act: &Act<'_>, target: &str, reason: Option<String>) -> Result<Reply, Refusal> {
        let member = self.stoppable(target)?;
        if let Some(request) = self.open_shutdown(&member)? {
            return Ok(Reply::Request(Arc::new(request)));
        }
        self.ask(act, &member, reason.unwrap_or_else(|| please_finish(act.by)), Force::Handshake)
    }

    pub(super) fn force_stop(&self, act: &Act<'_>, target: &str) -> Result<Reply, Refusal> {
        let member = self.stoppable(target)?;
        let Some(open) = self.open_shutdown(&member)? else {
            return self.ask(act, &member, "stopped by the person".into(), Force::Now);
        };
        let forced = self.store.update_request(&open.id, |there| {
            if there.is_pending() { Ok(Request { force: true, ..there.clone() }) } else { Ok(there.clone()) }
        });
        let (request, _) = forced?;
        Ok(Reply::Request(Arc::new(request)))
    }

    fn stoppable(&self, target: &str) -> Result<Member, Refusal> {
        let member = self.reachable(target)?;
        if member.name.is_lead() {
            return Err(Refusal::Invalid("the lead ends with the team: quit the screen that runs it".into()));
        }
        Ok(member)
    }

    /// The pending shutdown request of this generation.
    fn open_shutdown(&self, member: &Member) -> Result<Option<Request>, Refusal> {
        let all = self.store.requests()?.items.into_iter().map(|(request, _)| request);
        let fits =
            |r: &Request| r.kind == RequestKind::Shutdown && r.is_pending() && r.target == member.name && r.generation == member.generation;
        Ok(all.into_iter().find(fits))
    }

    fn ask(&self, act: &Act<'_>, member: &Member, body: String, force: Force) -> Result<Reply, Refusal> {
        let grace = Duration::from_secs(self.settings.shutdown_grace);
        // While nobody runs the team nobody could answer in time.
        let deadline = (self.runner()? == Runner::Elsewhere).then(|| act.at.plus(grace));
        for _ in 0..DRAWS {
            let request = Request {
                id: clock::request_id(),
                kind: RequestKind::Shutdown,
                asker: act.by.clone(),
                target: member.name.clone(),
                generation: member.generation,
                title: format!("{} should shut down", member.name),
                body: body.clone(),
                task: None,
                previous: None,
                rule: None,
                created: act.at,
                deadline,
                force: force == Force::Now,
                state: RequestState::Pending,
                answer: None,
                ended: None,
                extra: crate::domain::Extra::new(),
            };
            match self.store.put_request(&request, Expect::Absent)? {
                PutOf::Applied(_) => {
                    self.deliver_request(act, &request)?;
                    return Ok(Reply::Request(Arc::new(request)));
                }
                PutOf::Lost(_) => {}
            }
        }
        Err(Refusal::Store(format!("no free request id was found in {DRAWS} draws")))
    }
}
