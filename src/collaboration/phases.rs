//! What the phases of a protocol hand back and forth: routes, steps, reports, judgements; and answers many share.

use super::{Decision, Seat, Team};
use crate::domain::MemberName;
use serde::{Deserialize, Serialize};

/// A member is chosen to act.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// Who.
    pub who: MemberName,
    /// What it shall do; empty means the goal itself.
    pub instruction: String,
    /// The rule that chose it, for the trace.
    pub rule: String,
    /// The piece of work, where the protocol counts them: runs on different pieces are no loop.
    pub work: Option<u64>,
}

impl Route {
    /// A route without a piece of work.
    pub fn new(who: &MemberName, instruction: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { who: who.clone(), instruction: instruction.into(), rule: rule.into(), work: None }
    }

    /// On a piece of work.
    #[must_use]
    pub fn on(mut self, work: u64) -> Self {
        self.work = Some(work);
        self
    }
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// In words.
    pub reason: String,
    /// Whether the goal was reached as far as the rules can tell.
    pub ok: bool,
    /// The supervisor's answer; `None` or empty lets the protocol compose one.
    pub answer: Option<String>,
}

impl Ending {
    /// An ending without an answer of its own.
    pub fn new(reason: impl Into<String>, ok: bool) -> Self {
        Self { reason: reason.into(), ok, answer: None }
    }
}

/// What happens next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The supervisor decides.
    Supervisor,
    /// These act, side by side where there are several.
    Route(Vec<Route>),
    /// Somebody is still at work; ask again when it ends.
    Wait,
    /// The run ends.
    End(Ending),
}

/// A run that ended, as the protocol is told it.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Everything the member said, calls written as text cut out.
    pub raw: &'a str,
    /// The same after `agent_output`.
    pub output: &'a str,
    /// Why it failed, if the runtime says so.
    pub error: Option<&'a str>,
    /// It left the team, so it cannot try again.
    pub gone: bool,
    /// Faults of calls that it wrote as text, one a line; empty when there were none.
    pub faults: &'a str,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// US dollars, where known.
    pub cost: Option<f64>,
    /// Input plus output tokens.
    pub tokens: u64,
}

/// What a run that ended counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Good; the output is kept.
    Done,
    /// Good, with another text for the trace (a bid).
    Noted(String),
    /// Failed, with the reason; the member is in error until a good run.
    Failed(String),
    /// The same step once more, with the reason told; costs no turn.
    Again(String),
}

/// What a tool call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// What the model is told.
    pub text: String,
    /// Whether its turn should end now.
    pub ends_turn: bool,
    /// For the supervisor's tools: what was decided by it.
    pub decision: Option<Decision>,
}

impl Said {
    /// The turn goes on.
    pub fn noted(text: impl Into<String>) -> Self {
        Self { text: text.into(), ends_turn: false, decision: None }
    }

    /// The turn should end.
    pub fn last(text: impl Into<String>) -> Self {
        Self { text: text.into(), ends_turn: true, decision: None }
    }

    /// The supervisor decided.
    pub fn decided(text: impl Into<String>, decision: Decision) -> Self {
        Self { text: text.into(), ends_turn: true, decision: Some(decision) }
    }
}

/// Whether a run may end now.
#[derive(Clone, Debug, PartialEq)]
pub enum FinishVerdict {
    /// Yes.
    Allowed,
    /// No, and the supervisor is told why.
    Refused(String),
    /// No: this happens instead.
    Instead(Route),
}

/// The supervisor's own answer, else the last good output.
pub fn answer_or_last(team: &Team, ending: &Ending) -> String {
    match &ending.answer {
        Some(answer) if !answer.trim().is_empty() => answer.clone(),
        Some(_) | None => team.last_output().to_owned(),
    }
}

/// The member that acted last, if it can act again, else the first.
pub fn fall_back_to_last(team: &Team, reason: &str) -> Step {
    let free = |seat: &&Seat| seat.is_live() && !seat.is_busy();
    let (seat, which) = match team.last().filter(free) {
        Some(seat) => (Some(seat), "last"),
        None => (team.live().find(|seat| !seat.is_busy()), "first"),
    };
    match seat {
        Some(seat) => Step::Route(vec![Route::new(seat.name(), "", format!("fallback to the {which} member: {reason}"))]),
        None => Step::End(Ending::new(format!("nobody can act: {reason}"), false)),
    }
}

/// The goal, with the instruction where there is one.
pub fn goal_and(team: &Team, instruction: &str) -> String {
    if instruction.is_empty() || instruction == team.prompt {
        return team.prompt.clone();
    }
    format!("{instruction}\n\n(The team's goal: {})", team.prompt)
}

/// What a supervisor is told when its protocol has nothing of its own to say.
pub const SUPERVISOR_RULES: &str = "You supervise the team. Decide who acts next, or finish.\n\
     By tool: route_to{agent, instruction} or finish{answer}; then end your turn.\n\
     By text: write the member's exact name and what it shall do, or [TEAM_FINISH] followed by the final answer.\n\
     Finish only after a member has acted and the goal is reached.\n";
