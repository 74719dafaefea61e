//! `contract_net`: the supervisor calls for bids, members bid side by side, the supervisor awards the work to a bidder.
//!
//! A member that does not answer gets a computed bid. No award without a bid: an award before any bid opens the bidding.
//! At most two rounds. A run may finish only after a winner ran. Origin: Solon AI `ContractNetProtocol`.

use super::bid::{CALL_FOR_BIDS, SUBMIT_PROPOSAL, computed_score};
use super::decision::{finish_answer, mentions, read_text};
use super::hierarchical::ask_when_idle;
use super::memory::memory;
use super::{
    ArgValue, Call, CollaborationProtocol, Decision, Ending, FINISH, FinishVerdict, Graph, Judgement, NodeKind, ProtocolTool, ROUTE_TO,
    Remember, Report, Route, Said, Seat, Step, Team, answer_or_last, dashboard, fall_back_to_last, goal_and, status,
};
use crate::domain::Section;
use crate::domain::text::one_line;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// So many calls for bids in one run.
pub const ROUNDS_MAX: u32 = 2;

memory! {
    /// One bid.
    struct Bid {
        score: f64,
        plan: String,
        computed: bool,
    }
}

memory! {
    /// Where the contract stands.
    struct Memory {
        requirement: String,
        round: u32,
        called: bool,
        bidding: bool,
        bids: BTreeMap<String, Bid>,
        winner: Option<String>,
        winner_ran: bool,
        result: String,
    }
}

/// The contract net.
#[derive(Clone, Debug, Default)]
pub struct ContractNet {
    memory: Memory,
}

impl ContractNet {
    fn call(&mut self, requirement: &str) {
        self.memory.requirement = requirement.to_owned();
        self.memory.round += 1;
        self.memory.called = true;
        self.memory.bids.clear();
        self.memory.winner = None;
        self.memory.winner_ran = false;
    }

    fn open(&mut self, team: &Team) -> Step {
        self.memory.called = false;
        self.memory.bidding = true;
        let rule = format!("call for bids, round {} of {ROUNDS_MAX}", self.memory.round);
        let bidders = team
            .live()
            .enumerate()
            .map(|(at, seat)| Route::new(seat.name(), "", rule.clone()).on(u64::from(self.memory.round) << 32 | at as u64));
        Step::Route(bidders.collect())
    }

    fn bid_of(&self, seat: &Seat) -> Option<&Bid> {
        self.memory.bids.get(seat.name().as_str())
    }

    fn is_bidding(&self, seat: &Seat) -> bool {
        self.memory.bidding && seat.is_busy()
    }

    /// The highest bid of a member still there; ties by registration order.
    fn best<'a>(&self, team: &'a Team) -> Option<&'a Seat> {
        let bidders = team.live().filter_map(|seat| self.bid_of(seat).map(|bid| (bid.score, seat)));
        bidders.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, seat)| seat)
    }

    fn award(&mut self, route: Route) -> Step {
        self.memory.winner = Some(route.who.to_string());
        Step::Route(vec![route])
    }
}

