//! `a2a`: members hand over to each other directly. The memo and the state go to the next member, once; when nobody asks
//! for a transfer, or five were made, the supervisor closes.
//!
//! An unknown target, the sender itself, or somebody who left: back to the sender with the error; the quota is not
//! touched, and at most three such in a row. Origin: Solon AI `A2AProtocol`.

use super::decision::finish_answer;
use super::memory::memory;
use super::{
    ArgValue, Call, CollaborationProtocol, Decision, Ending, FINISH, Graph, Judgement, NodeKind, Param, ParamKind, ProtocolTool, Remember,
    Report, Route, Said, Seat, Step, Team, dashboard, goal_and, status,
};
use crate::domain::Section;
use crate::domain::text::one_line;

/// So many transfers in one run.
pub const TRANSFERS_MAX: u32 = 5;
/// So many wrong transfers in a row.
pub const WRONG_MAX: u32 = 3;
/// Longest memo and state, in characters.
const MEMO_MAX: usize = 8_000;

/// Hands over.
pub const TRANSFER_TO: ProtocolTool = ProtocolTool {
    name: "transfer_to",
    description: "Hand the work over to another member, then end your turn. Without it the team's work ends with you.",
    params: &[
        Param::required("target", ParamKind::Text, "the member's exact name, not your own"),
        Param::required("memo", ParamKind::Text, "what it has to know and do; only it reads this"),
        Param::optional("state", ParamKind::Text, "facts to carry on with"),
    ],
};

memory! {
    /// One hand-over.
    struct Hand {
        from: String,
        target: String,
        memo: String,
        state: String,
    }
}

memory! {
    /// Where the relay stands.
    struct Memory {
        started: bool,
        transfers: u32,
        wrong: u32,
        pending: Option<Hand>,
        delivery: Option<Hand>,
        trail: Vec<Hand>,
    }
}

/// Direct hand-over.
#[derive(Clone, Debug, Default)]
pub struct HandOver {
    memory: Memory,
}

impl HandOver {
    fn wrong(&mut self, why: &str) -> String {
        self.memory.wrong += 1;
        if self.memory.wrong >= WRONG_MAX {
            return format!(
                "not transferred: {why}. That was the {WRONG_MAX}. wrong transfer in a row: end your turn with your result, the supervisor closes"
            );
        }
        format!("not transferred: {why}")
    }

    fn is_open(&self) -> bool {
        self.memory.transfers < TRANSFERS_MAX && self.memory.wrong < WRONG_MAX
    }
}

