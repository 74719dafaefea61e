//! The team's configuration, and what collaboration protocols remember.

use super::{PutOf, TeamStore, UpdateError};
use crate::domain::{MemberName, Refusal, TeamConfig};
use crate::store::{Expect, Key, Revision, StoreError};
use serde_json::Value;

impl TeamStore {
    /// The team; `None` before the first write.
    pub fn team(&self) -> Result<Option<(TeamConfig, Revision)>, StoreError> {
        self.get(&Key::Team)
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
