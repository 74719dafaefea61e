//! Who is on the team: spawn, resume, interrupt.

use super::super::effect::{AgentInput, Effect, Mark, Phase, PlanGate, Timer};
use super::TeamCore;
use crate::collaboration;
use crate::domain::{
    Generation, Member, MemberName, MemberStatus, Party, Refusal, Reply, SpawnOrder, TaskStatus, TeamEvent, Timestamp, board, text,
};
use std::sync::Arc;
use std::time::Duration;

type Decision = Result<Vec<Effect>, Refusal>;

impl TeamCore {
    pub(super) fn spawn(&self, by: &Party, order: &SpawnOrder, now: Timestamp) -> Decision {
        self.check_steers(by, "spawn teammates")?;
        if self.stopping.is_some() {
            return Err(Refusal::Invalid("the team is stopping: nobody new starts".into()));
        }
        let name = MemberName::parse_teammate(order.name.trim())?;
        let old = self.members.iter().find(|m| m.name.same(name.as_str()));
        if let Some(old) = old {
            let free = old.name == name
                && matches!(
                    old.status,
                    MemberStatus::Shutdown | MemberStatus::Failed | MemberStatus::Interrupted | MemberStatus::Requested
                );
            if !free || self.is_live(&old.name) {
                return Err(Refusal::NameTaken { wanted: order.name.clone(), taken: old.name.clone(), status: old.status.spoken() });
            }
        }
        self.check_room()?;
        let member = self.new_member(&name, order, old);
        let mut effects = Vec::new();
        if let Some(old) = old {
            effects.extend(self.release_all_of(&old.name, "its owner was spawned anew", now));
            effects.extend(self.withdraw_all_of(&old.name, "the member was spawned anew"));
        }
        effects.extend(self.start_effects(&member, StartKind::Fresh, by, now));
        effects.push(Effect::Reply(Reply::Spawned(Member::clone(&member))));
        Ok(effects)
    }

    pub(super) fn check_room(&self) -> Result<(), Refusal> {
        self.check_room_for(1)
    }

    fn check_room_for(&self, more: usize) -> Result<(), Refusal> {
        let live = self.members.iter().filter(|m| self.is_live(&m.name)).count();
        if live + more > self.settings.max_members {
            return Err(Refusal::TeamFull { max: self.settings.max_members });
        }
        Ok(())
    }

    pub(super) fn new_member(&self, name: &MemberName, order: &SpawnOrder, old: Option<&Arc<Member>>) -> Arc<Member> {
        let role = text::one_line(&order.role, 200);
        let mut member = Member::new(name.clone(), if role.is_empty() { "teammate".to_owned() } else { role });
        // A record that waits to be taken up (`requested`) carries the generation it was promised. The requests remember
        // generations of a member that was taken off the roster.
        let next =
            old.map_or_else(Generation::default, |m| if m.status == MemberStatus::Requested { m.generation } else { m.generation.next() });
        let asked = self.requests.values().filter(|r| r.target == *name).map(|r| r.generation.next()).max();
        member.generation = asked.map_or(next, |asked| next.max(asked));
        member.model = order.model.clone().or_else(|| self.model_for(name.as_str(), &member.role));
        member.require_plan = order.require_plan;
        member.prompt = order.prompt.clone().filter(|p| !p.trim().is_empty());
        member.status = MemberStatus::Working;
        if let Some(old) = old {
            member.extra = old.extra.clone();
        }
        Arc::new(member)
    }

    /// The model that the settings name for a member or a role.
    pub(super) fn model_for(&self, name: &str, role: &str) -> Option<String> {
        self.settings.models.get(name).or_else(|| self.settings.models.get(role)).cloned()
    }

