//! Shutdown: asked, answered, expired, forced. PROTOCOLS section 3, "Shutdown".

use super::super::effect::{AgentInput, Effect, Ids, Mark, Timer};
use super::TeamCore;
use crate::domain::event::NoticeLevel;
use crate::domain::request::Verdict;
use crate::domain::request::please_finish;
use crate::domain::{
    Extra, Member, MemberName, MemberStatus, MessageKind, Party, Refusal, Reply, Request, RequestKind, RequestState, TeamEvent, Timestamp,
};
use std::sync::Arc;
use std::time::Duration;

/// After this long an agent that was killed is taken off by force: its commands got TERM, then KILL after 2 s.
pub(super) const KILL_GRACE: Duration = Duration::from_millis(2_800);

type Decision = Result<Vec<Effect>, Refusal>;

impl TeamCore {
    pub(super) fn request_shutdown(&self, by: &Party, target: &str, reason: Option<&str>, now: Timestamp, ids: &mut dyn Ids) -> Decision {
        self.check_steers(by, "ask a member to shut down")?;
        let member = self.find_member(target)?;
        if member.name.is_lead() {
            return Err(Refusal::Invalid("the lead ends with the team: quit stops everybody".into()));
        }
        if let Some(open) = self.open_shutdown(&member.name) {
            return Ok(vec![Effect::Reply(Reply::Request(open.clone()))]);
        }
        if !self.is_live(&member.name) {
            return self.stop_absent(member, "ended while it did not run", now);
        }
        let request = Arc::new(self.shutdown_request(by, member, reason, now, ids));
        let content = format!("Please shut down: {}", request.body);
        let letter = self.envelope(ids, MessageKind::ShutdownRequest, by, member.name.as_str(), content, now).about(request.id.clone());
        let mut effects =
            vec![Effect::CreateRequest(request.clone()), Effect::Emit(TeamEvent::RequestChanged { request: request.clone() })];
        effects.extend(self.begin_stopping(&request, now));
        effects.extend(self.deliver(letter));
        // One that rests is answered for at once; waking it for the letter would set it to work instead.
        if !self.is_resting(&member.name) {
            effects.push(Effect::Tell { name: member.name.clone(), input: AgentInput::Mail });
        }
        effects.push(Effect::Reply(Reply::Request(request)));
        Ok(effects)
    }

    fn shutdown_request(&self, by: &Party, member: &Member, reason: Option<&str>, now: Timestamp, ids: &mut dyn Ids) -> Request {
        Request {
            id: ids.request(),
            kind: RequestKind::Shutdown,
            asker: by.clone(),
            target: member.name.clone(),
            generation: member.generation,
            title: format!("shut down {}", member.name),
            body: reason.map_or_else(|| please_finish(by), str::to_owned),
            task: None,
            previous: None,
            rule: None,
            created: now,
            deadline: Some(now.plus(Duration::from_secs(self.settings.shutdown_grace))),
            force: false,
            state: RequestState::Pending,
            answer: None,
            ended: None,
            extra: Extra::new(),
        }
    }

    /// The member shows as stopping and the deadline runs; a resting one is answered for by [`TeamCore::settle`].
    pub(super) fn begin_stopping(&self, request: &Request, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.is_resting(&request.target) {
            effects.extend(self.set_status(&request.target, MemberStatus::Stopping, Some("asked to shut down".into())));
        }
        let latest = now.plus(Duration::from_secs(self.settings.shutdown_grace));
        let at = request.deadline.map_or(latest, |at| at.min(latest));
        effects.push(Effect::SetTimer { timer: Timer::Shutdown(request.id.clone()), at });
        effects
    }

    pub(super) fn open_shutdown(&self, name: &MemberName) -> Option<&Arc<Request>> {
        self.open_requests().find(|r| r.kind == RequestKind::Shutdown && r.target == *name)
    }

