//! The engine: the rules that all protocols share, as one sans-IO machine.
//!
//! `handle(input, now)` gives directives; no clock, no channel, no randomness. The same inputs give the same directives.

mod calls;
mod endings;
mod io;
mod membership;
mod nested;
mod snapshot;
mod steps;
mod supervise;

pub use io::{Directive, EngineConfig, Input, TraceRecord};
pub use nested::DEPTH_MAX;
pub use snapshot::EngineSnapshot;

use super::{CollaborationError, CollaborationProtocol, DEFAULT_MAX_TURNS, Decision, Ending, Graph, MemberCard, SeatState, Team};
use crate::domain::{MemberName, Timestamp};
use nested::Children;
use serde::{Deserialize, Serialize};

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    /// No prompt yet.
    #[default]
    Fresh,
    /// A run goes on.
    Running,
    /// It is over.
    Ended,
}

/// The supervisor's open question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Question {
    /// When it was asked.
    asked: Timestamp,
    /// Answers so far that could not be used.
    tries: u32,
    /// What was decided by tool; takes effect when the turn ends.
    decided: Option<Decision>,
    /// A tool of the protocol was used in this turn.
    acted: bool,
    /// The driver that was asked is gone: ask again.
    interrupted: bool,
}

/// What one input brought about.
#[derive(Debug, Default)]
struct Out {
    directives: Vec<Directive>,
    ended: Option<Directive>,
    changed: bool,
}

/// A run of one protocol over one team.
pub struct Engine {
    protocol: Box<dyn CollaborationProtocol>,
    config: EngineConfig,
    team: Team,
    children: Children,
    phase: Phase,
    question: Option<Question>,
    ending: Option<Ending>,
    loop_told: bool,
    now: Timestamp,
    out: Out,
}

impl Engine {
    /// An engine that waits for a prompt. Errors: a team the protocol cannot work with, a name used twice.
    pub fn new(
        protocol: Box<dyn CollaborationProtocol>,
        members: Vec<MemberCard>,
        config: EngineConfig,
    ) -> Result<Self, CollaborationError> {
        nested::check_names(&members)?;
        let team = Team::new(members)?;
        protocol.check(&team)?;
        let children = Children::build(&team)?;
        Ok(Self::with(protocol, config, team, children))
    }

    fn with(protocol: Box<dyn CollaborationProtocol>, config: EngineConfig, team: Team, children: Children) -> Self {
        let now = Timestamp::default();
        Self {
            protocol,
            config,
            team,
            children,
            phase: Phase::Fresh,
            question: None,
            ending: None,
            loop_told: false,
            now,
            out: Out::default(),
        }
    }

