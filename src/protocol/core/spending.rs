//! Tokens, prices, budgets.

use super::super::effect::{Effect, Mark};
use super::TeamCore;
use crate::domain::event::NoticeLevel;
use crate::domain::settings::Budget;
use crate::domain::usage::{Price, Spend};
use crate::domain::{Member, TeamEvent, Timestamp, TokenUsage};

impl TeamCore {
    pub(super) fn used(&self, member: &Member, model: &str, usage: TokenUsage, context: u64, window: u64, now: Timestamp) -> Vec<Effect> {
        let cost = self.cost_of(model, usage);
        let name = member.name.clone();
        let mut effects =
            vec![Effect::Emit(TeamEvent::UsageAdded { name, model: model.to_owned(), usage, cost, task: member.task, context, window })];
        let mut team = self.spend;
        team.add_call(usage, cost);
        if let Some(reason) = exceeded(&self.settings.budget, &team) {
            effects.extend(self.stop_for_budget(&format!("the team's budget is used up: {reason}"), now));
            return effects;
        }
        let Some(seat) = self.seat(&member.name) else { return effects };
        let mut own = seat.spend;
        own.add_call(usage, cost);
        if let Some(reason) = exceeded(&self.settings.member_budget, &own).filter(|_| seat.ending.is_none()) {
            let text = format!("{} stops: its budget is used up: {reason}", member.name);
            effects.extend(self.kill(&member.name, &format!("budget: {reason}"), now));
            effects.push(Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: Some(member.name.clone()) }));
        }
        effects
    }

    /// What a call cost in US dollars, where the model's price is known.
    pub fn cost_of(&self, model: &str, usage: TokenUsage) -> Option<f64> {
        self.price(model).map(|price| price.cost(usage))
    }

    /// The price of a model: by its exact name, else by the longest name that it continues (`gpt-5-mini-2025-08-07`).
    fn price(&self, model: &str) -> Option<&Price> {
        let continues = |known: &str| model.strip_prefix(known).is_some_and(|rest| rest.starts_with(['-', ':', '@']));
        self.settings.prices.get(model).or_else(|| {
            let known = self.settings.prices.iter().filter(|(name, _)| continues(name));
            known.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
        })
    }

    /// Stops everybody, once, with the reason.
    pub(super) fn stop_for_budget(&self, reason: &str, now: Timestamp) -> Vec<Effect> {
        if self.stopping.is_some() {
            return Vec::new();
        }
        let mut effects = vec![
            Effect::Mark(Mark::Stopping(Some(reason.to_owned()))),
            Effect::Emit(TeamEvent::Noticed { level: NoticeLevel::Warning, text: reason.to_owned(), name: None }),
        ];
        let live = self.members.iter().filter(|m| self.is_live(&m.name));
        effects.extend(live.flat_map(|m| self.kill(&m.name, reason, now)));
        effects
    }
}

/// Which limit of a budget is passed, in words.
fn exceeded(budget: &Budget, spend: &Spend) -> Option<String> {
    let tokens = spend.usage.total();
    if budget.tokens > 0 && tokens >= budget.tokens {
        return Some(format!("{tokens} of {} tokens", budget.tokens));
    }
    if budget.turns > 0 && spend.calls >= budget.turns {
        return Some(format!("{} of {} model calls", spend.calls, budget.turns));
    }
    if budget.cost > 0.0 && spend.cost >= budget.cost {
        return Some(format!("${:.4} of ${:.4}", spend.cost, budget.cost));
    }
    None
}
