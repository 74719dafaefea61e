//! `market_based`: members have a price. Work goes where the lead, the return or the budget says.
//!
//! Quality and efficiency are moving averages (0.6 of the old, 0.4 of the new) of the outcome and of the duration;
//! price = base · (0.5 + quality) · (1 + 0.15 · ln(1 + n)) after n runs, so before any experience (quality 0.5, n 0) it is
//! the base price; ROI = quality · efficiency / price. Where the real cost of a run is known, the base price follows it:
//! a member that costs twice the team's average drifts to twice the average base. The book outlives the run
//! (`team/market.json`). Origin: Solon AI `MarketBasedProtocol`.

use super::hierarchical::{ask_when_idle, finish_without_errors, warn_of_overuse};
use super::memory::memory;
use super::status::{self, STATUS_RULE};
use super::{
    ArgValue, CollaborationError, CollaborationProtocol, FinishVerdict, Graph, Judgement, Remember, Report, Route, Seat, Step, Team,
    dashboard, fall_back_to_last,
};
use crate::domain::Section;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Who awards work on the market.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The lead, who is shown the best return and the best price.
    #[default]
    Lead,
    /// The best return on investment, by rule.
    Roi,
    /// The lowest price, by rule.
    Budget,
}

/// Share of the old value in a moving average.
const OLD: f64 = 0.6;
/// Quality and efficiency before any experience.
const NEUTRAL: f64 = 0.5;
/// How much demand raises the price.
const DEMAND: f64 = 0.15;
/// A run of this length, in milliseconds, has an efficiency of one half.
const HALF_SPEED_MS: f64 = 60_000.0;
/// A base price never falls below this, so that a free model does not divide by zero.
const PRICE_MIN: f64 = 0.01;

memory! {
    /// What the market knows of a member.
    struct Quote {
        base: f64,
        quality: f64,
        efficiency: f64,
        runs: u32,
    }
}

memory! {
    /// All quotes, and the average cost of a run in US dollars.
    struct Book {
        quotes: BTreeMap<String, Quote>,
        mean_cost: Option<f64>,
    }
}

impl Quote {
    fn price(&self) -> f64 {
        (self.base * (0.5 + self.quality) * (1.0 + DEMAND * f64::from(self.runs).ln_1p())).max(PRICE_MIN)
    }

    fn roi(&self) -> f64 {
        self.quality * self.efficiency / self.price()
    }
}

fn average(old: f64, new: f64) -> f64 {
    OLD * old + (1.0 - OLD) * new
}

/// The market.
#[derive(Clone, Debug)]
pub struct Market {
    choice: Choice,
    book: Book,
    started: bool,
}

memory! {
    /// What a snapshot keeps.
    struct Memory {
        book: Book,
        started: bool,
    }
}

impl Market {
    /// With the book of earlier runs, if there is one.
    pub fn new(choice: Choice, kept: Option<&ArgValue>) -> Result<Self, CollaborationError> {
        let book = match kept {
            Some(value) => Book::from_value(value).ok_or_else(|| {
                CollaborationError::Config("market: the kept prices cannot be read; move the file away to begin anew".into())
            })?,
            None => Book::default(),
        };
        Ok(Self { choice, book, started: false })
    }

    fn quote(&self, seat: &Seat) -> Quote {
        let fresh = Quote { base: seat.card.base_price.max(PRICE_MIN), quality: NEUTRAL, efficiency: NEUTRAL, runs: 0 };
        self.book.quotes.get(seat.name().as_str()).cloned().unwrap_or(fresh)
    }

    /// The free member with the greatest value; ties by registration order.
    fn top<'a>(&self, team: &'a Team, value: impl Fn(&Quote) -> f64) -> Option<&'a Seat> {
        let free = team.live().filter(|seat| !seat.is_busy()).map(|seat| (value(&self.quote(seat)), seat));
        free.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, seat)| seat)
    }

    /// Who is awarded by rule, and the rule; `None` when the lead chooses.
    fn by_rule<'a>(&self, team: &'a Team) -> Option<(&'a Seat, &'static str)> {
        match self.choice {
            Choice::Lead => None,
            Choice::Roi => self.top(team, Quote::roi).map(|seat| (seat, "best ROI")),
            Choice::Budget => self.top(team, |quote| -quote.price()).map(|seat| (seat, "lowest price")),
        }
    }

    fn award(&self, team: &Team, instruction: &str) -> Option<Route> {
        let (seat, rule) = self.by_rule(team)?;
        let quote = self.quote(seat);
        Some(Route::new(seat.name(), instruction, format!("{rule} (price {:.2}, ROI {:.2})", quote.price(), quote.roi())))
    }

    fn learn(&mut self, who: &Seat, report: &Report<'_>, good: bool) {
        let mut quote = self.quote(who);
        quote.quality = average(quote.quality, f64::from(u8::from(good)));
        quote.efficiency = average(quote.efficiency, HALF_SPEED_MS / (HALF_SPEED_MS + report.duration_ms as f64));
        quote.runs = quote.runs.saturating_add(1);
        if let Some(cost) = report.cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            let mean = self.book.mean_cost.map_or(cost, |mean| average(mean, cost));
            self.book.mean_cost = Some(mean);
            if mean > 0.0 {
                let usual = who.card.base_price.max(PRICE_MIN);
                quote.base = average(quote.base, usual * cost / mean).max(PRICE_MIN);
            }
        }
        self.book.quotes.insert(who.name().to_string(), quote);
    }
}

