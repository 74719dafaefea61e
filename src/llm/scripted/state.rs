//! Where a member stands in its script.

use super::script::{Rule, Script, VerdictWord};
use super::stimulus::{Beside, Vars};
use crate::domain::CallId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The variable that holds what came of the last tool calls.
pub(super) const OUTCOME: &str = "outcome";
/// All of them succeeded.
pub(super) const OK: &str = "ok";
/// At least one failed.
pub(super) const FAILED: &str = "failed";

/// A rule that was started and is not finished.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Frame {
    /// Its place in the script.
    pub rule: usize,
    /// The step it played last.
    pub last: Option<usize>,
    /// How often it played that step in a row.
    pub plays: u32,
    /// Whether that step plays again, because a rule with `again` came between or the app died in it.
    pub redo: bool,
    /// Which calls of that step were made the last time.
    #[serde(default)]
    pub made: Vec<usize>,
    /// Those of them that a crash cut off: only they are made again.
    #[serde(default)]
    pub cut: Vec<usize>,
    /// The stimulus it answers, and what came of its last tool calls.
    pub vars: Arc<Vars>,
}

/// Everything a script can ask about a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// Answers so far.
    pub turns: u32,
    /// The top one plays.
    pub frames: Vec<Frame>,
    /// Started by what was told since the last answer; the first one will play first.
    pub arrived: Vec<Frame>,
    /// The last value of each placeholder.
    pub vars: Vars,
    /// Tasks created: subject and number, in order.
    pub created: Vec<(String, u64)>,
    /// How often each rule was started.
    pub fired: BTreeMap<usize, u32>,
    /// Plans submitted.
    pub plans: u32,
    /// On the last plan.
    pub verdict: Option<VerdictWord>,
    /// Whether tool results came since the last answer, and whether one of them was a failure.
    pub results: Option<bool>,
    /// Calls of the last answer that have no result yet, with the subject of a task they create.
    #[serde(skip)]
    pub(super) calls: Vec<(CallId, String)>,
}

/// Who plays which script.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub script: &'a Script,
    pub name: &'a str,
}

impl<'a> Part<'a> {
    /// The rules it plays with their places: its own first, then the general ones, each in the order of the file.
    pub fn rules(self) -> impl Iterator<Item = (usize, &'a Rule)> {
        let of = move |own: bool| {
            let all = self.script.rules.iter().enumerate();
            all.filter(move |(_, rule)| rule.audience.names(self.name) == Some(own))
        };
        of(true).chain(of(false))
    }

    pub(super) fn beside(self) -> Beside {
        if self.name == "lead" { Beside::Notices } else { Beside::Words }
    }
}

impl State {
    /// The number of a created task: by its place (`#2` is the second), else by its subject, whole first, then contained.
    pub fn task_called(&self, wanted: &str) -> Option<u64> {
        if let Some(place) = wanted.strip_prefix('#').and_then(|digits| digits.parse::<usize>().ok()) {
            return self.created.get(place.checked_sub(1)?).map(|(_, number)| *number);
        }
        let wanted = wanted.trim().to_lowercase();
        let by = |fits: &dyn Fn(&str) -> bool| self.created.iter().rev().find(|(s, _)| fits(&s.to_lowercase())).map(|(_, n)| *n);
        by(&|subject| subject == wanted).or_else(|| by(&|subject| subject.contains(&wanted)))
    }
}
