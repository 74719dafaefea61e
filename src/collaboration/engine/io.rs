//! What goes into the engine and what comes out.

use crate::collaboration::{ArgValue, MemberCard, ProtocolTool};
use crate::domain::MemberName;
use crate::domain::text::one_line;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Longest outcome in a trace record, in characters.
const OUTCOME_MAX: usize = 200;

/// Bounds of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// A run ends after so many turns (steps in which somebody was chosen to act). `None`: 8, or what the protocol's own
    /// work needs (a line of twelve stages, a pool of twenty tasks). A number holds whatever the protocol needs.
    pub max_turns: Option<u32>,
}

/// Something happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A new run; empty text goes on with the run of a restored snapshot.
    Prompt(String),
    /// A member's run ended. Not sent for a turn that ended to wait for a verdict (though it does no harm).
    MemberEnded {
        /// Who.
        name: MemberName,
        /// All it said.
        output: String,
        /// Why it failed; `None` when it ended well.
        error: Option<String>,
        /// Wall time in milliseconds, waiting for verdicts excluded where the driver knows it.
        duration_ms: u64,
        /// US dollars, where known.
        cost: Option<f64>,
        /// Input plus output tokens.
        tokens: u64,
    },
    /// The supervisor's turn ended with this text (empty when it only called tools).
    SupervisorAnswered {
        /// What it said.
        text: String,
    },
    /// The supervisor's turn failed.
    SupervisorFailed {
        /// Why.
        error: String,
    },
    /// A member or the supervisor (the lead) called a protocol's tool.
    ProtocolToolCalled {
        /// Who, as the runtime knows it.
        by: MemberName,
        /// Which tool.
        tool: String,
        /// Its arguments.
        arguments: Vec<(String, ArgValue)>,
    },
    /// A member at work waits for a verdict on a plan or a permission.
    MemberHeld {
        /// Who.
        name: MemberName,
    },
    /// The verdict came.
    MemberReleased {
        /// Who.
        name: MemberName,
        /// The plan as it was approved, edits included: the member runs with it. `None`: it goes on by itself.
        approved_text: Option<String>,
    },
    /// A member left the team (shut down, failed for good).
    MemberGone {
        /// Who.
        name: MemberName,
        /// Why, where there is more to say than that; else empty.
        why: String,
    },
    /// A member joined, or came back.
    MemberJoined(MemberCard),
    /// End the run now. The driver stops whoever is at work.
    Stop,
}

impl Input {
    /// A run that ended well, without numbers.
    pub fn ended(name: &MemberName, output: impl Into<String>) -> Self {
        Self::MemberEnded { name: name.clone(), output: output.into(), error: None, duration_ms: 0, cost: None, tokens: 0 }
    }

    /// A run that failed, without numbers.
    pub fn failed(name: &MemberName, error: impl Into<String>) -> Self {
        Self::MemberEnded { name: name.clone(), output: String::new(), error: Some(error.into()), duration_ms: 0, cost: None, tokens: 0 }
    }
}

/// What the driver does.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// Let a member work, with one turn of its model loop.
    RunMember {
        /// Who; never somebody who is at work, except to go on after a verdict.
        name: MemberName,
        /// What it is told.
        prompt: String,
        /// Added to its standing instructions for this run.
        instruction_addendum: String,
        /// Offered beside its own tools for this run.
        tools: Vec<ProtocolTool>,
    },
    /// Let the supervisor decide. There is never more than one open question.
    AskSupervisor {
        /// The nested team that asks; empty for the team itself.
        team: Vec<MemberName>,
        /// What it is shown.
        context: String,
        /// Offered beside its own tools for this turn.
        tools: Vec<ProtocolTool>,
        /// What it shall do.
        instruction: String,
    },
    /// The result of a [`Input::ProtocolToolCalled`]; always there exactly once, and first.
    ToolReply {
        /// Who called.
        by: MemberName,
        /// Which tool.
        tool: String,
        /// Whether it was carried out.
        ok: bool,
        /// What the model is told.
        text: String,
        /// Whether the caller's turn should end now.
        ends_turn: bool,
    },
    /// A line of the trace.
    Trace(TraceRecord),
    /// The state changed: save [`super::Engine::snapshot`] (and [`super::Engine::keepsake`]).
    Snapshot,
    /// The run is over. Always the last directive of a run.
    Ended {
        /// In words.
        reason: String,
        /// Whether the goal was reached as far as the rules can tell.
        ok: bool,
        /// The run's answer.
        answer: String,
    },
}

/// Who acted, by which rule, and what came out. The fields are those of the event `Traced`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// Grows by one a step; a member's start and its end share one.
    pub step: u64,
    /// The member; `None` for the supervisor and the engine.
    pub who: Option<MemberName>,
    /// The rule that chose it.
    pub rule: String,
    /// What came out, on one line, at most 200 characters.
    pub outcome: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The nested team it happened in; empty for the team itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub team: Vec<MemberName>,
}

impl TraceRecord {
    /// A record with its outcome sanitised and cut.
    pub fn new(step: u64, who: Option<MemberName>, rule: &str, outcome: &str) -> Self {
        let rule = one_line(rule, OUTCOME_MAX);
        Self { step, who, rule, outcome: one_line(outcome, OUTCOME_MAX), duration_ms: 0, team: Vec::new() }
    }
}

/// `3 alice [supervisor: exact name] done`.
impl fmt::Display for TraceRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = self.who.as_ref().map_or("engine", MemberName::as_str);
        write!(f, "{} {who} [{}] {}", self.step, self.rule, self.outcome)
    }
}
