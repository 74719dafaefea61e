//! Tokens and money.

use super::{MemberName, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Tokens of one or more model calls. `input` includes `cached`; `output` includes `reasoning`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// Prompt tokens.
    pub input: u64,
    /// Completion tokens.
    pub output: u64,
    /// Prompt tokens that the server had in its cache.
    pub cached: u64,
    /// Completion tokens spent on reasoning.
    pub reasoning: u64,
}

impl TokenUsage {
    /// Input plus output.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Whether the server told nothing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}

/// Price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Per million prompt tokens.
    pub input: f64,
    /// Per million completion tokens.
    pub output: f64,
    /// Per million cached prompt tokens; `input` where it is not given.
    #[serde(default)]
    pub cached: Option<f64>,
}

impl Price {
    /// The cost of `usage` in US dollars.
    pub fn cost(&self, usage: TokenUsage) -> f64 {
        let fresh = usage.input.saturating_sub(usage.cached) as f64;
        let cached = usage.cached.min(usage.input) as f64;
        (fresh * self.input + cached * self.cached.unwrap_or(self.input) + usage.output as f64 * self.output) / 1e6
    }
}

/// What was spent: tokens, the known part of the cost, and whether some of it has no known price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// Tokens.
    pub usage: TokenUsage,
    /// US dollars, of the calls whose price is known.
    pub cost: f64,
    /// Whether at least one call had no known price: then `cost` is a lower bound and shows as unknown.
    pub unpriced: bool,
    /// Model calls.
    pub calls: u64,
}

impl Spend {
    /// Adds one model call.
    pub fn add_call(&mut self, usage: TokenUsage, cost: Option<f64>) {
        self.usage += usage;
        self.calls += 1;
        match cost {
            Some(cost) => self.cost += cost,
            None => self.unpriced = true,
        }
    }
}

/// What a team spent, and who of it on what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spending {
    /// All together.
    pub total: Spend,
    /// By member.
    pub by_member: BTreeMap<MemberName, Spend>,
    /// By model, as the server knows it.
    pub by_model: BTreeMap<String, Spend>,
    /// By task, where a call belonged to one.
    pub by_task: BTreeMap<TaskId, Spend>,
}

impl Spending {
    /// Adds one model call.
    pub fn add_call(&mut self, name: &MemberName, model: &str, task: Option<TaskId>, usage: TokenUsage, cost: Option<f64>) {
        self.total.add_call(usage, cost);
        self.by_member.entry(name.clone()).or_default().add_call(usage, cost);
        self.by_model.entry(model.to_owned()).or_default().add_call(usage, cost);
        if let Some(task) = task {
            self.by_task.entry(task).or_default().add_call(usage, cost);
        }
    }

    /// Everything as a list: what it is told by, the name, the spending. The whole team comes first.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, String, &Spend)> {
        let team = (self.total.calls > 0).then(|| ("team", String::new(), &self.total));
        let members = self.by_member.iter().map(|(name, spend)| ("member", name.to_string(), spend));
        let models = self.by_model.iter().map(|(model, spend)| ("model", model.clone(), spend));
        let tasks = self.by_task.iter().map(|(task, spend)| ("task", task.to_string(), spend));
        team.into_iter().chain(members).chain(models).chain(tasks)
    }
}
