//! What a script says, as values: rules, steps, conditions. Read from TOML by [`super::parse`].

use super::words::{wait, words};
use crate::domain::TokenUsage;
use crate::domain::conversation::FinishReason;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// A script that was read and checked.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// Said when nothing is left to say.
    pub idle: String,
    /// Said when the rule at hand waits for a verdict and something else woke the member.
    pub waiting: String,
    /// Tokens that fit.
    pub context_window: u64,
    /// How fast it streams where a step says nothing else.
    pub pace: Pace,
    /// In the order of the file.
    pub rules: Vec<Rule>,
    /// Four hex digits of the text: tells whether a conversation was played from this script.
    pub digest: String,
}

impl Script {
    /// A script without rules: every answer is `idle`.
    pub fn saying(idle: String) -> Self {
        Self { idle, waiting: String::new(), context_window: 200_000, pace: Pace::default(), rules: Vec::new(), digest: String::new() }
    }
}

/// How fast an answer streams.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Pace {
    /// Tokens (four characters) a second; 0 = at once.
    pub tokens_per_second: f64,
    /// Before the first token.
    #[serde(deserialize_with = "wait")]
    pub pause: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { tokens_per_second: 45.0, pause: Duration::from_millis(500) }
    }
}

/// Who plays a rule.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Audience {
    /// Everybody but the lead: tried after the rules that name the member.
    Teammates,
    /// Everybody: tried last, like the above.
    All,
    /// These, ignoring case.
    Named(Vec<String>),
}

impl Audience {
    /// Whether the rule is one of `name`'s own (`true`), a general one that it plays, too (`false`), or none of its.
    pub fn names(&self, name: &str) -> Option<bool> {
        match self {
            Self::Named(list) => list.iter().any(|n| n.eq_ignore_ascii_case(name)).then_some(true),
            Self::Teammates => (!name.eq_ignore_ascii_case("lead")).then_some(false),
            Self::All => Some(false),
        }
    }
}

/// What starts a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Trigger {
    /// The person spoke: mail from the human, or plain text.
    Goal,
    /// Plain text: the first instruction of a teammate.
    Prompt,
    /// Mail, except for shutdown requests.
    Mail,
    /// Mail that asks to shut down.
    ShutdownRequest,
    /// A task was claimed for the member.
    Claimed,
    /// A plan was decided.
    Verdict,
    /// The turn ended with a task in hand.
    Nudge,
    /// Everything on the board is done.
    BoardFinished,
    /// The tool results of the last turn are there.
    Result,
}

/// A stimulus and the steps that answer it.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub audience: Audience,
    pub on: Vec<Trigger>,
    pub when: Condition,
    /// At most so many times in one conversation.
    pub max: Option<u32>,
    /// Unfinished rules are dropped when this one starts.
    pub clears: bool,
    /// The step that this rule interrupted plays again afterwards.
    pub again: bool,
    pub steps: Vec<Step>,
}

/// One answer of the model, or a silent jump.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub condition: Condition,
    /// Where to go when the condition does not hold; the next step without it.
    pub otherwise: Option<usize>,
    pub wait_for: Option<WaitFor>,
    pub say: String,
    pub think: String,
    pub calls: Vec<Call>,
    pub finish: Option<FinishReason>,
    pub tokens_per_second: Option<f64>,
    pub pause: Option<Duration>,
    pub usage: Option<TokenUsage>,
    pub error: Option<Fault>,
    /// Play again, at most so often, while a tool call of it fails.
    pub retry: u32,
    /// Play so often in all; 0 counts as 1.
    pub repeat: u32,
    /// End repeating as soon as this holds.
    pub until: Option<Condition>,
    /// The step after this one; the number of steps means the end.
    pub goto: Option<usize>,
}

impl Step {
    /// Whether it only jumps.
    pub fn is_silent(&self) -> bool {
        self.say.is_empty() && self.think.is_empty() && self.calls.is_empty() && self.error.is_none()
    }
}

/// What a step waits for before it plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitFor {
    /// The verdict on the last plan.
    Verdict,
}

/// A tool call with placeholders in its texts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub tool: String,
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// What came of a plan, as far as conditions tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum VerdictWord {
    /// Any yes.
    Approved,
    /// A yes with words.
    Noted,
    /// A yes to an edited text.
    Edited,
    /// Any no.
    Rejected,
    /// A no with words.
    Feedback,
}

/// What came of the last turn's tool calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResultWord {
    /// All succeeded.
    Ok,
    /// At least one failed.
    Failed,
}

/// All that is given must hold. Texts are contained, ignoring case; of a list one is enough.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Condition {
    /// In the text of the stimulus that started the rule.
    #[serde(deserialize_with = "words")]
    pub text: Vec<String>,
    /// The sender of the mail, whole.
    #[serde(deserialize_with = "words")]
    pub from: Vec<String>,
    /// The type of the mail, whole.
    #[serde(deserialize_with = "words")]
    pub kind: Vec<String>,
    /// In the subject of the task at hand.
    #[serde(deserialize_with = "words")]
    pub task: Vec<String>,
    /// In the last words of the person.
    #[serde(deserialize_with = "words")]
    pub goal: Vec<String>,
    /// In the last tool result.
    #[serde(deserialize_with = "words")]
    pub output: Vec<String>,
    /// Who decided the plan, whole.
    #[serde(deserialize_with = "words")]
    pub by: Vec<String>,
    /// Who plays, whole.
    #[serde(deserialize_with = "words")]
    pub member: Vec<String>,
    /// On the last plan.
    pub verdict: Option<VerdictWord>,
    /// Of the last turn.
    pub result: Option<ResultWord>,
    /// At least so many plans were submitted.
    pub plans: Option<u32>,
    /// Whether the member has not said anything yet.
    pub first: Option<bool>,
}

/// A failure of the model call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    #[serde(default)]
    pub kind: Option<FaultKind>,
    #[serde(default)]
    pub status: Option<u16>,
    #[serde(default)]
    pub message: Option<String>,
    /// `Retry-After`, or how long nothing came.
    #[serde(default, deserialize_with = "wait")]
    pub wait: Duration,
    /// How often in one process; 0 = every time.
    #[serde(default)]
    pub times: u32,
}

/// Which failure; left out, the status decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FaultKind {
    Unauthorized,
    Exhausted,
    Status,
    Timeout,
    Connection,
    Overflow,
    Malformed,
}