impl CollaborationProtocol for HandOver {
    fn name(&self) -> &'static str {
        "a2a"
    }

    fn graph(&self, team: &Team) -> Graph {
        let names: Vec<&str> = team.live().map(|seat| seat.name().as_str()).collect();
        let base = Graph::default().node("start", NodeKind::Start).node("supervisor", NodeKind::Supervisor).node("end", NodeKind::End);
        let graph = team.live().fold(base, |graph, seat| graph.member(seat.name()).edge(seat.name().as_str(), "supervisor"));
        let graph = graph.edge("start", names.first().copied().unwrap_or("supervisor")).edge("supervisor", "end");
        // Beyond a few members all pairs are a picture nobody can read, and a thousand would be a million edges.
        let pairs = names.iter().take(8).flat_map(|from| names.iter().take(8).filter(move |to| from != *to).map(move |to| (*from, *to)));
        pairs.fold(graph, |graph, (from, to)| graph.edge(from, to))
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

    fn agent_tools(&self, _team: &Team, _who: &Seat) -> Vec<ProtocolTool> {
        if self.is_open() { vec![TRANSFER_TO] } else { Vec::new() }
    }

    fn agent_instruction(&self, team: &Team, who: &Seat) -> String {
        if !self.is_open() {
            return format!("No transfer is left: finish the work yourself.\n{}", status::STATUS_RULE);
        }
        let others = team.live().filter(|seat| seat.name() != who.name()).take(40);
        let roster: Vec<String> = others.map(|seat| format!("{} ({})", seat.name(), one_line(&seat.card.role, 80))).collect();
        let left = TRANSFERS_MAX - self.memory.transfers;
        format!("Do your part. If another member should go on, call transfer_to ({left} left): {}\n", roster.join(", "))
    }

    fn agent_prompt(&self, team: &Team, who: &Seat, route: &Route) -> String {
        let delivery = self.memory.delivery.as_ref().filter(|hand| hand.target == who.name().as_str());
        let Some(hand) = delivery else { return goal_and(team, &route.instruction) };
        let state = if hand.state.is_empty() { String::new() } else { format!("\nState: {}", hand.state) };
        goal_and(team, &format!("{} hands over to you.\nMemo: {}{state}", hand.from, hand.memo))
    }

    fn on_agent_tool(&mut self, team: &Team, who: &Seat, call: &Call) -> Result<Said, String> {
        if let Some(hand) = &self.memory.pending {
            return Err(format!("you hand over to {} already: end your turn", hand.target));
        }
        let target = match team.find(call.text("target")) {
            Ok(seat) if seat.name() == who.name() => return Err(self.wrong("you cannot hand over to yourself")),
            Ok(seat) => seat.name().to_string(),
            Err(why) => return Err(self.wrong(&why)),
        };
        self.memory.wrong = 0;
        let cut = |name: &str| call.text(name).chars().take(MEMO_MAX).collect::<String>();
        self.memory.pending = Some(Hand { from: who.name().to_string(), target: target.clone(), memo: cut("memo"), state: cut("state") });
        Ok(Said::last(format!("{target} goes on when you end your turn")))
    }

    fn on_agent_end(&mut self, _team: &Team, _who: &Seat, report: &Report<'_>) -> Judgement {
        // A transfer that was only written as text could not be answered at once: the sender tries again.
        let retry = !report.faults.is_empty() && self.memory.pending.is_none() && self.is_open();
        if retry && report.error.is_none() && !report.gone {
            return Judgement::Again(report.faults.to_owned());
        }
        self.memory.delivery = None;
        if report.error.is_some() {
            self.memory.pending = None;
        }
        // Whoever hands over need not say anything else.
        match &self.memory.pending {
            Some(hand) if report.output.trim().is_empty() => Judgement::Noted(format!("hands over to {}", hand.target)),
            Some(_) | None => status::judge(report),
        }
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        if team.busy() > 0 {
            return Step::Wait;
        }
        if !self.memory.started {
            self.memory.started = true;
            let first = team.first().map(|seat| Route::new(seat.name(), "", "the first member begins"));
            return first.map_or(Step::Supervisor, |route| Step::Route(vec![route]));
        }
        let Some(hand) = self.memory.pending.take() else { return Step::Supervisor };
        let Ok(seat) = team.find(&hand.target) else { return Step::Supervisor };
        self.memory.transfers += 1;
        let rule = format!("transfer {} of {TRANSFERS_MAX} from {}", self.memory.transfers, hand.from);
        let route = Route::new(seat.name(), "", rule);
        self.memory.trail.push(hand.clone());
        self.memory.delivery = Some(hand);
        Step::Route(vec![route])
    }

    /// The supervisor closes; it does not route.
    fn supervisor_tools(&self, _team: &Team) -> Vec<ProtocolTool> {
        vec![FINISH]
    }

    fn supervisor_instruction(&self, _team: &Team) -> String {
        "The members are done handing over. Close the run: finish{answer}, or just write the final answer.\n".into()
    }

    fn supervisor_context(&self, team: &Team) -> String {
        format!("{}\nTransfers made: {} of {TRANSFERS_MAX}\n", dashboard::show(team), self.memory.transfers)
    }

    fn read_decision(&mut self, _team: &Team, text: &str) -> Result<Decision, String> {
        let answer = finish_answer(text).unwrap_or_else(|| text.trim().to_owned());
        if answer.is_empty() && text.trim().is_empty() {
            Err("the supervisor's answer is empty".into())
        } else {
            Ok(Decision::Finish { answer })
        }
    }

    fn view(&self, _team: &Team) -> Vec<Section> {
        let row = |(at, hand): (usize, &Hand)| {
            [(at + 1).to_string(), hand.from.clone(), hand.target.clone(), hand.memo.clone(), hand.state.clone()]
        };
        let title = format!("Hand-overs ({} of {TRANSFERS_MAX})", self.memory.transfers);
        vec![Section::new(title, &["#", "from", "to", "memo", "state"]).with(self.memory.trail.iter().enumerate().map(row))]
    }

    fn fallback(&mut self, team: &Team, reason: &str) -> Step {
        let ok = team.last().is_some_and(|seat| seat.error.is_none());
        Step::End(Ending::new(format!("closed with the last member's output: {reason}"), ok))
    }
}
