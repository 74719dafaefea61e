//! What other processes did to the files: a second screen, the command line, an editor. Checked by the same rules.

use super::super::effect::{AgentInput, Effect, Ids, Mark, Outside};
use super::TeamCore;
use super::board::changed;
use crate::domain::event::{NoticeLevel, TaskChange};
use crate::domain::{
    Envelope, Member, MemberName, MemberStatus, Party, Request, RequestKind, RequestState, SpawnOrder, Task, TaskId, TaskStatus,
    TeamConfig, TeamEvent, Timestamp,
};
use std::sync::Arc;

impl TeamCore {
    pub(super) fn outside(&self, outside: &Outside, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        match outside {
            Outside::Task(task) => self.outside_task(task),
            Outside::TaskGone(id) => self.outside_task_gone(*id),
            Outside::Request(request) => self.outside_request(request, now, ids),
            Outside::Team(team) => self.outside_team(team, now),
            Outside::Mail(name, messages) => self.outside_mail(name, messages, now),
        }
    }

    fn outside_task(&self, task: &Arc<Task>) -> Vec<Effect> {
        let old = self.board.get(task.id);
        if old == Some(task) {
            return Vec::new();
        }
        let by = task.notes.last().map_or(Party::Outside("outside".into()), |note| note.by.clone());
        let change = match old {
            None => TaskChange::Created,
            Some(old) if old.status == task.status && old.owner == task.owner => TaskChange::Edited,
            Some(_) => match task.status {
                TaskStatus::Completed => TaskChange::Completed,
                TaskStatus::InProgress => TaskChange::Claimed,
                TaskStatus::Pending => TaskChange::Released,
            },
        };
        let mut effects = vec![changed(task, change, &by)];
        if let Some(old) = old.filter(|old| old.status == TaskStatus::InProgress && (task.status != old.status || task.owner != old.owner))
        {
            let what = if task.status == TaskStatus::Completed { "was completed" } else { "was taken from you" };
            effects.extend(self.owner_lost_task(old, &by, what));
        }
        if let (TaskStatus::InProgress, Some(owner)) = (task.status, &task.owner) {
            effects.extend(self.set_task(owner, Some(task.id)));
        }
        if change != TaskChange::Edited {
            effects.extend(self.work_given());
        }
        effects
    }

    fn outside_task_gone(&self, id: TaskId) -> Vec<Effect> {
        let Some(task) = self.board.get(id) else { return Vec::new() };
        let by = Party::Outside("outside".into());
        let mut effects = vec![Effect::Emit(TeamEvent::TaskRemoved { id, by: by.clone() })];
        effects.extend(self.owner_lost_task(task, &by, "was deleted"));
        effects
    }

