//! `sequential`: a line. Registration order, whatever the prompt says; the output of one is the input of the next.
//!
//! An empty output (at most 2 characters) or an error is tried once more; then the stage is FAILED, shown as such in the
//! answer, and the next stage works on the last good output. A stage held by a plan or permission keeps its place and
//! its retry (the engine sees to that). Origin: Solon AI `SequentialProtocol`.

use super::memory::memory;
use super::{
    ArgValue, CollaborationProtocol, Ending, Graph, Judgement, NodeKind, Remember, Report, Route, Seat, Step, Team, answer_or_last,
    goal_and,
};
use crate::domain::Section;
use std::fmt::Write as _;

/// An output of at most so many characters says nothing.
pub const BLANK_MAX: usize = 2;

memory! {
    /// Where the line stands.
    struct Memory {
        stage: u32,
        retried: bool,
        carry: String,
        from: String,
        failed: Vec<String>,
    }
}

/// The line.
#[derive(Clone, Debug, Default)]
pub struct Sequential {
    memory: Memory,
}

impl Sequential {
    fn fail(&mut self, who: &Seat, reason: &str) {
        self.memory.failed.push(format!("{} FAILED: {reason}", who.name()));
        self.advance();
    }

    fn advance(&mut self) {
        self.memory.stage += 1;
        self.memory.retried = false;
    }
}

impl CollaborationProtocol for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn graph(&self, team: &Team) -> Graph {
        let graph = Graph::default().node("start", NodeKind::Start);
        let (graph, last) = team.live().fold((graph, "start"), |(graph, before), seat| {
            (graph.member(seat.name()).edge(before, seat.name().as_str()), seat.name().as_str())
        });
        graph.node("end", NodeKind::End).edge(last, "end")
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

    fn has_supervisor(&self) -> bool {
        false
    }

    /// As many as there are stages: a line is bounded by itself.
    fn own_turns(&self, team: &Team) -> u32 {
        u32::try_from(team.seats.len()).unwrap_or(u32::MAX)
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        while let Some(seat) = team.seats.get(self.memory.stage as usize) {
            if seat.is_busy() {
                return Step::Wait;
            }
            if seat.is_live() {
                let rule = format!("stage {} of {}, registration order", self.memory.stage + 1, team.seats.len());
                return Step::Route(vec![Route::new(seat.name(), "", rule).on(u64::from(self.memory.stage))]);
            }
            self.fail(seat, "left the team");
        }
        let reason = if self.memory.failed.is_empty() { "last stage done" } else { "last stage reached, with FAILED stages" };
        Step::End(Ending::new(reason, self.memory.failed.is_empty()))
    }

    fn agent_prompt(&self, team: &Team, _who: &Seat, _route: &Route) -> String {
        if self.memory.carry.is_empty() {
            return team.prompt.clone();
        }
        let input = format!("Work on the output of the stage before ({}):\n\n{}", self.memory.from, self.memory.carry);
        goal_and(team, &input)
    }

    fn agent_output(&self, _team: &Team, _who: &Seat, raw: &str) -> String {
        raw.trim().to_owned()
    }

    fn on_agent_end(&mut self, _team: &Team, who: &Seat, report: &Report<'_>) -> Judgement {
        let blank = report.output.chars().count() <= BLANK_MAX;
        let fault = match report.error {
            Some(error) => Some(error.to_owned()),
            None if blank => Some(format!("empty output (at most {BLANK_MAX} characters)")),
            None => None,
        };
        match fault {
            Some(fault) if !self.memory.retried && !report.gone => {
                self.memory.retried = true;
                Judgement::Again(fault)
            }
            Some(fault) => {
                self.fail(who, &fault);
                Judgement::Failed(format!("FAILED: {fault}"))
            }
            None => {
                self.memory.carry = report.output.to_owned();
                self.memory.from = who.name().to_string();
                self.advance();
                Judgement::Done
            }
        }
    }

    fn view(&self, team: &Team) -> Vec<Section> {
        let row = |(at, seat): (usize, &Seat)| {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            let state = match at.cmp(&self.memory.stage) {
                std::cmp::Ordering::Less if seat.error.is_some() || !seat.is_live() => "FAILED",
                std::cmp::Ordering::Less => "done",
                std::cmp::Ordering::Equal if self.memory.retried => "second try",
                std::cmp::Ordering::Equal => seat.word(),
                std::cmp::Ordering::Greater => "to come",
            };
            [(at + 1).to_string(), seat.name().to_string(), state.to_owned()]
        };
        vec![Section::new("Stages", &["#", "member", "state"]).with(team.seats.iter().enumerate().map(row))]
    }

    fn on_finished(&mut self, team: &Team, ending: &Ending) -> String {
        let mut answer = answer_or_last(team, &Ending { answer: Some(self.memory.carry.clone()), ..ending.clone() });
        for line in &self.memory.failed {
            let _ = write!(answer, "\n[{line}]");
        }
        answer.trim_start().to_owned()
    }
}