    /// The runtime answers for a resting target: through the same request, approved.
    pub(super) fn answer_for_resting(&self, request: &Request, now: Timestamp, ids: &mut dyn Ids) -> Decision {
        let yes = Verdict::Approve { note: Some("it was at rest".into()), edited: None, always: false };
        let answered = request.answered(&Party::System, yes, &request.digest(), self.settings.plan_reviewer, now)?;
        let mut effects = self.save_answer(answered);
        effects.extend(self.end_member(&request.target, "shut down on request", now));
        let words = format!("{} has shut down (it was at rest)", request.target);
        effects.extend(self.tell_asker(request, MessageKind::ShutdownResponse, words, now, ids));
        effects.extend(self.set_status(&request.target, MemberStatus::Stopping, Some("shuts down on request".into())));
        Ok(effects)
    }

    /// Ends a member at its next boundary; one that does not end within the grace is taken off.
    pub(super) fn end_member(&self, name: &MemberName, reason: &str, now: Timestamp) -> Vec<Effect> {
        let Some(member) = self.member(name) else { return Vec::new() };
        let at = now.plus(Duration::from_secs(self.settings.shutdown_grace));
        vec![
            Effect::Mark(Mark::Ending { name: name.clone(), reason: Some(reason.to_owned()) }),
            Effect::Tell { name: name.clone(), input: AgentInput::End { reason: reason.to_owned() } },
            Effect::SetTimer { timer: Timer::Kill(name.clone(), member.generation), at },
        ]
    }

    pub(super) fn save_answer(&self, request: Request) -> Vec<Effect> {
        let request = Arc::new(request);
        let mut effects = vec![Effect::SaveRequest(request.clone())];
        if request.kind == RequestKind::Shutdown {
            effects.push(Effect::CancelTimer(Timer::Shutdown(request.id.clone())));
        }
        effects.push(Effect::Emit(TeamEvent::RequestChanged { request }));
        effects
    }

    /// The target itself answered.
    pub(super) fn shutdown_answered(&self, request: &Request, answered: Request, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let approved = answered.state == RequestState::Approved;
        let words = match answered.answer.as_ref().map(|a| &a.verdict) {
            Some(Verdict::Approve { note, .. }) => format!("{} shuts down{}", request.target, with(note.as_deref())),
            Some(Verdict::Reject { feedback }) => format!("{} goes on working{}", request.target, with(feedback.as_deref())),
            None => String::new(),
        };
        let mut effects = self.save_answer(answered);
        if approved {
            effects.extend(self.end_member(&request.target, "shut down on request", now));
        } else {
            effects.extend(self.set_status(&request.target, self.status_at_work(&request.target, Some(&request.id)), None));
        }
        effects.extend(self.tell_asker(request, MessageKind::ShutdownResponse, words, now, ids));
        effects
    }