impl CollaborationProtocol for ContractNet {
    fn name(&self) -> &'static str {
        "contract_net"
    }

    fn graph(&self, team: &Team) -> Graph {
        let graph = Graph::star(team.live().map(Seat::name)).node("bidding", NodeKind::Bidding);
        graph.edge("supervisor", "bidding").edge("bidding", "supervisor")
    }

    fn reset(&mut self, _team: &Team) {
        self.memory = Memory::default();
    }

    fn save(&self) -> ArgValue {
        self.memory.to_value()
    }

    fn load(&mut self, memory: &ArgValue) -> bool {
        Memory::from_value(memory).map(|memory| self.memory = memory).is_some()
    }

    fn agent_tools(&self, _team: &Team, who: &Seat) -> Vec<ProtocolTool> {
        if self.is_bidding(who) { vec![SUBMIT_PROPOSAL] } else { Vec::new() }
    }

    fn agent_instruction(&self, _team: &Team, who: &Seat) -> String {
        if self.is_bidding(who) {
            return "A call for bids: call submit_proposal once, then end. Change nothing yet.\n".into();
        }
        status::STATUS_RULE.to_owned()
    }

    fn agent_prompt(&self, team: &Team, who: &Seat, route: &Route) -> String {
        if self.is_bidding(who) {
            return goal_and(team, &format!("Bid for this requirement: {}", self.memory.requirement));
        }
        let plan = self.bid_of(who).map(|bid| format!("\nYour bid: {}", bid.plan)).unwrap_or_default();
        goal_and(team, &format!("You won the bidding. Do it now: {}\n{}{plan}", self.memory.requirement, route.instruction))
    }

    fn on_agent_tool(&mut self, _team: &Team, who: &Seat, call: &Call) -> Result<Said, String> {
        let score = call.number("score").unwrap_or(0.0).clamp(0.0, 100.0);
        let bid = Bid { score, plan: one_line(call.text("plan"), 400), computed: false };
        self.memory.bids.insert(who.name().to_string(), bid);
        Ok(Said::last(format!("bid {score} taken; end your turn")))
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        if self.memory.bidding {
            if report.gone {
                self.memory.bids.remove(who.name().as_str());
                return Judgement::Failed("left the team while bidding".into());
            }
            if let Some(bid) = self.bid_of(who) {
                return Judgement::Noted(format!("bid {}: {}", bid.score, bid.plan));
            }
            let score = computed_score(who, &self.memory.requirement);
            self.memory.bids.insert(who.name().to_string(), Bid { score, plan: one_line(report.output, 200), computed: true });
            let why = report.error.or(Some(report.faults).filter(|text| !text.is_empty())).unwrap_or("no proposal");
            return Judgement::Noted(format!("computed bid {score} ({})", one_line(why, 120)));
        }
        if self.memory.winner.as_deref() == Some(who.name().as_str()) {
            self.memory.winner_ran = true;
            self.memory.result = report.output.to_owned();
        }
        status::judge(report)
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        if self.memory.called && team.busy() == 0 {
            return self.open(team);
        }
        if team.busy() == 0 {
            self.memory.bidding = false;
        }
        ask_when_idle(team)
    }

    fn supervisor_tools(&self, team: &Team) -> Vec<ProtocolTool> {
        let mut tools = Vec::new();
        if self.memory.round < ROUNDS_MAX {
            tools.push(CALL_FOR_BIDS);
        }
        if self.best(team).is_some() {
            tools.push(ROUTE_TO);
        }
        tools.push(FINISH);
        tools
    }

    fn supervisor_instruction(&self, _team: &Team) -> String {
        "You award work by bids. First call_for_bids{requirement} (by text: @call_for_bids and the requirement), then route_to{agent, \
         instruction} one of the bidders (by text: its exact name and what it shall do), then finish{answer} after the winner ran \
         (by text: [TEAM_FINISH] and the answer).\n"
            .into()
    }

    fn supervisor_context(&self, team: &Team) -> String {
        let mut out = dashboard::show(team);
        let _ = writeln!(out, "\n## Bids (round {} of {ROUNDS_MAX})\n{}", self.memory.round, self.memory.requirement);
        let mut bids: Vec<(&String, &Bid)> = self.memory.bids.iter().collect();
        bids.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
        for (name, bid) in bids {
            let kind = if bid.computed { "computed" } else { "own" };
            let _ = writeln!(out, "- {name}: {} ({kind}) {}", bid.score, bid.plan);
        }
        if let Some(winner) = &self.memory.winner {
            let _ = writeln!(out, "Awarded to {winner}{}", if self.memory.winner_ran { ", who ran" } else { "" });
        }
        out
    }

    fn on_supervisor_tool(&mut self, _team: &Team, call: &Call) -> Result<Said, String> {
        if self.memory.round >= ROUNDS_MAX {
            return Err(format!("{ROUNDS_MAX} rounds were held already: award the work to one of the bidders"));
        }
        self.call(call.text("requirement"));
        Ok(Said::decided("bidding is open; end your turn", Decision::ByRule))
    }

    fn read_decision(&mut self, team: &Team, text: &str) -> Result<Decision, String> {
        let asks = mentions(text, "call_for_bids") || mentions(text, "call for bids");
        if finish_answer(text).is_none() && asks && self.memory.round < ROUNDS_MAX {
            self.call(text.trim());
            return Ok(Decision::ByRule);
        }
        read_text(text, team)
    }

    fn may_route(&self, team: &Team, who: &Seat) -> Result<(), String> {
        if self.best(team).is_none() || self.bid_of(who).is_some() {
            return Ok(());
        }
        Err(format!("{} made no bid: award the work to a bidder", who.name()))
    }

    fn resolve_route(&mut self, team: &Team, route: Route) -> Step {
        if self.best(team).is_some() {
            return self.award(route);
        }
        if self.memory.round >= ROUNDS_MAX {
            return Step::End(Ending::new("no bidder is left and no round either", false));
        }
        let requirement = if route.instruction.is_empty() { team.prompt.clone() } else { route.instruction };
        self.call(&requirement);
        self.open(team)
    }

    fn may_finish(&self, _team: &Team) -> FinishVerdict {
        if self.memory.winner_ran {
            FinishVerdict::Allowed
        } else {
            FinishVerdict::Refused("no winner has run yet: call for bids, then award the work".into())
        }
    }

    /// The best bid wins; without a bid the bidding is opened.
    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        if self.memory.winner_ran {
            return fall_back_to_last(team, reason);
        }
        match self.best(team) {
            Some(seat) => {
                let route = Route::new(seat.name(), "", format!("fallback to the best bid: {reason}"));
                self.award(route)
            }
            None => {
                let first = team.first().map(|seat| Route::new(seat.name(), "", "fallback to bidding"));
                first.map_or_else(|| Step::End(Ending::new("nobody is there to bid", false)), |route| self.resolve_route(team, route))
            }
        }
    }

    fn view(&self, team: &Team) -> Vec<Section> {
        let mut bids: Vec<(&Seat, &Bid)> = team.seats.iter().filter_map(|seat| self.bid_of(seat).map(|bid| (seat, bid))).collect();
        bids.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
        let row = |(seat, bid): (&Seat, &Bid)| {
            let won = self.memory.winner.as_deref() == Some(seat.name().as_str());
            let source = if bid.computed { "computed" } else { "own bid" };
            let award = match (won, self.memory.winner_ran) {
                (true, true) => "won, ran",
                (true, false) => "won",
                (false, _) => "",
            };
            [seat.name().to_string(), format!("{:.0}", bid.score), source.into(), award.into(), bid.plan.clone()]
        };
        let title = match self.memory.round {
            0 => "Bids: none called for yet".to_owned(),
            round => format!("Bids, round {round} of {ROUNDS_MAX}: {}", self.memory.requirement),
        };
        vec![Section::new(title, &["member", "score", "source", "award", "plan"]).with(bids.into_iter().map(row))]
    }

    fn on_finished(&mut self, team: &Team, ending: &Ending) -> String {
        match &ending.answer {
            Some(answer) if !answer.trim().is_empty() => answer.clone(),
            Some(_) | None if !self.memory.result.is_empty() => self.memory.result.clone(),
            Some(_) | None => answer_or_last(team, ending),
        }
    }
}