    /// The protocol's name.
    pub fn name(&self) -> &'static str {
        self.protocol.name()
    }

    pub(in crate::collaboration) fn protocol(&self) -> &dyn CollaborationProtocol {
        &*self.protocol
    }

    /// The graph over the present team.
    pub fn graph(&self) -> Graph {
        self.protocol.graph(&self.team)
    }

    /// The team as it stands.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Whether idle members claim ready tasks from the board by themselves (`autonomous`).
    pub fn members_claim_by_themselves(&self) -> bool {
        self.protocol.members_claim_by_themselves()
    }

    /// Whether the engine chooses who acts; otherwise it only records.
    pub fn is_driven(&self) -> bool {
        self.protocol.is_driven()
    }

    /// Members whose step is held until a verdict.
    pub fn held_members(&self) -> Vec<MemberName> {
        self.team.seats.iter().filter(|seat| seat.state == SeatState::Held).map(|seat| seat.name().clone()).collect()
    }

    /// The members that are teams, each with its own engine.
    pub fn teams(&self) -> impl Iterator<Item = (&MemberName, &Engine)> {
        self.children.engines()
    }

    /// Everybody who acts, on all levels: the members that are no team, each with how it stands.
    pub fn leaves(&self) -> Vec<(&MemberName, SeatState)> {
        let own = self.team.seats.iter().filter(|seat| !self.children.has(seat.name())).map(|seat| (seat.name(), seat.state));
        own.chain(self.children.leaves()).collect()
    }

    /// Whether a run goes on.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Whether the supervisor has been asked and has not answered.
    pub fn is_asking(&self) -> bool {
        self.question.as_ref().is_some_and(|question| !question.interrupted) || self.children.is_asking()
    }

    /// What the protocol keeps beyond the run, with its name (`market` → `team/market.json`).
    pub fn keepsake(&self) -> Option<(&'static str, super::ArgValue)> {
        self.protocol.keepsake()
    }

    /// Takes an input. Errors change nothing.
    pub fn handle(&mut self, input: Input, now: Timestamp) -> Result<Vec<Directive>, CollaborationError> {
        self.now = now;
        self.out = Out::default();
        self.dispatch(input)?;
        self.settle();
        let mut out = std::mem::take(&mut self.out);
        if out.changed {
            out.directives.push(Directive::Snapshot);
        }
        out.directives.extend(out.ended);
        Ok(out.directives)
    }

    fn dispatch(&mut self, input: Input) -> Result<(), CollaborationError> {
        if let Some((child, input)) = self.children.claim(&input) {
            return self.handle_nested(&child, input);
        }
        match input {
            Input::Prompt(text) => self.prompt(&text),
            Input::MemberEnded { name, output, error, duration_ms, cost, tokens } => {
                let ended = steps::Ended { output, error, duration_ms, cost, tokens, gone: false };
                self.member_ended(&name, &ended)
            }
            Input::SupervisorAnswered { text } => self.answered(&text),
            Input::SupervisorFailed { error } => self.supervisor_failed(&error),
            Input::ProtocolToolCalled { by, tool, arguments } => {
                self.tool_called(&by, &tool, arguments);
                Ok(())
            }
            Input::MemberHeld { name } => self.held(&name),
            Input::MemberReleased { name, approved_text } => self.released(&name, approved_text),
            Input::MemberGone { name, why } => self.gone(&name, &why),
            Input::MemberJoined(card) => self.joined(card),
            Input::Stop => self.stop(),
        }
    }

    fn prompt(&mut self, text: &str) -> Result<(), CollaborationError> {
        if text.trim().is_empty() {
            return self.resume();
        }
        if let Some(who) = self.who_is_busy() {
            return Err(CollaborationError::Busy { who });
        }
        self.team.reset(text.trim());
        self.protocol.reset(&self.team);
        self.children.reset();
        self.phase = Phase::Running;
        self.question = None;
        self.ending = None;
        self.loop_told = false;
        self.out.changed = true;
        if self.protocol.is_driven() {
            self.next();
        }
        Ok(())
    }

    fn who_is_busy(&self) -> Option<String> {
        if self.phase != Phase::Running {
            return None;
        }
        let works = |seat: &&super::Seat| seat.state == SeatState::Running || (seat.state == SeatState::Held && !seat.turn_ended);
        let member = self.team.seats.iter().find(works).map(|seat| format!("{} is at work", seat.name()));
        member.or_else(|| self.is_asking().then(|| "the supervisor decides".to_owned()))
    }

    /// Goes on after a restore: whoever was at work runs again, an open question is asked again.
    fn resume(&mut self) -> Result<(), CollaborationError> {
        match self.phase {
            Phase::Fresh => return Err(CollaborationError::NothingToResume),
            Phase::Ended => return Err(CollaborationError::Over),
            Phase::Running => {}
        }
        if !self.protocol.is_driven() {
            return Ok(());
        }
        let interrupted = |seat: &super::Seat| seat.state == SeatState::Interrupted;
        let again: Vec<usize> = (0..self.team.seats.len()).filter(|at| interrupted(&self.team.seats[*at])).collect();
        for at in again {
            self.out.changed = true;
            let name = self.team.seats[at].name().clone();
            self.trace(Some(name.clone()), "resume", "interrupted, runs again");
            if self.children.has(&name) {
                self.team.set_state(at, SeatState::Running);
                self.resume_nested(&name)?;
            } else {
                self.run(at, None);
            }
        }
        if self.question.as_ref().is_some_and(|question| question.interrupted) {
            self.resume_question();
        } else if self.question.is_none() && self.team.busy() == 0 && self.ending.is_none() {
            self.next();
        }
        Ok(())
    }

    /// The most turns this run may take.
    fn max_turns(&self) -> u32 {
        self.config.max_turns.unwrap_or_else(|| self.protocol.own_turns(&self.team).max(DEFAULT_MAX_TURNS))
    }

    fn running(&self) -> Result<(), CollaborationError> {
        match self.phase {
            Phase::Fresh => Err(CollaborationError::NothingToResume),
            Phase::Ended => Err(CollaborationError::Over),
            Phase::Running => Ok(()),
        }
    }

    fn trace(&mut self, who: Option<MemberName>, rule: &str, outcome: &str) {
        self.team.step += 1;
        self.record(TraceRecord::new(self.team.step, who, rule, outcome));
    }

    fn record(&mut self, record: TraceRecord) {
        self.team.note(record.clone());
        self.out.directives.push(Directive::Trace(record));
        self.out.changed = true;
    }

    /// What the protocol's rule says comes next.
    fn next(&mut self) {
        let step = self.protocol.should_run_supervisor(&self.team);
        self.advance(step);
    }
}
