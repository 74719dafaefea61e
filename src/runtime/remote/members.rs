//! Members and mail through the files.

use super::{Act, Files, Runner};
use crate::domain::names::nearest;
use crate::domain::{Envelope, Generation, Member, MemberName, MemberStatus, MessageKind, Party, Refusal, Reply, SpawnOrder, TeamConfig};
use crate::runtime::clock;

/// Whether mail for this member will be read: it runs, or is taken up again when a process opens the team.
fn is_reachable(member: &Member, runner: Runner) -> bool {
    match member.status {
        MemberStatus::Requested
        | MemberStatus::Working
        | MemberStatus::Idle
        | MemberStatus::WaitingApproval
        | MemberStatus::Interrupted => true,
        // Without a process behind it, the word in the file is what a killed process left.
        MemberStatus::Stopping => runner == Runner::Elsewhere,
        MemberStatus::Shutdown | MemberStatus::Failed => false,
    }
}

fn unknown(team: &TeamConfig, name: &str) -> Refusal {
    let known: Vec<&str> = team.members.iter().map(|member| member.name.as_str()).collect();
    let roster = if known.is_empty() { "empty".to_owned() } else { known.join(", ") };
    Refusal::UnknownMember { name: name.chars().take(80).collect(), nearest: nearest(name, known.iter().copied()).map(Into::into), roster }
}

fn not_live(member: &Member) -> Refusal {
    Refusal::NotLive { name: member.name.clone(), status: member.status.spoken(), why: member.reason.clone() }
}

fn find<'t>(team: &'t TeamConfig, name: &str) -> Result<&'t Member, Refusal> {
    team.members.iter().find(|member| member.name.same(name.trim())).ok_or_else(|| unknown(team, name))
}

impl Files {
    pub(super) fn team(&self) -> Result<TeamConfig, Refusal> {
        Ok(self.store.team()?.map(|(team, _)| team).unwrap_or_default())
    }

    /// A member that mail or a request can reach.
    pub(super) fn reachable(&self, name: &str) -> Result<Member, Refusal> {
        let team = self.team()?;
        let member = find(&team, name)?;
        if is_reachable(member, self.runner()?) { Ok(member.clone()) } else { Err(not_live(member)) }
    }

    pub(super) fn list_members(&self) -> Result<Reply, Refusal> {
        let activities = super::feed::activities(&self.store)?;
        let with = |member: Member| {
            let activity = activities.get(&member.name).cloned().unwrap_or_default();
            (member, activity)
        };
        Ok(Reply::Members(self.team()?.members.into_iter().map(with).collect()))
    }

    pub(super) fn send(&self, act: &Act<'_>, to: &str, content: String) -> Result<Reply, Refusal> {
        if content.trim().is_empty() {
            return Err(Refusal::Invalid("an empty message is not sent".into()));
        }
        if to.trim().eq_ignore_ascii_case("all") {
            return self.broadcast(act, &content);
        }
        // The lead is there as soon as somebody opens the workspace, even for the first time.
        let is_lead = to.trim().eq_ignore_ascii_case("lead");
        let name = if is_lead { MemberName::lead() } else { self.reachable(to)?.name };
        self.deliver(act, &name, MessageKind::Message, &content)?;
        Ok(Reply::Sent(vec![name]))
    }

    pub(super) fn broadcast(&self, act: &Act<'_>, content: &str) -> Result<Reply, Refusal> {
        if content.trim().is_empty() {
            return Err(Refusal::Invalid("an empty message is not sent".into()));
        }
        let runner = self.runner()?;
        let team = self.team()?;
        let reached: Vec<MemberName> = team.members.iter().filter(|m| is_reachable(m, runner)).map(|m| m.name.clone()).collect();
        if reached.is_empty() {
            return Err(Refusal::Invalid("there is nobody to write to: the team has no live member".into()));
        }
        reached.iter().try_for_each(|name| self.deliver(act, name, MessageKind::Broadcast, content))?;
        Ok(Reply::Sent(reached))
    }