impl CollaborationProtocol for Market {
    fn name(&self) -> &'static str {
        "market_based"
    }

    fn graph(&self, team: &Team) -> Graph {
        Graph::star(team.live().map(Seat::name))
    }

    /// Prices stay: they are experience, not part of a run.
    fn reset(&mut self, _team: &Team) {
        self.started = false;
    }

    fn save(&self) -> ArgValue {
        Memory { book: self.book.clone(), started: self.started }.to_value()
    }

    fn load(&mut self, memory: &ArgValue) -> bool {
        let Some(memory) = Memory::from_value(memory) else { return false };
        self.book = memory.book;
        self.started = memory.started;
        true
    }

    fn keepsake(&self) -> Option<(&'static str, ArgValue)> {
        Some(("market", self.book.to_value()))
    }

    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        STATUS_RULE.to_owned()
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        let judgement = status::judge(report);
        self.learn(who, report, judgement == Judgement::Done);
        judgement
    }

    /// With `roi` or `budget` the first piece of work is awarded without asking; later the supervisor says what, the rule
    /// says who.
    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        if !self.started && team.busy() == 0 {
            self.started = true;
            if let Some(route) = self.award(team, "") {
                return Step::Route(vec![route]);
            }
        }
        ask_when_idle(team)
    }

    fn supervisor_context(&self, team: &Team) -> String {
        let mut out = dashboard::show(team);
        out.push_str("\n## Market\n");
        for seat in team.live() {
            let quote = self.quote(seat);
            let _ = writeln!(
                out,
                "- {}: price {:.2}, quality {:.2}, efficiency {:.2}, ROI {:.2}, {} runs",
                seat.name(),
                quote.price(),
                quote.quality,
                quote.efficiency,
                quote.roi(),
                quote.runs
            );
        }
        let name = |seat: Option<&Seat>| seat.map_or_else(|| "nobody".to_owned(), |seat| seat.name().to_string());
        let _ = writeln!(out, "Top ROI: {}", name(self.top(team, Quote::roi)));
        let _ = writeln!(out, "Budget Pick: {}", name(self.top(team, |quote| -quote.price())));
        if self.choice != Choice::Lead {
            out.push_str("The award is by rule: say what has to be done; who does it is decided by the market.\n");
        }
        out
    }

    fn resolve_route(&mut self, team: &Team, route: Route) -> Step {
        Step::Route(vec![self.award(team, &route.instruction).unwrap_or(route)])
    }

    fn on_route(&mut self, _team: &Team, who: &Seat, _route: &Route) -> Option<String> {
        warn_of_overuse(who)
    }

    fn may_finish(&self, team: &Team) -> FinishVerdict {
        finish_without_errors(team)
    }

    fn view(&self, team: &Team) -> Vec<Section> {
        let top = self.top(team, Quote::roi).map(Seat::name);
        let cheap = self.top(team, |quote| -quote.price()).map(Seat::name);
        let row = |seat: &Seat| {
            let quote = self.quote(seat);
            let picks = [(top, "Top ROI"), (cheap, "Budget Pick")].into_iter().filter(|(name, _)| *name == Some(seat.name()));
            let number = |value: f64| format!("{value:.2}");
            [
                seat.name().to_string(),
                number(quote.price()),
                number(quote.quality),
                number(quote.efficiency),
                number(quote.roi()),
                quote.runs.to_string(),
                picks.map(|(_, word)| word).collect::<Vec<_>>().join(", "),
            ]
        };
        let title = match self.choice {
            Choice::Lead => "Market: the lead chooses",
            Choice::Roi => "Market: the best ROI is awarded",
            Choice::Budget => "Market: the lowest price is awarded",
        };
        vec![Section::new(title, &["member", "price", "quality", "efficiency", "ROI", "runs", "pick"]).with(team.live().map(row))]
    }

    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        match self.award(team, "") {
            Some(route) => Step::Route(vec![Route { rule: format!("{}; fallback: {reason}", route.rule), ..route }]),
            None => fall_back_to_last(team, reason),
        }
    }
}
