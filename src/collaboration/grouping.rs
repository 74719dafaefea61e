//! Teams within the team, as the settings declare them: checked, and made of the members that are there.

use super::engine::DEPTH_MAX;
use super::{MemberCard, ProtocolConfig, TeamSpec, build};
use crate::domain::MemberName;
use crate::domain::settings::NestedTeam;
use std::collections::{BTreeMap, BTreeSet};

/// Declared teams by name.
pub type Teams = BTreeMap<String, NestedTeam>;

/// What is wrong with a declared team: its name, the key, and the reason.
pub type Fault = (String, &'static str, String);

/// The first fault: names, protocols without an end, members in two teams, circles, more than three levels.
pub fn check(teams: &Teams) -> Result<(), Fault> {
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for (name, team) in teams {
        let fault = |key, reason: String| (name.clone(), key, reason);
        match MemberName::parse(name) {
            Ok(parsed) if parsed.is_lead() => return Err(fault("protocol", "the lead cannot be a team".into())),
            Ok(_) => {}
            Err(error) => return Err(fault("protocol", error.to_string())),
        }
        if team.protocol.is_empty() {
            return Err(fault("protocol", "a team without a protocol: name the protocol by which it works".into()));
        }
        let protocol = build(&team.protocol, ProtocolConfig::default()).map_err(|error| fault("protocol", error.to_string()))?;
        if !protocol.is_driven() {
            return Err(fault("protocol", format!("{} has no rule that ends, so no team within a team can work by it", team.protocol)));
        }
        if team.members.is_empty() {
            return Err(fault("members", "nobody: name at least one".into()));
        }
        for member in &team.members {
            let parsed = MemberName::parse(member).map_err(|error| fault("members", error.to_string()))?;
            if parsed.is_lead() {
                return Err(fault("members", "the lead leads all teams and is in none".into()));
            }
            if let Some(other) = owners.insert(member.to_lowercase(), name) {
                return Err(fault("members", format!("{member} is in {other} already")));
            }
        }
    }
    teams.keys().try_for_each(|name| depth(teams, name, 1).map(|_| ()))
}

/// How many levels a team has; an error for a circle or too many.
fn depth(teams: &Teams, name: &str, level: usize) -> Result<usize, Fault> {
    let Some(team) = teams.get(name) else { return Ok(level) };
    // The roster itself is the first level; a circle passes any bound.
    if level >= DEPTH_MAX {
        return Err((name.to_owned(), "members", format!("teams within teams go {DEPTH_MAX} levels deep at most, and in no circle")));
    }
    team.members.iter().try_fold(level, |deepest, member| Ok(deepest.max(depth(teams, member, level + 1)?)))
}

/// Whether a declared team has this member.
pub fn declares(teams: &Teams, name: &MemberName) -> bool {
    teams.values().flat_map(|team| &team.members).any(|member| name.same(member))
}

/// The members that a run chooses from: who belongs to a declared team stands behind it. A team takes the place of its first
/// member; one of which nobody is there is left out. What was not checked gives an engine that says why it cannot start.
pub fn group(cards: Vec<MemberCard>, teams: &Teams) -> Vec<MemberCard> {
    let inner: BTreeSet<&str> = teams.values().flat_map(|team| team.members.iter().map(String::as_str)).collect();
    let outer = teams.keys().filter(|name| !inner.contains(name.as_str()));
    let made: Vec<MemberCard> = outer.filter_map(|name| team_card(name, teams, &cards, 1)).collect();
    let mut placed = BTreeSet::new();
    let mut out = Vec::new();
    for card in cards {
        match made.iter().position(|team| holds(team, &card.name)) {
            None => out.push(card),
            Some(at) if placed.insert(at) => out.push(made[at].clone()),
            Some(_) => {}
        }
    }
    out
}

fn holds(team: &MemberCard, name: &MemberName) -> bool {
    team.team.as_ref().is_some_and(|spec| spec.members.iter().any(|card| card.name == *name || holds(card, name)))
}

fn team_card(name: &str, teams: &Teams, cards: &[MemberCard], level: usize) -> Option<MemberCard> {
    let team = teams.get(name).filter(|_| level <= DEPTH_MAX)?;
    let member = |member: &String| {
        let own = || cards.iter().find(|card| card.name.as_str().eq_ignore_ascii_case(member)).cloned();
        if teams.contains_key(member) { team_card(member, teams, cards, level + 1) } else { own() }
    };
    let members: Vec<MemberCard> = team.members.iter().filter_map(member).collect();
    if members.is_empty() {
        return None;
    }
    let names: Vec<&str> = members.iter().map(|card| card.name.as_str()).collect();
    let role = format!("team of {} ({})", names.join(", "), team.protocol);
    let able: Vec<String> = members.iter().flat_map(|card| card.capabilities.clone()).collect();
    let able: Vec<&str> = able.iter().map(String::as_str).collect();
    let max_turns = (team.max_turns > 0).then_some(team.max_turns);
    let spec = TeamSpec { protocol: team.protocol.clone(), members, config: ProtocolConfig::default(), max_turns };
    Some(MemberCard::new(MemberName::parse(name).ok()?, role).able(&able).with_team(spec))
}
