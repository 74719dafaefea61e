//! From the files to a core: nobody is "working" after a start, interrupted work is marked, open plans stay open.

use super::super::effect::{Effect, Timer};
use super::members::StartKind;
use super::{Seat, TeamCore};
use crate::domain::event::NoticeLevel;
use crate::domain::member::{LEFT_WAITING, RESTED};
use crate::domain::settings::TeamSettings;
use crate::domain::{
    Board, Member, MemberName, MemberStatus, Party, Request, RequestKind, RequestState, Task, TaskStatus, TeamConfig, TeamEvent, Timestamp,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// What the store held.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// `None` in a fresh workspace.
    pub team: Option<TeamConfig>,
    /// All tasks that could be read.
    pub tasks: Vec<Task>,
    /// All requests that could be read.
    pub requests: Vec<Request>,
    /// The lead's conversation was cut off in the middle, or mail of its team waits for it.
    pub lead_has_work: bool,
    /// Teammates whose conversation was cut off in the middle, whatever their status in the file says.
    pub cut_off: BTreeSet<MemberName>,
    /// Teammates to whom the person wrote while nobody ran the team.
    pub called: BTreeSet<MemberName>,
}

impl TeamCore {
    /// A core over what is on disk, with the effects that bring the files and the agents to where the core is.
    pub fn open(settings: TeamSettings, loaded: Loaded, now: Timestamp) -> (Self, Vec<Effect>) {
        let fresh = loaded.team.is_none();
        let mut team = loaded.team.unwrap_or_default();
        if fresh && !settings.name.is_empty() {
            team.team_name.clone_from(&settings.name);
        }
        if fresh {
            team.protocol.clone_from(&settings.protocol);
        }
        let mut core = Self::empty(settings, &team);
        for task in loaded.tasks {
            core.board.insert(Arc::new(task));
        }
        let mut requests = loaded.requests;
        requests.sort_by_key(|r| (r.created, r.id.clone()));
        for request in requests {
            core.apply(&TeamEvent::RequestChanged { request: Arc::new(request) });
        }
        let doubles = core.take_members(team.members, &loaded.cut_off);
        let mut effects = core.opening(now, loaded.lead_has_work, &loaded.called);
        if !doubles.is_empty() {
            let text = format!("the team's file names some members twice, ignoring case; left out: {}", doubles.join(", "));
            effects.push(Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: None }));
        }
        (core, effects)
    }

    fn empty(settings: TeamSettings, team: &TeamConfig) -> Self {
        let protocol_config = crate::collaboration::ProtocolConfig::default();
        let (claims, driven) = Self::rules_of(&team.protocol, &protocol_config);
        Self {
            settings,
            name: team.team_name.clone(),
            protocol: team.protocol.clone(),
            protocol_config,
            extra: team.extra.clone(),
            unread: team.unread.clone(),
            members: Vec::new(),
            seats: HashMap::new(),
            resting: BTreeSet::new(),
            board: Board::default(),
            taken: 0,
            requests: HashMap::new(),
            pending: Vec::new(),
            plans: HashMap::new(),
            session_rules: Vec::new(),
            spend: crate::domain::usage::Spend::default(),
            closing: super::Closing::Quiet,
            stopping: None,
            summed_up: true,
            claims,
            driven,
            driving: false,
            ended: true,
        }
    }

    /// Takes the members over: the lead first, the live ones as interrupted, each with the task that the board says it holds.
    /// Returns the names that were left out, because they are taken already, perhaps in another case.
    fn take_members(&mut self, members: Vec<Member>, cut_off: &BTreeSet<MemberName>) -> Vec<String> {
        let lead = members.iter().find(|m| m.name.is_lead()).cloned().unwrap_or_else(|| Member::new(MemberName::lead(), "lead"));
        let rest = members.into_iter().filter(|m| !m.name.is_lead());
        let held: HashMap<MemberName, crate::domain::TaskId> = self
            .board
            .iter()
            .filter(|task| task.status == TaskStatus::InProgress)
            .filter_map(|task| task.owner.clone().map(|owner| (owner, task.id)))
            .collect();
        let mut doubles = Vec::new();
        for mut member in std::iter::once(lead).chain(rest) {
            if self.members.iter().any(|known| known.name.same(member.name.as_str())) {
                doubles.push(member.name.to_string());
                continue;
            }
            member.task = held.get(&member.name).copied();
            if member.status.is_live() {
                let in_work = member.name.is_lead() || member.task.is_some() || cut_off.contains(&member.name);
                let rested = member.status == MemberStatus::Idle && !in_work;
                let reason = match self.last_plan(&member.name) {
                    Some(plan) if plan.is_pending() && plan.generation == member.generation => LEFT_WAITING,
                    _ if rested => RESTED,
                    _ => "the app ended while it was at work",
                };
                member.status = MemberStatus::Interrupted;
                member.reason = Some(reason.into());
            }
            let order = self.members.len();
            // A generation that has asked before has lived before: it is asked for again, not anew.
            let lived = |r: &Arc<Request>| r.target == member.name && r.generation == member.generation;
            let resumes = member.status == MemberStatus::Requested && self.requests.values().any(lived);
            self.seats.insert(member.name.clone(), Seat { order, resumes, ..Seat::default() });
            self.members.push(Arc::new(member));
        }
        doubles
    }

    /// The lead starts by itself, so that there is somebody to talk to. One that was at work when the app died does not: it
    /// would go on unasked, and spend. Where a protocol asks the lead what comes next, that asking waits anyway.
    fn opening(&self, now: Timestamp, lead_has_work: bool, called: &BTreeSet<MemberName>) -> Vec<Effect> {
        // Members first: a task or a request that another process changes at this moment stops the rest of the batch.
        let mut effects = vec![Effect::SaveTeam];
        let waits = |lead: &Member| lead.status == MemberStatus::Interrupted && lead_has_work && !self.driven;
        if let Some(lead) = self.member(&MemberName::lead()).filter(|lead| !waits(lead)) {
            let again = Arc::new(Member { status: MemberStatus::Idle, reason: None, ..Member::clone(lead) });
            effects.extend(self.start_effects(&again, StartKind::Resumed, &Party::System, now));
        }
        // What the person wrote meanwhile is asked for now; where a protocol chooses who acts, that is for it to choose.
        let starts = |m: &&Arc<Member>| !self.driven && called.contains(&m.name) && self.may_start_again(m);
        for member in self.members.iter().filter(starts) {
            effects.extend(self.start_again(member, now));
            effects.extend(self.work_begins());
        }
        let still_off = |m: &&Arc<Member>| m.status == MemberStatus::Interrupted && (!m.name.is_lead() || waits(m)) && !starts(m);
        let shut_down = |m: &&Arc<Member>| m.status == MemberStatus::Shutdown && m.left_with_team();
        // Where no model answers, starting anybody again would be for nothing.
        let worth_telling = |_: &Effect| !self.settings.no_model;
        effects.extend(
            told_who_is_off(&self.members.iter().filter(|m| still_off(m) || shut_down(m)).map(|m| &**m).collect::<Vec<_>>())
                .filter(worth_telling),
        );
        if self.settings.budget.seconds > 0 {
            effects
                .push(Effect::SetTimer { timer: Timer::WallTime(None), at: now.plus(Duration::from_secs(self.settings.budget.seconds)) });
        }
        effects.extend(self.release_of_unknown_owners(now));
        effects.extend(self.close_stale_requests(now));
        effects
    }

    /// A task in progress whose owner is not on the team, or has ended, goes back to the board with a note.
    fn release_of_unknown_owners(&self, now: Timestamp) -> Vec<Effect> {
        let orphan = |task: &&Arc<Task>| {
            task.status == TaskStatus::InProgress
                && !task
                    .owner
                    .as_ref()
                    .and_then(|owner| self.member(owner))
                    .is_some_and(|m| m.status == MemberStatus::Interrupted || m.name.is_lead())
        };
        let words = |task: &Task| match &task.owner {
            Some(owner) => format!("released: {owner} is not at work any more"),
            None => "released: it was in progress without an owner".to_owned(),
        };
        self.board
            .iter()
            .filter(orphan)
            .filter_map(|task| self.release_effects(task, &Party::System, &words(task), now).ok())
            .flatten()
            .collect()
    }

    /// A command that waited for permission is gone with the app; a shutdown is done.
    fn close_stale_requests(&self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        for request in self.open_requests() {
            match request.kind {
                RequestKind::Plan if self.member(&request.target).is_some_and(|m| m.generation == request.generation) => {}
                RequestKind::Plan => effects.extend(self.close_request(request, RequestState::Withdrawn, "its member is gone")),
                RequestKind::Permission => {
                    effects.extend(self.close_request(request, RequestState::Withdrawn, "the app ended while it waited"))
                }
                RequestKind::Shutdown => {
                    effects.extend(self.close_request(request, RequestState::Withdrawn, "the app ended, and the member with it"));
                    let interrupted = |m: &Arc<Member>| m.status == MemberStatus::Interrupted && m.generation == request.generation;
                    if request.target.is_lead() || !self.member(&request.target).is_some_and(interrupted) {
                        continue;
                    }
                    effects.extend(self.set_status(
                        &request.target,
                        MemberStatus::Shutdown,
                        Some("was asked to shut down when the app ended".into()),
                    ));
                    effects.extend(self.release_all_of(&request.target, "released: its owner was asked to shut down", now));
                }
            }
        }
        effects
    }
}

/// Who does not run since the app ended, and how they come back. Whose plan waits is told by the request itself.
fn told_who_is_off(off: &[&Member]) -> Option<Effect> {
    let names = |fits: &dyn Fn(&Member) -> bool| {
        let fitting: Vec<&str> = off.iter().filter(|m| fits(m)).map(|m| m.name.as_str()).collect();
        (!fitting.is_empty()).then(|| fitting.join(", "))
    };
    let cut_off = |m: &Member| m.status == MemberStatus::Interrupted && !m.is_off() && !m.is_left_waiting();
    let what = match names(&cut_off) {
        Some(names) => format!("interrupted when the app ended: {names}"),
        None => format!("not running since the app ended: {}", names(&|m| !m.is_left_waiting())?),
    };
    let text = format!("{what}. R resumes the selected member with its conversation, resume_all in the palette all of them");
    Some(Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: None }))
}
