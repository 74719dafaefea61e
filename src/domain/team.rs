//! The team as `team/config.json` keeps it; both upstream shapes are read, ours is written.

use super::{Extra, Member};
use serde::{Deserialize, Serialize};

/// The team's name, protocol and members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamConfig {
    /// `teamName` upstream.
    #[serde(alias = "teamName", default = "default_name")]
    pub team_name: String,
    /// The collaboration protocol.
    #[serde(default = "default_protocol")]
    pub protocol: String,
    /// `teammates` upstream.
    #[serde(alias = "teammates", default)]
    pub members: Vec<Member>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub extra: Extra,
}

fn default_name() -> String {
    "default".into()
}

fn default_protocol() -> String {
    "autonomous".into()
}

impl Default for TeamConfig {
    fn default() -> Self {
        Self { team_name: default_name(), protocol: default_protocol(), members: Vec::new(), extra: Extra::new() }
    }
}
