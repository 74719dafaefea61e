//! What can be set for a team. The config room reads it from files; rooms below only see this value.

use super::request::PlanReviewer;
use super::usage::Price;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything a running team needs to know. Seconds and counts; the defaults are the documented ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TeamSettings {
    /// Collaboration protocol for new teams.
    pub protocol: String,
    /// The team's name, where the workspace has none yet.
    pub name: String,
    /// Seconds of nothing to do after which a teammate shuts down. 0 = never.
    pub idle_timeout: u64,
    /// Seconds between polls of the files: the fallback for changes that no watcher reported.
    pub poll_interval: u64,
    /// Seconds a member has to answer a shutdown request.
    pub shutdown_grace: u64,
    /// Model calls in one stretch of work before the member is stopped and reported.
    pub round_cap: u32,
    /// Turns (steps in which somebody is chosen to act) that a run of a protocol may take. 0 = 8, or what the protocol's
    /// own work needs.
    pub max_turns: u32,
    /// Teams within the team, by name: where a protocol chooses who acts, each is chosen like a member.
    pub teams: BTreeMap<String, NestedTeam>,
    /// Most members at one time, the lead included.
    pub max_members: usize,
    /// Who may decide plans.
    pub plan_reviewer: PlanReviewer,
    /// What happens to plans when nobody is there to decide: `ask`, `auto` or `deny`.
    pub plans: PlanMode,
    /// Every teammate must have a plan approved for each task before it changes anything.
    pub require_plan: bool,
    /// What may run.
    pub permissions: Permissions,
    /// What a team may spend.
    pub budget: Budget,
    /// What one member may spend.
    pub member_budget: Budget,
    /// Prices by model name, US dollars per million tokens.
    pub prices: BTreeMap<String, Price>,
    /// A model per member name or role, where it is not the team's.
    pub models: BTreeMap<String, String>,
    /// A model per role to go on with when the first one is exhausted.
    pub fallback_models: BTreeMap<String, String>,
    /// Tokens a model can take; used for compaction. 0 = ask the server, else 128,000.
    pub context_window: u64,
    /// Tokens kept free for the answer when deciding on compaction.
    pub context_reserve: u64,
    /// Longest tool output that reaches the model, in characters; head and tail are kept.
    pub output_limit: usize,
    /// Seconds a command may run when the model gives no time-out.
    pub command_timeout: u64,
    /// Nobody can work, since no model answers: no task is claimed, and a verdict starts nobody. Found at the start, not set.
    #[serde(skip)]
    pub no_model: bool,
}

impl Default for TeamSettings {
    fn default() -> Self {
        Self {
            protocol: "autonomous".into(),
            name: String::new(),
            idle_timeout: 60,
            poll_interval: 5,
            shutdown_grace: 30,
            round_cap: 50,
            max_turns: 0,
            teams: BTreeMap::new(),
            max_members: 16,
            plan_reviewer: PlanReviewer::Human,
            plans: PlanMode::Ask,
            require_plan: false,
            permissions: Permissions::default(),
            budget: Budget::default(),
            member_budget: Budget::default(),
            prices: BTreeMap::new(),
            models: BTreeMap::new(),
            fallback_models: BTreeMap::new(),
            context_window: 0,
            context_reserve: 8_000,
            output_limit: 50_000,
            command_timeout: 120,
            no_model: false,
        }
    }
}

/// What happens to a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    /// Wait for the person.
    #[default]
    Ask,
    /// Approve at once, by the system, and say so in the log.
    Auto,
    /// Reject at once.
    Deny,
}

/// What a tool may do without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Do it.
    Allow,
    /// Ask the person.
    #[default]
    Ask,
    /// Refuse.
    Deny,
}

/// A team within the team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NestedTeam {
    /// How it works; a protocol that chooses who acts.
    pub protocol: String,
    /// Its members in their order: names of the roster, or of other teams.
    pub members: Vec<String>,
    /// Turns that one of its runs may take. 0 = as its protocol needs.
    pub max_turns: u32,
}

/// What stands between commands and the rest of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wall {
    /// The full sandbox: rules decide which commands run.
    #[default]
    Full,
    /// Files are guarded and the network is shut, processes are the machine's: every command asks, whatever rules say.
    Reduced,
    /// None works here though one should: every command is refused.
    Unavailable,
    /// None, by the person's choice or because this system has none: every command asks, whatever rules say.
    Absent,
    /// None works here, and none is needed: the bundled demonstration runs its own commands on its own copy. Rules decide.
    Bundled,
}

impl Wall {
    /// Whether it is the full one, of which nothing need be said.
    pub fn is_full(&self) -> bool {
        *self == Self::Full
    }

    /// What stands on the screen for as long as the team runs; `None` for the full one.
    pub fn badge(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Reduced => Some("reduced sandbox"),
            Self::Unavailable => Some("no sandbox: no commands"),
            Self::Absent => Some("NO SANDBOX"),
            Self::Bundled => Some("no sandbox: demo"),
        }
    }

    /// What it means, in one sentence without its end.
    pub fn words(self) -> &'static str {
        match self {
            Self::Full => "full: commands see this workspace and your tools, and reach no network",
            Self::Reduced => {
                "reduced: files are guarded and the network is shut, but every command asks; install bubblewrap for the full one"
            }
            Self::Unavailable => "none works here, so commands are refused; install bubblewrap, `signoff doctor` tells more",
            Self::Absent => "none: commands can do all that you can, so every command asks",
            Self::Bundled => {
                "none works here: the demonstration's own commands run without one; a team of yours would have to ask for each"
            }
        }
    }
}

/// Permission rules. Deny wins over ask, ask over allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// Commands that no rule names.
    pub commands: Access,
    /// Writing inside the workspace.
    pub edits: Access,
    /// Command patterns that may run; `*` matches anything within one simple command.
    pub allow: Vec<String>,
    /// Command patterns that always ask.
    pub ask: Vec<String>,
    /// Command patterns that never run.
    pub deny: Vec<String>,
    /// Refuse instead of asking: nobody is there to answer (`run` without `--plans ask`).
    pub unattended: bool,
    /// Take known shapes of keys out of what tools bring in, before a model gets it.
    pub redact: bool,
    /// What stands around commands: found by trying when a team is opened, never read from a file.
    #[serde(skip)]
    pub wall: Wall,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            commands: Access::Ask,
            edits: Access::Allow,
            allow: Vec::new(),
            ask: Vec::new(),
            deny: Vec::new(),
            unattended: false,
            redact: true,
            wall: Wall::default(),
        }
    }
}

/// Limits on spending; 0 = no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Input plus output tokens.
    pub tokens: u64,
    /// US dollars, of the calls whose price is known.
    pub cost: f64,
    /// Model calls.
    pub turns: u64,
    /// Wall time in seconds.
    pub seconds: u64,
}
