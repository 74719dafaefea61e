//! Permission: a member is about to run a command or to change a file. Same queue, same keys as plans.

use super::super::effect::{Effect, Ids, Mark};
use super::TeamCore;
use crate::domain::command::{Action, Intent};
use crate::domain::request::Verdict;
use crate::domain::{
    Activity, Extra, MemberName, MemberStatus, Party, Refusal, Reply, Request, RequestKind, RequestState, TeamEvent, Timestamp, text,
};
use crate::tool::policy::{PolicyDecision, decide};
use std::sync::Arc;

impl TeamCore {
    pub(super) fn authorize(&self, by: &Party, intent: &Intent, now: Timestamp, ids: &mut dyn Ids) -> Result<Vec<Effect>, Refusal> {
        let name = by.member().ok_or_else(|| Refusal::Invalid("only members run tools".into()))?;
        self.check_gate(name)?;
        if let Some(reason) = self.seat(name).and_then(|seat| seat.ending.as_ref()) {
            return Err(Refusal::Gate(format!("shutting down ({reason})")));
        }
        match decide(&self.settings.permissions, &self.session_rules, &intent.action) {
            PolicyDecision::Allow => Ok(vec![Effect::Reply(Reply::Authorized)]),
            PolicyDecision::Deny(reason) if self.settings.permissions.unattended => Ok(deny_unattended(name, intent, reason)),
            PolicyDecision::Deny(reason) => Err(Refusal::Denied(reason)),
            PolicyDecision::Ask { rule } => Ok(self.ask_permission(name, intent, rule, now, ids)),
        }
    }

    fn ask_permission(&self, name: &MemberName, intent: &Intent, rule: Option<String>, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let member = self.member(name);
        let request = Arc::new(Request {
            id: ids.request(),
            kind: RequestKind::Permission,
            asker: Party::Member(name.clone()),
            target: name.clone(),
            generation: member.map(|m| m.generation).unwrap_or_default(),
            title: text::one_line(&subject(&intent.action), 80),
            body: body(name, intent),
            task: member.and_then(|m| m.task),
            previous: None,
            rule,
            created: now,
            deadline: None,
            force: false,
            state: RequestState::Pending,
            answer: None,
            ended: None,
            extra: Extra::new(),
        });
        let mut effects =
            vec![Effect::CreateRequest(request.clone()), Effect::Emit(TeamEvent::RequestChanged { request: request.clone() })];
        effects.extend(self.waits_for_approval(name));
        let activity = Activity::Approval { request: request.id.clone(), request_kind: RequestKind::Permission, since: now };
        effects.push(Effect::Emit(TeamEvent::ActivityChanged { name: name.clone(), activity }));
        effects.push(Effect::Defer(request.id.clone()));
        effects
    }

    /// Shown as waiting for an answer, unless it is shown as stopping.
    pub(super) fn waits_for_approval(&self, name: &MemberName) -> Vec<Effect> {
        if self.is_stopping(name, None) { Vec::new() } else { self.set_status(name, MemberStatus::WaitingApproval, None) }
    }

    pub(super) fn permission_answered(&self, answered: Request) -> Vec<Effect> {
        let id = answered.id.clone();
        let name = answered.target.clone();
        let mut effects = self.save_answer(answered.clone());
        let result = match answered.answer.map(|a| a.verdict) {
            Some(Verdict::Approve { always, .. }) => {
                if let (true, Some(rule)) = (always, answered.rule) {
                    effects.push(Effect::Mark(Mark::SessionRule(rule)));
                }
                Ok(Reply::Authorized)
            }
            Some(Verdict::Reject { feedback }) => Err(Refusal::Denied(feedback.unwrap_or_else(|| "the person said no".into()))),
            None => Err(Refusal::Denied("the request has ended".into())),
        };
        effects.extend(self.set_status(&name, self.status_at_work(&name, Some(&id)), None));
        effects.push(Effect::Settle { id, result });
        effects
    }
}

fn subject(action: &Action) -> String {
    match action {
        Action::Command { command, .. } => text::visible(command).into_owned(),
        Action::Write { path } => format!("change {}", text::visible(path)),
    }
}

/// What is decided on: the words themselves with nothing in them that cannot be seen, then who, where, and what they lead to.
fn body(who: &MemberName, intent: &Intent) -> String {
    let mut lines = match &intent.action {
        Action::Command { command, cwd } => {
            vec![text::visible(command).into_owned(), String::new(), format!("in {}", text::visible(cwd))]
        }
        Action::Write { path } => vec![format!("{} changes {}", intent.tool, text::visible(path)), String::new()],
    };
    lines.push(format!("by {who} with the tool {}", intent.tool));
    lines.extend(intent.resolved.iter().map(|line| text::visible(&line.replace('\n', " ⟨U+000A⟩ ")).into_owned()));
    let odd: String = written(&intent.action).chars().filter(|c| !c.is_ascii() && c.is_alphabetic()).take(8).collect();
    if !odd.is_empty() {
        lines.push(format!("look twice: letters that are not ASCII: {odd}"));
    }
    lines.join("\n")
}

fn written(action: &Action) -> &str {
    match action {
        Action::Command { command, .. } => command,
        Action::Write { path } => path,
    }
}

/// Nobody is there to answer: denied and listed, never waited for.
fn deny_unattended(name: &MemberName, intent: &Intent, reason: String) -> Vec<Effect> {
    let what = format!("{}: {} ({reason})", intent.tool, text::one_line(&subject(&intent.action), 200));
    vec![Effect::Emit(TeamEvent::Denied { name: name.clone(), what }), Effect::Refuse(Refusal::Denied(reason))]
}
