//! Mail between members, the lead and the human.

use super::super::effect::{AgentInput, Closing, Effect, Ids, Mark};
use super::TeamCore;
use crate::domain::{Envelope, MemberName, MemberStatus, MessageKind, Party, Refusal, Reply, Request, TeamEvent, Timestamp};
use std::sync::Arc;

/// Longest message, in bytes: more belongs into a file.
const CONTENT_MAX: usize = 256 * 1024;

impl TeamCore {
    pub(super) fn send(&self, by: &Party, to: &str, content: &str, now: Timestamp, ids: &mut dyn Ids) -> Result<Vec<Effect>, Refusal> {
        check_content(content)?;
        if to.trim().eq_ignore_ascii_case("human") {
            let mut effects = self.deliver(Envelope::new(ids.message(), MessageKind::Message, by.clone(), "human", content, now));
            effects.push(Effect::Reply(Reply::Sent(Vec::new())));
            return Ok(effects);
        }
        let member = self.find_member(to)?;
        if by.member() == Some(&member.name) {
            return Err(Refusal::Invalid("that is yourself".into()));
        }
        let mut effects = self.deliver(Envelope::new(ids.message(), MessageKind::Message, by.clone(), member.name.as_str(), content, now));
        effects.extend(self.wake_for_mail(&member.name, by, now)?);
        effects.push(Effect::Reply(Reply::Sent(vec![member.name.clone()])));
        Ok(effects)
    }

    pub(super) fn broadcast(&self, by: &Party, content: &str, now: Timestamp, ids: &mut dyn Ids) -> Result<Vec<Effect>, Refusal> {
        check_content(content)?;
        self.check_steers(by, "write to everybody")?;
        let to: Vec<MemberName> =
            self.members.iter().filter(|m| self.is_live(&m.name) && by.member() != Some(&m.name)).map(|m| m.name.clone()).collect();
        let mut effects = Vec::new();
        for name in &to {
            effects.extend(self.deliver(Envelope::new(ids.message(), MessageKind::Broadcast, by.clone(), name.as_str(), content, now)));
            effects.extend(self.call(name, AgentInput::Mail));
        }
        effects.extend(self.work_given());
        effects.push(Effect::Reply(Reply::Sent(to)));
        Ok(effects)
    }

    /// Puts a message into an inbox and records it.
    pub(super) fn deliver(&self, message: Envelope) -> Vec<Effect> {
        let message = Arc::new(message);
        vec![Effect::Deliver(message.clone()), Effect::Emit(TeamEvent::MessageSent { message })]
    }

    /// A message from the runtime or a member to a member's inbox, with the nudge to read it.
    pub(super) fn post(&self, to: &MemberName, message: Envelope) -> Vec<Effect> {
        let mut effects = self.deliver(message);
        if self.is_live(to) {
            effects.extend(self.call(to, AgentInput::Mail));
        }
        effects
    }

    /// Wakes the receiver. A stopped member bounces (its mail would never be read). Writing to a lead that does not run
    /// starts it (the person has nobody else to talk to), and so do the words of the person or the lead to a member that
    /// the end of the app cut off; what teammates write to it waits until it is resumed.
    pub(super) fn wake_for_mail(&self, name: &MemberName, by: &Party, now: Timestamp) -> Result<Vec<Effect>, Refusal> {
        // Where the protocol chooses who acts and there is somebody to choose, the person's words are the goal of a run:
        // the lead reads them when it is asked to decide.
        let teammates = self.members.iter().any(|m| !m.name.is_lead() && self.is_live(&m.name));
        if self.driven && !self.driving && teammates && name.is_lead() && *by == Party::Human && self.is_live(name) {
            return Ok(self.work_given());
        }
        let member = self.member(name).ok_or_else(|| self.unknown(name.as_str()))?;
        let steers = *by == Party::Human || by.is_lead();
        let starts = (name.is_lead() && self.stopping.is_none()) || (steers && self.may_start_again(member));
        let mut effects = if self.is_live(name) {
            self.call(name, AgentInput::Mail)
        } else if starts {
            self.start_again(member, now)
        } else if matches!(member.status, MemberStatus::Interrupted | MemberStatus::Requested) {
            Vec::new()
        } else {
            return Err(Refusal::NotLive { name: name.clone(), status: member.status.spoken(), why: member.reason.clone() });
        };
        if !effects.is_empty() && (name.is_lead() || *by == Party::Human) {
            effects.extend(self.work_begins());
        }
        if !name.is_lead() && by.is_lead() {
            effects.push(Effect::Mark(Mark::ReportsBack { name: name.clone(), yes: true }));
        }
        Ok(effects)
    }

    /// Work was given: when it is done, the end is to be told.
    pub(super) fn work_given(&self) -> Vec<Effect> {
        if self.closing == Closing::Open { Vec::new() } else { vec![Effect::Mark(Mark::Closing(Closing::Open))] }
    }

    /// Work was given to somebody: a run begins.
    pub(super) fn work_begins(&self) -> Vec<Effect> {
        let mut effects = self.work_given();
        effects.push(Effect::Mark(Mark::RunOpened));
        effects
    }

    /// A message of the runtime's making.
    pub(super) fn envelope(
        &self,
        ids: &mut dyn Ids,
        kind: MessageKind,
        from: &Party,
        to: &str,
        content: String,
        now: Timestamp,
    ) -> Envelope {
        Envelope::new(ids.message(), kind, from.clone(), to, content, now)
    }

    /// Tells the asker of a request what came of it: by mail to the lead, or to the human's inbox.
    pub(super) fn tell_asker(
        &self,
        request: &Request,
        kind: MessageKind,
        content: String,
        now: Timestamp,
        ids: &mut dyn Ids,
    ) -> Vec<Effect> {
        let from = Party::Member(request.target.clone());
        match &request.asker {
            Party::Member(name) => self.post(name, self.envelope(ids, kind, &from, name.as_str(), content, now).about(request.id.clone())),
            Party::Human => self.deliver(self.envelope(ids, kind, &from, "human", content, now).about(request.id.clone())),
            Party::System | Party::Outside(_) => Vec::new(),
        }
    }
}

fn check_content(content: &str) -> Result<(), Refusal> {
    if content.trim().is_empty() {
        return Err(Refusal::Invalid("the message is empty".into()));
    }
    if content.len() > CONTENT_MAX {
        return Err(Refusal::Invalid(format!("a message has at most {} KiB: write a file and name it", CONTENT_MAX / 1024)));
    }
    Ok(())
}
