//! The team core: who is on the team, what is on the board, which requests are open, and what follows from an input.
//!
//! [`TeamCore::decide`] looks and answers with effects; [`TeamCore::apply`] and [`TeamCore::mark`] change the state when
//! an effect was carried out. [`TeamCore::settle`] names the next consequence of the state as it stands (an idle member
//! claims, an idle member's shutdown is answered, a finished board wakes the lead), one at a time, until nothing follows.

mod apply;
mod board;
mod debug;
mod finish;
mod look;
mod mail;
mod members;
mod open;
mod outside;
mod permission;
mod plan;
mod repair;
mod reports;
mod shutdown;
mod spending;
mod timers;

pub use open::Loaded;

use super::effect::{AgentInput, Closing, Effect, Ids, Input, Mark, MemberPatch, Phase, PlanGate};
use crate::collaboration;
use crate::domain::settings::TeamSettings;
use crate::domain::usage::Spend;
use crate::domain::{
    Activity, Board, Extra, Member, MemberName, MemberStatus, Party, Refusal, Reply, Request, RequestId, TaskId, TeamCommand, TeamConfig,
    TeamEvent, Timestamp,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What the core knows of a member beside its record.
#[derive(Clone, Default)]
struct Seat {
    activity: Activity,
    phase: Phase,
    in_turn: bool,
    gate: PlanGate,
    nudged: Option<TaskId>,
    ending: Option<String>,
    killed: bool,
    resumes: bool,
    reports_back: bool,
    spend: Spend,
    order: usize,
}

/// The state of a team.
#[derive(Clone)]
pub struct TeamCore {
    settings: TeamSettings,
    name: String,
    protocol: String,
    protocol_config: collaboration::ProtocolConfig,
    extra: Extra,
    unread: Vec<serde_json::Value>,
    members: Vec<Arc<Member>>,
    seats: HashMap<MemberName, Seat>,
    resting: BTreeSet<(usize, MemberName)>,
    board: Board,
    /// The highest number that a file which cannot be read has; 0 = none.
    taken: u64,
    requests: HashMap<RequestId, Arc<Request>>,
    pending: Vec<RequestId>,
    plans: HashMap<MemberName, RequestId>,
    session_rules: Vec<String>,
    spend: Spend,
    closing: Closing,
    stopping: Option<String>,
    summed_up: bool,
    claims: bool,
    driven: bool,
    driving: bool,
    ended: bool,
}

impl TeamCore {
    /// What follows from an input. Changes nothing.
    pub fn decide(&self, input: &Input, now: Timestamp, ids: &mut dyn Ids) -> Result<Vec<Effect>, Refusal> {
        match input {
            Input::Command { by, command } => self.command(by, command, now, ids),
            Input::Report { name, generation, report } => Ok(self.report(name, *generation, report, now, ids)),
            Input::Outside(outside) => Ok(self.outside(outside, now, ids)),
            Input::Fired(timer) => Ok(self.fired(timer, now)),
        }
    }

    fn command(&self, by: &Party, command: &TeamCommand, now: Timestamp, ids: &mut dyn Ids) -> Result<Vec<Effect>, Refusal> {
        self.check_party(by)?;
        match command {
            TeamCommand::CreateTask { subject, description, blocked_by } => self.create_task(by, subject, description, blocked_by, now),
            TeamCommand::ClaimTask { task } => self.claim_task(by, *task, now),
            TeamCommand::CompleteTask { task } => self.complete_task(by, *task, now),
            TeamCommand::ReleaseTask { task, note } => self.release_task(by, *task, note.as_deref(), now),
            TeamCommand::DeleteTask { task } => self.delete_task(by, *task),
            TeamCommand::EditBlockers { task, add, remove } => self.edit_blockers(by, *task, add, remove, now),
            TeamCommand::EditTask { task, subject, description } => {
                self.edit_task(by, *task, subject.as_deref(), description.as_deref(), now)
            }
            TeamCommand::RepairTask { task } => self.repair_task(by, *task, now),
            TeamCommand::GetTask { task } => Ok(vec![Effect::Reply(Reply::Task(self.board.find(*task)?.clone()))]),
            TeamCommand::ListTasks => Ok(vec![Effect::Reply(Reply::Tasks(self.board.iter().cloned().collect()))]),
            TeamCommand::ListMembers => Ok(vec![Effect::Reply(Reply::Members(self.roster()))]),
            TeamCommand::UseProtocolTool { tool, .. } => {
                Err(Refusal::Invalid(format!("{tool} belongs to a protocol that is not running now")))
            }
            TeamCommand::Brief => Ok(vec![Effect::Reply(Reply::Said(self.brief()))]),
            TeamCommand::Send { to, content } => self.send(by, to, content, now, ids),
            TeamCommand::Broadcast { content } => self.broadcast(by, content, now, ids),
            TeamCommand::RequestShutdown { target, reason } => self.request_shutdown(by, target, reason.as_deref(), now, ids),
            TeamCommand::ForceStop { target } => self.force_stop(by, target, now),
            TeamCommand::Answer { id, verdict, shown } => self.answer(by, id, verdict, shown, now, ids),
            TeamCommand::SubmitPlan { plan } => self.submit_plan(by, plan, now, ids),
            TeamCommand::Authorize(intent) => self.authorize(by, intent, now, ids),
            TeamCommand::GetRequest { id } => Ok(vec![Effect::Reply(Reply::Request(self.find_request(id)?.clone()))]),
            TeamCommand::Spawn(order) => self.spawn(by, order, now),
            TeamCommand::Resume { target } => self.resume(by, target, now),
            TeamCommand::Interrupt { target } => self.interrupt(by, target),
            TeamCommand::SetPlanMode { mode } => self.set_plan_mode(by, *mode),
            TeamCommand::SetProtocol { name } => self.set_protocol(by, name),
            TeamCommand::EndRun => self.end_run(by),
            TeamCommand::StopTeam { now: at_once } => self.stop_team(by, *at_once, now, ids),
        }
    }

    /// The team's configuration as it should be on disk.
    pub fn team_config(&self) -> TeamConfig {
        TeamConfig {
            team_name: self.name.clone(),
            protocol: self.protocol.clone(),
            members: self.members.iter().map(|m| Member::clone(m)).collect(),
            unread: self.unread.clone(),
            extra: self.extra.clone(),
        }
    }

    /// Tells a member something to work on. One that rests counts as at work from then on, so that nothing is concluded
    /// from its rest before it has taken it in.
    fn call(&self, name: &MemberName, input: AgentInput) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.is_resting(name) {
            effects.push(Effect::Mark(Mark::Phase { name: name.clone(), phase: Phase::Called }));
        }
        effects.push(Effect::Tell { name: name.clone(), input });
        effects
    }

    fn set_status(&self, name: &MemberName, status: MemberStatus, why: Option<String>) -> Vec<Effect> {
        vec![Effect::Patch { name: name.clone(), patch: MemberPatch::Status(status, why) }]
    }

    fn set_task(&self, name: &MemberName, task: Option<TaskId>) -> Vec<Effect> {
        vec![Effect::Patch { name: name.clone(), patch: MemberPatch::Task(task) }]
    }

    /// The fact that a patch makes of a member's record as it is now; `None` when it changes nothing.
    pub fn patched(&self, name: &MemberName, patch: &MemberPatch) -> Option<TeamEvent> {
        let old = self.member(name)?;
        let mut member = Member::clone(old);
        let why = match patch {
            MemberPatch::Status(status, why) => {
                member.status = *status;
                member.reason.clone_from(why);
                why.clone()
            }
            MemberPatch::Task(task) => {
                member.task = *task;
                None
            }
        };
        (member != **old).then(|| TeamEvent::MemberChanged { member: Arc::new(member), why })
    }

    /// Whether members of a team with this protocol claim ready tasks by themselves, and whether it chooses who acts.
    fn rules_of(protocol: &str, config: &collaboration::ProtocolConfig) -> (bool, bool) {
        let built = collaboration::build(protocol, config.clone());
        built.map_or((false, false), |p| (p.members_claim_by_themselves(), p.is_driven()))
    }

    /// Tells the core how protocols are set up: with a graph of one's own, `none` chooses who acts.
    pub fn configure(&mut self, config: collaboration::ProtocolConfig) {
        self.protocol_config = config;
        (self.claims, self.driven) = Self::rules_of(&self.protocol, &self.protocol_config);
    }
}