    /// A request's file was written. An answer in it counts only if it would have counted here: the right party, the text
    /// that is known, a request that is still open.
    fn outside_request(&self, seen: &Arc<Request>, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let Some(known) = self.requests.get(&seen.id) else { return self.outside_new_request(seen, now) };
        if known == seen {
            return Vec::new();
        }
        if !known.is_pending() {
            return vec![Effect::SaveRequest(known.clone())];
        }
        match &seen.answer {
            None if seen.is_pending() && known.kind == RequestKind::Plan => {
                let request = Arc::new(Request { body: seen.body.clone(), title: seen.title.clone(), ..Request::clone(known) });
                vec![Effect::Emit(TeamEvent::RequestChanged { request })]
            }
            None => Vec::new(),
            Some(answer) => match known.answered(&answer.by, answer.verdict.clone(), &answer.digest, self.settings.plan_reviewer, now) {
                Ok(answered) => self.answer_effects(known, Request { answer: Some(answer.clone()), ..answered }, now, ids),
                Err(refusal) => {
                    let text = format!("an answer written from outside was not taken: {refusal}");
                    let notice = TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: Some(known.target.clone()) };
                    vec![Effect::Emit(notice), Effect::SaveRequest(known.clone())]
                }
            },
        }
    }

    /// Only the person's shutdown requests come from outside; everything else is asked by members, who are in here.
    fn outside_new_request(&self, seen: &Arc<Request>, now: Timestamp) -> Vec<Effect> {
        let fits = seen.kind == RequestKind::Shutdown && seen.asker == Party::Human && seen.is_pending() && !seen.target.is_lead();
        let Some(member) = self.member(&seen.target).filter(|_| fits) else { return Vec::new() };
        let mut effects = vec![Effect::Emit(TeamEvent::RequestChanged { request: seen.clone() })];
        if !self.is_live(&member.name) {
            effects.extend(self.close_request(seen, RequestState::Withdrawn, "the member does not run"));
        } else if seen.force {
            effects.extend(self.kill(&member.name, "stopped by human", now));
        } else {
            if !self.is_resting(&member.name) {
                effects.push(Effect::Tell { name: member.name.clone(), input: AgentInput::Mail });
            }
            effects.extend(self.begin_stopping(seen, now));
        }
        effects
    }

    fn outside_mail(&self, name: &MemberName, messages: &[Arc<Envelope>], now: Timestamp) -> Vec<Effect> {
        let mut effects: Vec<Effect> =
            messages.iter().map(|message| Effect::Emit(TeamEvent::MessageSent { message: message.clone() })).collect();
        let by = messages.last().map_or(Party::System, |m| m.from.clone());
        effects.extend(self.wake_for_mail(name, &by, now).unwrap_or_default());
        effects
    }

    /// The team's file was written: requested members start, words of others are taken over, removed ones go unless they run.
    fn outside_team(&self, team: &TeamConfig, now: Timestamp) -> Vec<Effect> {
        let mut effects = vec![Effect::Mark(Mark::TeamExtra(team.extra.clone()))];
        for seen in &team.members {
            effects.extend(self.outside_member(seen, now));
        }
        for member in &self.members {
            let kept = team.members.iter().any(|seen| seen.name == member.name);
            if !kept && !self.is_live(&member.name) && !member.name.is_lead() {
                effects.push(Effect::Emit(TeamEvent::MemberRemoved { name: member.name.clone() }));
            }
        }
        effects
    }

    fn outside_member(&self, seen: &Member, now: Timestamp) -> Vec<Effect> {
        let known = self.member(&seen.name);
        if seen.status == MemberStatus::Requested && !self.is_live(&seen.name) {
            return match known {
                Some(known) if known.generation == seen.generation => self.start_again(known, "resumed", now),
                Some(_) | None => self.spawn_requested(seen, now),
            };
        }
        let mut member = match known {
            Some(known) => Member::clone(known),
            None => Member { status: if seen.status.is_live() { MemberStatus::Interrupted } else { seen.status }, ..seen.clone() },
        };
        member.role.clone_from(&seen.role);
        member.model.clone_from(&seen.model);
        member.require_plan = seen.require_plan;
        member.extra.clone_from(&seen.extra);
        if known.is_some_and(|known| **known == member) {
            return Vec::new();
        }
        vec![Effect::Emit(TeamEvent::MemberChanged { member: Arc::new(member), why: Some("edited from outside".into()) })]
    }

    /// Starts a member that another process asked for, as if the human had asked here.
    pub(super) fn spawn_requested(&self, seen: &Member, now: Timestamp) -> Vec<Effect> {
        let order = SpawnOrder {
            name: seen.name.to_string(),
            role: seen.role.clone(),
            prompt: seen.prompt.clone(),
            require_plan: seen.require_plan,
            model: seen.model.clone(),
        };
        match self.spawn(&Party::Human, &order, now) {
            Ok(effects) => effects.into_iter().filter(|effect| !matches!(effect, Effect::Reply(_))).collect(),
            Err(refusal) => {
                let mut member = seen.clone();
                member.status = MemberStatus::Failed;
                member.reason = Some(refusal.to_string());
                vec![Effect::Emit(TeamEvent::MemberChanged { member: Arc::new(member), why: Some(refusal.to_string()) })]
            }
        }
    }
}
