//! Driving a collaboration protocol: the engine says who acts next, this room lets them act and tells it what came out.
//!
//! The engine is pure and knows no agents; this room knows no protocol. The person's goal starts a run as soon as there
//! are teammates: at once where there are some, else when the lead, who was told the goal, has spawned them and rests.
//!
//! What an agent reports becomes at most one input of the engine, and inputs wait in a queue, so that the directives of
//! one are carried out before the next is taken: the end of a run is always its last event.
//!
//! - A step ends when its member rests. While a plan or permission of it is open, or after a person interrupted it, the
//!   step is held: it keeps its place and its retry, and goes on when the member works again.
//! - The output of a member is what it said last in each turn of the step, so that mail which came in at the end does not
//!   replace its result. The lead's decision is what it said in the turn in which it was asked.
//! - A member that ends is gone for the run; one that is spawned or resumed joins it.

mod calls;
mod keep;
mod members;
mod run;
mod show;

use super::Supervisor;
use crate::collaboration::{Engine, Input as Step};
use crate::domain::event::NoticeLevel;
use crate::domain::{Generation, MemberName, Party, TeamCommand, TeamEvent, Timestamp};
use crate::protocol::turn::Outcome;
use crate::protocol::{AgentReport, Input, Outside};
use crate::runtime::clock;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// Inputs of the engine that may follow from one event: far above any team, so that a fault cannot hang the supervisor.
const INPUTS_MAX: usize = 100_000;

/// A member's step, as the engine asked for it; the lead's, while it is asked.
#[derive(Clone, Debug, Default)]
struct Work {
    began: Timestamp,
    tokens: u64,
    cost: f64,
    unpriced: bool,
    /// The last words of each turn.
    said: Vec<String>,
    /// Since when it waits for a verdict or for the person.
    held: Option<Timestamp>,
    waited: Duration,
    interrupted: bool,
}

impl Work {
    fn begun() -> Self {
        Self { began: clock::now(), ..Self::default() }
    }

    /// Wall time without what was spent waiting, in milliseconds.
    fn millis(&self) -> u64 {
        let took = clock::now().since(self.began).saturating_sub(self.waited);
        u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
    }
}

/// The engine of the team's protocol, and what it waits for.
#[derive(Default)]
pub(super) struct Drive {
    engine: Option<Engine>,
    /// What the person wants, until the run for it starts.
    goal: Option<String>,
    /// What the person wrote to the lead before the team was opened.
    unread: Option<String>,
    work: HashMap<MemberName, Work>,
    inputs: VecDeque<Step>,
    /// Who was offered tools of the protocol.
    offered: HashSet<MemberName>,
    /// Whose first instruction was told.
    briefed: HashSet<(MemberName, Generation)>,
    /// The run comes from an earlier process and has not gone on yet.
    restored: bool,
    /// The app ends: what is on disk stays as it is.
    frozen: bool,
    shown: show::Shown,
}

impl Drive {
    /// What the person wrote to the lead before the team was opened.
    pub(super) fn written(&mut self, unread: Option<String>) {
        self.unread = unread;
    }

    /// Steps are counted on from those of the process that ran the team before.
    pub(super) fn count_on_from(&mut self, step: u64) {
        self.shown.step = step;
    }

    /// The work has ended: a goal that no team came for is not kept for later.
    pub(super) fn forget_goal(&mut self) {
        self.goal = None;
    }

    /// The engine of a run that goes on.
    fn running(&self) -> Option<&Engine> {
        self.engine.as_ref().filter(|engine| engine.is_running() && !self.restored)
    }
}

impl Supervisor {
    /// The app ends, or the person stops the team: nothing that happens from now on is part of the run, so that it can be
    /// taken up later.
    pub(super) fn freeze_drive(&mut self) {
        self.drive.frozen = true;
    }

    /// Before a command is decided: a new goal, or another protocol, gives up a run that only waits to be taken up.
    pub(super) fn drive_before(&mut self, by: &Party, command: &TeamCommand) {
        let anew = match command {
            TeamCommand::Send { to, content } => is_lead(to) && !content.trim().is_empty(),
            TeamCommand::SetProtocol { .. } => true,
            _ => false,
        };
        if anew && *by == Party::Human && self.drive.restored {
            self.give_up_restored();
        }
    }