    /// Registered and saved first, started then: an agent that is not on the roster never runs. Its instruction is the
    /// first thing that it is told.
    pub(super) fn start_effects(&self, member: &Arc<Member>, kind: StartKind, by: &Party, now: Timestamp) -> Vec<Effect> {
        let name = member.name.clone();
        let why = match kind {
            StartKind::Fresh => format!("spawned by {by}"),
            StartKind::Resumed => "resumed".to_owned(),
        };
        let mut effects = vec![
            Effect::Emit(TeamEvent::MemberChanged { member: member.clone(), why: Some(why) }),
            Effect::SaveTeam,
            Effect::Start { member: member.clone(), resume: kind == StartKind::Resumed },
            Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Working }),
            Effect::Mark(Mark::Ending { name: name.clone(), reason: None }),
        ];
        let gate = if kind == StartKind::Fresh {
            if member.require_plan || (self.settings.require_plan && !name.is_lead()) { PlanGate::Required } else { PlanGate::Open }
        } else {
            self.gate_from_requests(member)
        };
        effects.push(Effect::Mark(Mark::Gate { name: name.clone(), gate }));
        let wall = self.settings.member_budget.seconds;
        if wall > 0 {
            effects.push(Effect::SetTimer { timer: Timer::WallTime(Some(name.clone())), at: now.plus(Duration::from_secs(wall)) });
        }
        // Where a protocol chooses who acts, the first instruction waits until it lets the member act.
        let waits = self.driven && (self.driving || by.is_lead());
        if let (StartKind::Fresh, Some(prompt), false) = (kind, &member.prompt, waits) {
            effects.push(Effect::Tell { name: name.clone(), input: AgentInput::Tell { text: prompt.clone(), cause: "prompt" } });
            effects.push(Effect::Mark(Mark::ReportsBack { name, yes: by.is_lead() }));
            effects.extend(self.work_begins());
        } else {
            // Nothing to do yet: the agent reports itself as resting, and then the inbox and the board are looked at.
            effects.push(Effect::Tell { name, input: AgentInput::Unread });
        }
        effects
    }

    /// What the plans on disk say that a resumed member may change.
    fn gate_from_requests(&self, member: &Member) -> PlanGate {
        use crate::domain::RequestState as S;
        let required = member.require_plan || (self.settings.require_plan && !member.name.is_lead());
        let last = self.last_plan(&member.name).filter(|r| r.generation == member.generation);
        match last.map(|r| (r.state, r.id.clone(), r.task)) {
            Some((S::Pending, id, _)) => PlanGate::Pending(id),
            Some((S::Rejected, id, _)) => PlanGate::Rejected(id),
            Some((S::Approved, request, task)) => PlanGate::Approved { request, task },
            Some((S::Withdrawn | S::Expired, ..)) | None if required => PlanGate::Required,
            Some((S::Withdrawn | S::Expired, ..)) | None => PlanGate::Open,
        }
    }

    pub(super) fn resume(&self, by: &Party, target: &str, now: Timestamp) -> Decision {
        self.check_steers(by, "resume members")?;
        if self.stopping.is_some() {
            return Err(Refusal::Invalid("the team is stopping: nobody starts again".into()));
        }
        let again = if target.trim().eq_ignore_ascii_case("all") {
            self.left_with_team()?
        } else {
            let member = self.find_member(target)?;
            if self.is_live(&member.name) {
                return Err(Refusal::Invalid(format!("{} is running: it is {}", member.name, member.status.spoken())));
            }
            vec![member]
        };
        self.check_room_for(again.len())?;
        let mut effects: Vec<Effect> = again.into_iter().flat_map(|member| self.start_again(member, now)).collect();
        effects.extend(self.work_given());
        effects.push(Effect::Reply(Reply::Done));
        Ok(effects)
    }

    /// Everybody who does not run because the app ended or the team was stopped.
    fn left_with_team(&self) -> Result<Vec<&Arc<Member>>, Refusal> {
        let left: Vec<_> = self.members.iter().filter(|m| m.left_with_team() && !self.is_live(&m.name)).collect();
        let nobody = || Refusal::Invalid("nobody is left to resume: members who shut down earlier are resumed one by one".into());
        if left.is_empty() { Err(nobody()) } else { Ok(left) }
    }

    /// Whether a member that the end of an app cut off is started by what comes for it: a verdict, or words of who steers.
    pub(super) fn may_start_again(&self, member: &Member) -> bool {
        let cut_off = member.status == MemberStatus::Interrupted && !self.is_live(&member.name);
        cut_off && self.stopping.is_none() && !self.settings.no_model && self.check_room().is_ok()
    }

    /// Starts a member that does not run, with its conversation and generation.
    pub(super) fn start_again(&self, member: &Arc<Member>, now: Timestamp) -> Vec<Effect> {
        let mut again = Member::clone(member);
        again.status = MemberStatus::Working;
        again.reason = None;
        let again = Arc::new(again);
        let mut effects = self.start_effects(&again, StartKind::Resumed, &Party::System, now);
        // Whose plan waits goes on by the verdict, not by its task.
        let waits = self.last_plan(&again.name).is_some_and(|r| r.is_pending() && r.generation == again.generation);
        let task = again.task.filter(|_| !waits).and_then(|id| self.board.get(id)).filter(|t| t.status == TaskStatus::InProgress).cloned();
        effects.push(Effect::Tell { name: again.name.clone(), input: AgentInput::GoOn { task } });
        // A verdict that was given but not taken in before the end; the agent drops it if its transcript has it.
        let decided = self.last_plan(&again.name).filter(|r| r.generation == again.generation && !r.is_pending());
        effects.extend(decided.map(|request| Effect::Tell { name: again.name.clone(), input: AgentInput::Verdict(request.clone()) }));
        effects
    }

    pub(super) fn interrupt(&self, by: &Party, target: &str) -> Decision {
        self.check_steers(by, "interrupt members")?;
        let member = self.find_member(target)?;
        if !self.is_live(&member.name) {
            return Err(Refusal::NotLive { name: member.name.clone(), status: member.status.spoken(), why: member.reason.clone() });
        }
        let mut effects = self.call(&member.name, AgentInput::Interrupt);
        effects.push(Effect::Reply(Reply::Done));
        effects.extend(self.withdraw_permissions(&member.name, "interrupted"));
        Ok(effects)
    }

    pub(super) fn withdraw_permissions(&self, name: &MemberName, reason: &str) -> Vec<Effect> {
        use crate::domain::{RequestKind, RequestState};
        let open = self.open_requests().filter(|r| r.target == *name && r.kind == RequestKind::Permission);
        open.flat_map(|request| self.close_request(request, RequestState::Withdrawn, reason)).collect()
    }

    pub(super) fn set_protocol(&self, by: &Party, name: &str) -> Decision {
        self.check_human(by, "change the protocol")?;
        let info = collaboration::describe(name).map_err(|error| Refusal::Invalid(error.to_string()))?;
        if self.anybody_busy() {
            return Err(Refusal::Invalid("members are at work: change the protocol when the team is idle".into()));
        }
        if self.driving {
            return Err(Refusal::Invalid("a run goes on: change the protocol when it has ended".into()));
        }
        Ok(vec![Effect::Emit(TeamEvent::ProtocolChanged { name: info.name.to_owned() }), Effect::SaveTeam, Effect::Reply(Reply::Done)])
    }

    /// Everybody at work in the run is interrupted; the run itself is ended by its driver.
    pub(super) fn end_run(&self, by: &Party) -> Decision {
        self.check_human(by, "end the run")?;
        if !self.driving {
            return Err(Refusal::Invalid(format!("no run goes on (the team works as {})", self.protocol)));
        }
        let mut effects = Vec::new();
        for member in self.members.iter().filter(|member| self.is_live(&member.name) && !self.is_resting(&member.name)) {
            effects.extend(self.call(&member.name, AgentInput::Interrupt));
            effects.extend(self.withdraw_permissions(&member.name, "the run was ended"));
        }
        effects.push(Effect::Reply(Reply::Done));
        Ok(effects)
    }

    /// Roster, open tasks and pending requests in words, for a conversation that starts without them.
    pub(super) fn brief(&self) -> String {
        let members: Vec<String> = self.members.iter().map(|m| format!("- {} ({}): {}", m.name, m.role, m.status.word())).collect();
        let open = self.board.iter().filter(|t| t.status != TaskStatus::Completed);
        let tasks: Vec<String> = open
            .take(200)
            .map(|task| {
                let owner = task.owner.as_ref().map(|o| format!(", {o}")).unwrap_or_default();
                let waits = self.board.blockers(task.id);
                let waits = if waits.is_empty() { String::new() } else { format!(", waits for {}", board::describe(&waits)) };
                format!("- {} {}{owner}{waits}", task.id, task.subject)
            })
            .collect();
        let requests: Vec<String> =
            self.open_requests().map(|r| format!("- {} {} of {}: {}", r.id, r.kind.word(), r.target, r.title)).collect();
        let part =
            |title: &str, lines: Vec<String>| if lines.is_empty() { String::new() } else { format!("{title}\n{}\n", lines.join("\n")) };
        part("Team:", members) + &part("Open tasks:", tasks) + &part("Requests without an answer:", requests)
    }
}

/// How an agent starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartKind {
    /// With an empty conversation.
    Fresh,
    /// With the conversation of its transcript.
    Resumed,
}
