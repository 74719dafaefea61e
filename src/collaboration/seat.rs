//! A member of a team: as it is registered, and what it did last in the run.

use super::{ProtocolConfig, Route};
use crate::domain::MemberName;
use serde::{Deserialize, Serialize};

/// A member as it is registered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberCard {
    /// Unique in the whole team, ignoring case.
    pub name: MemberName,
    /// What it is for.
    #[serde(default)]
    pub role: String,
    /// What it can do, in the words that a requirement would use (`rust`, `sql`).
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Its price before any experience, in no particular unit; for `market_based`.
    #[serde(default = "one")]
    pub base_price: f64,
    /// The member is itself a team: it works by running this team on its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<Box<TeamSpec>>,
}

fn one() -> f64 {
    1.0
}

impl MemberCard {
    /// A single member without capabilities.
    pub fn new(name: MemberName, role: impl Into<String>) -> Self {
        Self { name, role: role.into(), capabilities: Vec::new(), base_price: 1.0, team: None }
    }

    /// With capabilities.
    #[must_use]
    pub fn able(mut self, capabilities: &[&str]) -> Self {
        self.capabilities = capabilities.iter().map(|text| (*text).to_owned()).collect();
        self
    }

    /// As a team of its own.
    #[must_use]
    pub fn with_team(mut self, team: TeamSpec) -> Self {
        self.team = Some(Box::new(team));
        self
    }
}

/// A nested team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamSpec {
    /// The name of its protocol.
    pub protocol: String,
    /// Its members.
    pub members: Vec<MemberCard>,
    /// Its protocol's settings.
    #[serde(default)]
    pub config: ProtocolConfig,
    /// Its own bound on turns; `None` as in [`super::EngineConfig`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
}

/// Whether a member is at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeatState {
    /// Can be chosen.
    #[default]
    Free,
    /// Was chosen and has not ended.
    Running,
    /// Waits for a verdict on its plan or a permission: the step keeps its place.
    Held,
    /// Was at work when the snapshot was taken; an empty prompt runs it again.
    Interrupted,
    /// Has left the team.
    Gone,
}

/// A member with what it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    /// How it was registered.
    pub card: MemberCard,
    /// Whether it is at work.
    pub state: SeatState,
    /// How often it ended a run, well or not.
    pub runs: u32,
    /// Its last good output.
    pub output: String,
    /// Why its last run failed; `None` after a good one.
    pub error: Option<String>,
    /// What it is at work on.
    pub route: Option<Route>,
    /// It called a protocol's tool in this run, so its text is not searched for calls.
    pub used_tools: bool,
    /// Its turn ended while it was held: the verdict must start it again.
    pub turn_ended: bool,
}

impl Seat {
    /// A free seat.
    pub fn new(card: MemberCard) -> Self {
        Self {
            card,
            state: SeatState::Free,
            runs: 0,
            output: String::new(),
            error: None,
            route: None,
            used_tools: false,
            turn_ended: false,
        }
    }

    /// The member's name.
    pub fn name(&self) -> &MemberName {
        &self.card.name
    }

    /// Whether it is at work, a held step included.
    pub fn is_busy(&self) -> bool {
        matches!(self.state, SeatState::Running | SeatState::Held | SeatState::Interrupted)
    }

    /// Whether it is still in the team.
    pub fn is_live(&self) -> bool {
        self.state != SeatState::Gone
    }

    /// Its place in the run, in one word.
    pub fn word(&self) -> &'static str {
        match self.state {
            SeatState::Running => "acts",
            SeatState::Held => "held",
            SeatState::Interrupted => "interrupted",
            SeatState::Gone => "gone",
            SeatState::Free if self.error.is_some() => "error",
            SeatState::Free if self.runs > 0 => "done",
            SeatState::Free => "free",
        }
    }
}
