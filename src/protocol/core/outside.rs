//! What other processes did to the files: a second screen, the command line, an editor. Checked by the same rules.

use super::super::effect::{AgentInput, Effect, Ids, Mark, Outside};
use super::TeamCore;
use super::board::changed;
use super::members::StartKind;
use crate::domain::event::{NoticeLevel, TaskChange};
use crate::domain::text::one_line;
use crate::domain::{
    Envelope, Member, MemberName, MemberStatus, MessageKind, Party, Refusal, Request, RequestKind, RequestState, SpawnOrder, Task, TaskId,
    TaskStatus, TeamConfig, TeamEvent, Timestamp,
};
use std::sync::Arc;

/// The longest notice about an entry that cannot be read, in characters.
const UNREAD_MAX: usize = 300;

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
            effects.extend(self.given_by_file(owner, task));
        }
        if change != TaskChange::Edited {
            effects.extend(self.work_given());
        }
        if let Some(old) = old.filter(|old| task.status != old.status || task.owner != old.owner) {
            effects.extend(self.plan_lost_task(old, "was changed from outside"));
        }
        effects
    }

    /// A file gave a member a task: it takes it up as if it had claimed it, unless it has one already (then the new one
    /// goes back when the state settles).
    fn given_by_file(&self, owner: &MemberName, task: &Arc<Task>) -> Vec<Effect> {
        if self.board.in_progress_of(owner).next().is_some() {
            return Vec::new();
        }
        let mut effects = self.set_task(owner, Some(task.id));
        if self.is_live(owner) {
            effects.push(Effect::Mark(Mark::Gate { name: owner.clone(), gate: self.gate_for_task(owner, task.id) }));
            effects.push(Effect::Mark(Mark::Nudged { name: owner.clone(), task: None }));
            effects.extend(self.call(owner, AgentInput::Claimed(task.clone())));
        }
        effects
    }

    fn outside_task_gone(&self, id: TaskId) -> Vec<Effect> {
        let Some(task) = self.board.get(id) else { return Vec::new() };
        let by = Party::Outside("outside".into());
        let mut effects = vec![Effect::Emit(TeamEvent::TaskRemoved { id, by: by.clone() })];
        effects.extend(self.owner_lost_task(task, &by, "was deleted"));
        effects.extend(self.plan_lost_task(task, "was deleted"));
        effects
    }

    /// A request's file was written. An answer in it counts only if the person gave it (members answer in here), on the
    /// text that is known, to a request that is still open. Whatever else stands in the file is written over: an asked
    /// question does not change.
    fn outside_request(&self, seen: &Arc<Request>, now: Timestamp, ids: &mut dyn Ids) -> Vec<Effect> {
        let Some(known) = self.requests.get(&seen.id) else { return self.outside_new_request(seen, now) };
        if known == seen {
            return Vec::new();
        }
        if seen.force && !known.force && seen.answer.is_none() && known.kind == RequestKind::Shutdown && known.is_pending() {
            return self.forced_by_file(known, seen, now);
        }
        let Some(answer) = seen.answer.as_ref().filter(|_| known.is_pending()) else { return vec![Effect::SaveRequest(known.clone())] };
        let taken = if answer.by == Party::Human {
            known.answered(&answer.by, answer.verdict.clone(), &answer.digest, self.settings.plan_reviewer, now)
        } else {
            Err(Refusal::NotYours { id: known.id.clone(), by: answer.by.clone(), kind: known.kind })
        };
        match taken {
            Ok(answered) => self.answer_effects(known, Request { answer: Some(answer.clone()), ..answered }, now, ids),
            Err(refusal) => {
                let text = format!("an answer written from outside was not taken: {refusal}");
                vec![warning(text, Some(&known.target)), Effect::SaveRequest(known.clone())]
            }
        }
    }

    /// The person wants an open shutdown to happen now: the other screen marks the request it finds.
    fn forced_by_file(&self, known: &Request, seen: &Arc<Request>, now: Timestamp) -> Vec<Effect> {
        let forced = Arc::new(Request { force: true, ..known.clone() });
        let mut effects = Vec::new();
        if forced != *seen {
            effects.push(Effect::SaveRequest(forced.clone()));
        }
        effects.push(Effect::Emit(TeamEvent::RequestChanged { request: forced }));
        effects.extend(self.kill(&known.target, "stopped by human", now));
        effects
    }

    /// Only the person's shutdown requests come from outside; everything else is asked by members, who are in here.
    fn outside_new_request(&self, seen: &Arc<Request>, now: Timestamp) -> Vec<Effect> {
        let fits = seen.kind == RequestKind::Shutdown && seen.asker == Party::Human && !seen.target.is_lead();
        if !seen.is_pending() {
            return Vec::new();
        }
        let Some(member) = self.member(&seen.target).filter(|_| fits) else {
            let text = format!("a {} request written from outside was not taken: only the person's shutdowns are", seen.kind.word());
            let closed = seen.closed(RequestState::Withdrawn, text.clone());
            let saved = closed.map(|request| Effect::SaveRequest(Arc::new(request)));
            return std::iter::once(warning(text, None)).chain(saved).collect();
        };
        let mut effects = vec![Effect::Emit(TeamEvent::RequestChanged { request: seen.clone() })];
        if !self.is_live(&member.name) || member.generation != seen.generation {
            effects.extend(self.close_request(seen, RequestState::Withdrawn, "the member does not run"));
        } else if seen.force {
            effects.extend(self.kill(&member.name, "stopped by human", now));
        } else {
            effects.extend(self.begin_stopping(seen, now));
            if !self.is_resting(&member.name) {
                effects.push(Effect::Tell { name: member.name.clone(), input: AgentInput::Mail });
            }
        }
        effects
    }

    fn outside_mail(&self, name: &MemberName, messages: &[Arc<Envelope>], now: Timestamp) -> Vec<Effect> {
        let mut effects: Vec<Effect> =
            messages.iter().map(|message| Effect::Emit(TeamEvent::MessageSent { message: message.clone() })).collect();
        // A shutdown request has its own file, which decides; its letter alone wakes nobody.
        if messages.iter().all(|m| m.kind == MessageKind::ShutdownRequest) && self.is_resting(name) {
            return effects;
        }
        let by = messages.last().map_or(Party::System, |m| m.from.clone());
        effects.extend(self.wake_for_mail(name, &by, now).unwrap_or_default());
        effects
    }

    /// The team's file was written: requested members start, words of others are taken over, removed ones go unless they run.
    fn outside_team(&self, team: &TeamConfig, now: Timestamp) -> Vec<Effect> {
        let mut effects = vec![Effect::Mark(Mark::TeamExtra { extra: team.extra.clone(), unread: team.unread.clone() })];
        if team.unread != self.unread {
            effects.extend(team.unread_reasons().map(|why| warning(one_line(&format!("team/config.json: {why}"), UNREAD_MAX), None)));
        }
        for (at, seen) in team.members.iter().enumerate() {
            if team.members[..at].iter().any(|earlier| earlier.name.same(seen.name.as_str())) {
                continue;
            }
            effects.extend(self.outside_member(seen));
        }
        for member in &self.members {
            let kept = team.members.iter().any(|seen| seen.name == member.name) || team.is_unread(member.name.as_str());
            if !kept && !self.runs_or_starts(member) && !member.name.is_lead() {
                effects.extend(self.release_all_of(&member.name, "released: its owner was taken off the team", now));
                effects.extend(self.withdraw_all_of(&member.name, "the member was taken off the team"));
                effects.push(Effect::Emit(TeamEvent::MemberRemoved { name: member.name.clone() }));
            }
        }
        effects
    }

    /// A member that is about to start shows as running before its agent does: its start saves the team's file, and what
    /// another process wrote there comes in just then.
    fn runs_or_starts(&self, member: &Member) -> bool {
        self.is_live(&member.name) || member.status.is_live()
    }

    fn outside_member(&self, seen: &Member) -> Vec<Effect> {
        let known = self.member(&seen.name);
        if known.is_none()
            && let Some(taken) = self.members.iter().find(|m| m.name.same(seen.name.as_str()))
        {
            return vec![warning(
                format!("the team's file names {}, but that name is taken by {}", seen.name, taken.name),
                Some(&taken.name),
            )];
        }
        if seen.status == MemberStatus::Requested && !known.is_some_and(|known| self.runs_or_starts(known)) {
            return self.register_requested(seen, known);
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

    /// Puts a member on the roster that another process asked for; [`TeamCore::settle`] starts it. The same generation
    /// means: again, with its conversation.
    fn register_requested(&self, seen: &Member, known: Option<&Arc<Member>>) -> Vec<Effect> {
        let resumed = known.filter(|known| known.generation == seen.generation || known.name.is_lead());
        let mut member = match resumed {
            Some(known) => Member::clone(known),
            None => {
                let order = SpawnOrder {
                    name: seen.name.to_string(),
                    role: seen.role.clone(),
                    prompt: seen.prompt.clone(),
                    require_plan: seen.require_plan,
                    model: seen.model.clone(),
                };
                Member::clone(&self.new_member(&seen.name, &order, known))
            }
        };
        member.status = MemberStatus::Requested;
        member.reason = None;
        let why = Some("asked for from another screen".to_owned());
        vec![
            Effect::Emit(TeamEvent::MemberChanged { member: Arc::new(member), why }),
            Effect::Mark(Mark::Requested { name: seen.name.clone(), resume: resumed.is_some() }),
        ]
    }

    /// Starts the next member that another process asked for, as if the person had asked here. One at a time: each start
    /// sees what the one before it left of the team's room.
    pub(super) fn settle_requested(&self, now: Timestamp) -> Vec<Effect> {
        let waits = |m: &&Arc<Member>| m.status == MemberStatus::Requested && !self.is_live(&m.name);
        let Some(member) = self.members.iter().find(waits) else { return Vec::new() };
        let refused = match &self.stopping {
            Some(_) => Some("the team is stopping: nobody new starts".to_owned()),
            None => self.check_room().err().map(|refusal| refusal.to_string()),
        };
        if let Some(why) = refused {
            return self.set_status(&member.name, MemberStatus::Failed, Some(why));
        }
        let resumes = self.seat(&member.name).is_some_and(|seat| seat.resumes);
        let mut effects = vec![Effect::Mark(Mark::Requested { name: member.name.clone(), resume: false })];
        if resumes {
            effects.extend(self.start_again(member, now));
            effects.extend(self.work_given());
        } else {
            effects.extend(self.release_all_of(&member.name, "its owner was spawned anew", now));
            effects.extend(self.withdraw_all_of(&member.name, "the member was spawned anew"));
            let fresh = Arc::new(Member { status: MemberStatus::Working, ..Member::clone(member) });
            effects.extend(self.start_effects(&fresh, StartKind::Fresh, &Party::Human, now));
        }
        effects
    }
}

fn warning(text: String, name: Option<&MemberName>) -> Effect {
    Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: name.cloned() })
}