    fn deliver(&self, act: &Act<'_>, to: &MemberName, kind: MessageKind, content: &str) -> Result<(), Refusal> {
        let message = Envelope::new(clock::message_id(), kind, act.by.clone(), to.as_str(), content, act.at);
        self.store.deliver(&message)?;
        Ok(())
    }

    pub(super) fn spawn(&self, order: SpawnOrder) -> Result<Reply, Refusal> {
        let name = MemberName::parse_teammate(&order.name)?;
        if order.role.trim().is_empty() {
            return Err(Refusal::Invalid(format!("{name} needs a role: say what it is for")));
        }
        let rule = |team: &TeamConfig| {
            let taken = team.members.iter().find(|member| member.name.same(name.as_str()));
            if let Some(member) = taken.filter(|member| !matches!(member.status, MemberStatus::Shutdown | MemberStatus::Failed)) {
                return Err(Refusal::NameTaken { wanted: name.to_string(), taken: member.name.clone(), status: member.status.spoken() });
            }
            self.check_room(team)?;
            let generation = taken.map_or_else(Generation::default, |member| member.generation.next());
            let member = Member {
                status: MemberStatus::Requested,
                generation,
                model: order.model.clone(),
                require_plan: order.require_plan,
                prompt: order.prompt.clone(),
                ..Member::new(name.clone(), order.role.clone())
            };
            let mut team = if *team == TeamConfig::default() { self.new_team() } else { team.clone() };
            team.members.retain(|other| !other.name.same(name.as_str()));
            team.members.push(member);
            Ok(team)
        };
        let (team, _) = self.store.update_team(rule)?;
        find(&team, name.as_str()).cloned().map(Reply::Spawned)
    }

    /// A team that nobody has opened yet.
    fn new_team(&self) -> TeamConfig {
        let usual = TeamConfig::default();
        let team_name = if self.settings.name.is_empty() { usual.team_name } else { self.settings.name.clone() };
        TeamConfig { team_name, protocol: self.settings.protocol.clone(), ..TeamConfig::default() }
    }

    fn check_room(&self, team: &TeamConfig) -> Result<(), Refusal> {
        let max = self.settings.max_members;
        let there = team.members.iter().filter(|m| m.status.is_live() || m.status == MemberStatus::Requested || m.name.is_lead()).count();
        if there >= max { Err(Refusal::TeamFull { max }) } else { Ok(()) }
    }

    pub(super) fn resume(&self, target: &str) -> Result<Reply, Refusal> {
        let all = target.trim().eq_ignore_ascii_case("all");
        let rule = |team: &TeamConfig| {
            let again: Vec<MemberName> = if all {
                team.members.iter().filter(|member| member.left_with_team()).map(|member| member.name.clone()).collect()
            } else {
                let member = find(team, target)?;
                let at_rest = matches!(member.status, MemberStatus::Shutdown | MemberStatus::Failed | MemberStatus::Interrupted);
                if !at_rest {
                    return Err(Refusal::Invalid(format!("{} is {}: there is nothing to resume", member.name, member.status.spoken())));
                }
                vec![member.name.clone()]
            };
            if again.is_empty() {
                return Err(Refusal::Invalid("nobody is left to resume".into()));
            }
            self.check_room(team)?;
            let mut team = team.clone();
            for member in team.members.iter_mut().filter(|member| again.contains(&member.name)) {
                member.status = MemberStatus::Requested;
                member.reason = None;
            }
            Ok(team)
        };
        let (team, _) = self.store.update_team(rule)?;
        if all { Ok(Reply::Done) } else { find(&team, target).cloned().map(Reply::Spawned) }
    }

    /// Puts the notice of a shutdown request into its target's inbox.
    pub(super) fn deliver_request(&self, act: &Act<'_>, request: &crate::domain::Request) -> Result<(), Refusal> {
        let to = request.target.as_str();
        let message =
            Envelope::new(clock::message_id(), MessageKind::ShutdownRequest, Party::clone(act.by), to, request.body.clone(), act.at);
        self.store.deliver(&message.about(request.id.clone()))?;
        Ok(())
    }
}