    pub(super) fn shutdown_expired(&self, request: &Request, now: Timestamp) -> Vec<Effect> {
        let seconds = self.settings.shutdown_grace;
        let Ok(expired) = request.closed(RequestState::Expired, format!("no answer within {seconds} s")) else { return Vec::new() };
        // Set again first: if the write fails, the deadline comes once more. The save takes it back.
        let at = now.plus(Duration::from_secs(seconds.max(1)));
        let mut effects = vec![Effect::SetTimer { timer: Timer::Shutdown(request.id.clone()), at }];
        effects.extend(self.save_answer(expired));
        if !self.is_live(&request.target) || self.is_stopping(&request.target, Some(&request.id)) {
            return effects;
        }
        let status = self.status_at_work(&request.target, Some(&request.id));
        effects.extend(self.set_status(&request.target, status, Some("did not answer the shutdown request".into())));
        let text = format!("{} did not answer the shutdown request within {seconds} s: stop it now (S), or ask again (s)", request.target);
        effects.push(Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: Some(request.target.clone()) }));
        effects
    }

    pub(super) fn force_stop(&self, by: &Party, target: &str, now: Timestamp) -> Decision {
        self.check_human(by, "stop a member by force")?;
        let member = self.find_member(target)?;
        if !self.is_live(&member.name) {
            return self.stop_absent(member, &format!("stopped by {by}"), now);
        }
        let mut effects = self.kill(&member.name, &format!("stopped by {by}"), now);
        effects.push(Effect::Reply(Reply::Done));
        Ok(effects)
    }

    /// Cancels the model call, kills the commands, ends the agent; bounded by [`KILL_GRACE`].
    pub(super) fn kill(&self, name: &MemberName, reason: &str, now: Timestamp) -> Vec<Effect> {
        let Some(member) = self.member(name).filter(|_| self.is_live(name)) else { return Vec::new() };
        // A second kill may not put off the end of the first.
        if self.seat(name).is_some_and(|seat| seat.killed) {
            return Vec::new();
        }
        let mut effects = self.set_status(name, MemberStatus::Stopping, Some(reason.to_owned()));
        effects.push(Effect::Mark(Mark::Ending { name: name.clone(), reason: Some(reason.to_owned()) }));
        effects.push(Effect::Mark(Mark::Killed(name.clone())));
        effects.push(Effect::Tell { name: name.clone(), input: AgentInput::Kill { reason: reason.to_owned() } });
        effects.push(Effect::SetTimer { timer: Timer::Kill(name.clone(), member.generation), at: now.plus(KILL_GRACE) });
        effects
    }

    fn stop_absent(&self, member: &Member, reason: &str, now: Timestamp) -> Decision {
        if member.status == MemberStatus::Shutdown {
            return Err(Refusal::NotLive { name: member.name.clone(), status: member.status.spoken(), why: member.reason.clone() });
        }
        let mut effects = self.set_status(&member.name, MemberStatus::Shutdown, Some(reason.to_owned()));
        effects.extend(self.release_all_of(&member.name, &format!("{} shut down", member.name), now));
        effects.extend(self.withdraw_all_of(&member.name, "the member was shut down"));
        effects.push(Effect::SaveTeam);
        effects.push(Effect::Reply(Reply::Done));
        Ok(effects)
    }

    /// Ends every open request of a member.
    pub(super) fn withdraw_all_of(&self, name: &MemberName, reason: &str) -> Vec<Effect> {
        let open = self.open_requests().filter(|r| r.target == *name);
        open.flat_map(|request| self.close_request(request, RequestState::Withdrawn, reason)).collect()
    }

    /// Withdraws or expires a request; a command that waits for it is refused.
    pub(super) fn close_request(&self, request: &Request, state: RequestState, reason: &str) -> Vec<Effect> {
        let Ok(closed) = request.closed(state, reason) else { return Vec::new() };
        let mut effects = self.save_answer(closed);
        if request.kind == RequestKind::Permission {
            effects.push(Effect::Settle { id: request.id.clone(), result: Err(Refusal::Denied(reason.to_owned())) });
        }
        effects
    }

    pub(super) fn stop_team(&self, by: &Party, at_once: bool, now: Timestamp, ids: &mut dyn Ids) -> Decision {
        self.check_human(by, "stop the team")?;
        let reason = format!("stopped by {by}");
        let mut effects = vec![Effect::Mark(Mark::Stopping(Some(reason.clone())))];
        let live: Vec<Arc<Member>> = self.members.iter().filter(|m| self.is_live(&m.name)).cloned().collect();
        for member in live {
            if at_once {
                effects.extend(self.kill(&member.name, &reason, now));
                continue;
            }
            // Who waits for a permission would wait on: nobody is asked anything any more.
            effects.extend(self.withdraw_permissions(&member.name, "the team is stopping"));
            // Whose plan waits does not shut down over it: it ends, and can be answered when the team is opened again.
            let unasked = self.seat(&member.name).is_some_and(|seat| seat.ending.is_none());
            if member.name.is_lead() || (unasked && self.waits_for_verdict(&member.name)) {
                effects.push(Effect::Mark(Mark::Ending { name: member.name.clone(), reason: Some(reason.clone()) }));
                effects.push(Effect::Tell { name: member.name.clone(), input: AgentInput::End { reason: reason.clone() } });
            } else if unasked {
                let asked = self.request_shutdown(by, member.name.as_str(), Some("the team is stopping"), now, ids)?;
                effects.extend(asked.into_iter().filter(|effect| !matches!(effect, Effect::Reply(_))));
            }
        }
        effects.push(Effect::Reply(Reply::Done));
        Ok(effects)
    }
}

fn with(words: Option<&str>) -> String {
    words.map(|text| format!(": {text}")).unwrap_or_default()
}