    /// What an input means for the run, after the core has carried it out.
    pub(super) fn drive_after(&mut self, input: &Input) {
        if self.drive.frozen {
            return;
        }
        if !self.core.is_driven() {
            self.trace_undriven(input);
            return;
        }
        match input {
            Input::Command { by: Party::Human, command: TeamCommand::Send { to, content } } if is_lead(to) => self.take_goal(content),
            Input::Outside(Outside::Mail(name, mail)) if name.is_lead() => {
                if let Some(last) = mail.iter().rev().find(|m| m.from == Party::Human) {
                    self.take_goal(&last.content);
                }
            }
            Input::Report { name, generation, report } => {
                if self.core.member(name).is_some_and(|m| m.generation == *generation) {
                    self.drive_report(name, report);
                }
            }
            Input::Command { command: TeamCommand::SetProtocol { .. }, .. } => self.show_run(),
            Input::Command { command: TeamCommand::EndRun, .. } => self.end_run_now(),
            Input::Command { .. } | Input::Outside(_) | Input::Fired(_) => {}
        }
        if self.core.has_to_stop() {
            // Whoever leaves comes back to the run; a team that may not spend any more has ended it.
            match input {
                Input::Command { command: TeamCommand::StopTeam { .. }, .. } => self.freeze_drive(),
                _ => self.stop_run(),
            }
            return;
        }
        self.sync_members();
        self.sync_holds();
        self.go_on();
        self.start_run();
        self.pump();
    }

    /// Takes the waiting inputs to the engine until none is left.
    fn pump(&mut self) {
        for _ in 0..INPUTS_MAX {
            let Some(input) = self.drive.inputs.pop_front() else { break };
            self.step(input);
        }
        self.withdraw_tools();
        self.show_run();
    }

    fn take_goal(&mut self, content: &str) {
        if self.drive.restored {
            self.give_up_restored();
        }
        if self.core.is_driving() {
            return;
        }
        self.drive.goal = Some(content.to_owned());
        self.ask_for_team();
    }

    fn drive_report(&mut self, name: &MemberName, report: &AgentReport) {
        let cost = match report {
            AgentReport::Used { model, usage, .. } => self.core.cost_of(model, *usage),
            _ => None,
        };
        let Some(work) = self.drive.work.get_mut(name) else { return };
        match report {
            AgentReport::Began { cause } => {
                if cause == calls::CAUSE {
                    work.said.clear();
                }
                work.said.push(String::new());
                work.interrupted = false;
            }
            AgentReport::Answered { text, .. } if !text.trim().is_empty() => match work.said.last_mut() {
                Some(last) => last.clone_from(text),
                None => work.said.push(text.clone()),
            },
            AgentReport::Used { usage, .. } => {
                work.tokens = work.tokens.saturating_add(usage.total());
                match cost {
                    Some(cost) => work.cost += cost,
                    None => work.unpriced = true,
                }
            }
            AgentReport::Rested { outcome, .. } => self.rested_in_run(name, outcome),
            AgentReport::Answered { .. }
            | AgentReport::Ended { .. }
            | AgentReport::Doing(_)
            | AgentReport::ToolBegan { .. }
            | AgentReport::ToolEnded { .. }
            | AgentReport::Compacted { .. }
            | AgentReport::Noticed { .. } => {}
        }
    }

    /// A member rests: its step has ended, or it is held.
    fn rested_in_run(&mut self, name: &MemberName, outcome: &Outcome) {
        // The core may have nudged it: then it works on, and rests later.
        if !self.core.is_at_rest(name) {
            return;
        }
        if *outcome == Outcome::Interrupted {
            self.interrupted_in_run(name);
            return;
        }
        if self.waits_for_verdict(name) {
            return;
        }
        let Some(work) = self.drive.work.remove(name) else { return };
        let fault = match outcome {
            Outcome::Done | Outcome::Idled | Outcome::AwaitsVerdict | Outcome::Empty => None,
            Outcome::RoundCap(_) | Outcome::Interrupted | Outcome::Circling(_) | Outcome::Repeating(_) => Some(outcome.words()),
        };
        let said: Vec<&str> = work.said.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let input = if name.is_lead() {
            let text = said.first().copied().unwrap_or_default().to_owned();
            fault.map_or(Step::SupervisorAnswered { text }, |error| Step::SupervisorFailed { error })
        } else {
            Step::MemberEnded {
                name: name.clone(),
                output: said.join("\n\n"),
                error: fault,
                duration_ms: work.millis(),
                cost: (!work.unpriced).then_some(work.cost),
                tokens: work.tokens,
            }
        };
        self.drive.inputs.push_back(input);
    }

    /// The person ended its turn: the step waits for what the person says.
    fn interrupted_in_run(&mut self, name: &MemberName) {
        let Some(work) = self.drive.work.get_mut(name) else { return };
        if std::mem::replace(&mut work.interrupted, true) {
            return;
        }
        let text =
            format!("{name} was interrupted: its step waits. Write to it (m), and it goes on; stop it (S), and the run goes on without it");
        self.record(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: Some(name.clone()) });
    }
}

fn is_lead(to: &str) -> bool {
    to.trim().eq_ignore_ascii_case(MemberName::lead().as_str())
}
