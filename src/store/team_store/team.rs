//! The team's configuration, and what collaboration protocols remember.

use super::{Fault, PutOf, TeamStore, UpdateError};
use crate::domain::{MemberName, Refusal, TeamConfig, TeamEvent};
use crate::store::{Expect, Key, Revision, StoreError};
use serde_json::Value;

impl TeamStore {
    /// The team; `None` before the first write.
    pub fn team(&self) -> Result<Option<(TeamConfig, Revision)>, StoreError> {
        self.get(&Key::Team)
    }

    /// What is wrong with entries of the team's file that cannot be read, each with its place.
    pub fn team_faults(team: &TeamConfig) -> Vec<Fault> {
        team.unread_reasons().map(|reason| Fault::new(Key::Team, reason)).collect()
    }

    /// The roster as the latest events tell it, for a team whose file is damaged. Statuses are those of that time.
    pub fn team_of_events(&self, max_bytes: usize) -> Result<TeamConfig, StoreError> {
        let mut team = TeamConfig::default();
        for record in self.recent_events(max_bytes)?.records {
            if let TeamEvent::Opened { team: name, protocol, .. } = record.event {
                (team.team_name, team.protocol) = (name, protocol);
            } else if let TeamEvent::ProtocolChanged { name } = record.event {
                team.protocol = name;
            } else if let TeamEvent::MemberRemoved { name } = record.event {
                team.members.retain(|member| member.name != name);
            } else if let TeamEvent::MemberChanged { member, .. } = record.event {
                match team.members.iter_mut().find(|known| known.name == member.name) {
                    Some(known) => known.clone_from(&member),
                    None => team.members.push((*member).clone()),
                }
            }
        }
        Ok(team)
    }

    /// Writes the team if what is there is as expected.
    pub fn put_team(&self, team: &TeamConfig, expect: Expect) -> Result<PutOf<TeamConfig>, StoreError> {
        self.put(&Key::Team, team, expect)
    }

    /// Changes the team by a rule, which is asked again about what is there when somebody else was quicker. Where there is
    /// no team yet, it starts from the default one.
    pub fn update_team(
        &self,
        mut rule: impl FnMut(&TeamConfig) -> Result<TeamConfig, Refusal>,
    ) -> Result<(TeamConfig, Revision), UpdateError> {
        self.update(&Key::Team, |there: Option<&TeamConfig>| match there {
            Some(team) => Ok(rule(team)?),
            None => Ok(rule(&TeamConfig::default())?),
        })
    }

    /// What the protocol `name` keeps in `team/NAME.json`.
    pub fn memory(&self, name: &MemberName) -> Result<Option<(Value, Revision)>, StoreError> {
        self.get(&Key::Memory(name.clone()))
    }

    /// Writes a protocol's memory if what is there is as expected.
    pub fn put_memory(&self, name: &MemberName, memory: &Value, expect: Expect) -> Result<PutOf<Value>, StoreError> {
        self.put(&Key::Memory(name.clone()), memory, expect)
    }
}
