//! A member: the lead or a teammate, as `team/config.json` keeps it.

use super::{Extra, Generation, MemberName, TaskId};
use serde::{Deserialize, Serialize};

/// What a member does, in one word. `working`, `idle` and `shutdown` mean the same as upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemberStatus {
    /// Written into the configuration by another process; the runtime will spawn it.
    Requested,
    /// In a model call, a tool, or between the two.
    Working,
    /// Waits for mail, a verdict or a ready task.
    #[default]
    Idle,
    /// Waits for an answer to its plan or permission request.
    WaitingApproval,
    /// Was asked to shut down and has not answered yet.
    Stopping,
    /// Ended by handshake, time-out or force.
    Shutdown,
    /// Ended by an error, with the reason in [`Member::reason`].
    Failed,
    /// Was at work when the app died; can be resumed.
    #[serde(other)]
    Interrupted,
}

impl MemberStatus {
    /// Whether an agent task runs for this member.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Working | Self::Idle | Self::WaitingApproval | Self::Stopping)
    }

    /// The word that files and screens use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::WaitingApproval => "waiting_approval",
            Self::Stopping => "stopping",
            Self::Shutdown => "shutdown",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

impl MemberStatus {
    /// The word within a sentence: "bob is …".
    pub fn spoken(self) -> &'static str {
        match self {
            Self::Requested => "asked for and not started yet",
            Self::WaitingApproval => "waiting for an approval",
            Self::Shutdown => "shut down",
            Self::Working | Self::Idle | Self::Stopping | Self::Interrupted | Self::Failed => self.word(),
        }
    }
}

/// Why a member does not run that had nothing to do when the app ended.
pub const RESTED: &str = "it was idle when the app ended";
/// Why a member does not run whose plan waited when the app ended. The verdict starts it.
pub const LEFT_WAITING: &str = "its plan waits for an answer";
/// Why a member ended that was stopped together with its team.
pub const STOPPED_WITH_TEAM: &str = "the team was stopped";

/// A member of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Unique ignoring case.
    pub name: MemberName,
    /// What it is for, in the lead's words.
    #[serde(default)]
    pub role: String,
    /// What it does now.
    #[serde(default)]
    pub status: MemberStatus,
    /// Grows each time the name is spawned.
    #[serde(default)]
    pub generation: Generation,
    /// A model of its own; `None` takes the team's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Read-only until its first plan for a task is approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_plan: bool,
    /// The first instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The task it has in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Why it stopped, failed or was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Member {
    /// A new member of the first generation, idle.
    pub fn new(name: MemberName, role: impl Into<String>) -> Self {
        Self {
            name,
            role: role.into(),
            status: MemberStatus::Idle,
            generation: Generation::default(),
            model: None,
            require_plan: false,
            prompt: None,
            task: None,
            reason: None,
            extra: Extra::new(),
        }
    }

    /// Does not run since the app ended, and was in the middle of nothing then.
    pub fn is_off(&self) -> bool {
        self.status == MemberStatus::Interrupted && self.reason.as_deref() == Some(RESTED)
    }

    /// Does not run since the app ended, and its plan can be decided: that starts it.
    pub fn is_left_waiting(&self) -> bool {
        self.status == MemberStatus::Interrupted && self.reason.as_deref() == Some(LEFT_WAITING)
    }

    /// Ended with the app or with its team, not by itself: it comes back when the person wants the whole team back.
    pub fn left_with_team(&self) -> bool {
        match self.status {
            MemberStatus::Interrupted => true,
            MemberStatus::Shutdown => !self.name.is_lead() && self.reason.as_deref() == Some(STOPPED_WITH_TEAM),
            MemberStatus::Requested
            | MemberStatus::Working
            | MemberStatus::Idle
            | MemberStatus::WaitingApproval
            | MemberStatus::Stopping
            | MemberStatus::Failed => false,
        }
    }
}
