//! Steps: members start, are held, go on, end, leave and join.

use super::{CollaborationError, Directive, Engine, Input, TraceRecord};
use crate::collaboration::{Ending, Judgement, LoopRecord, Report, Route, Seat, SeatState, Step, loops, text_form};
use crate::domain::{MemberName, text::one_line};

/// Longest reason a member's error is kept with, in characters.
pub(super) const ERROR_MAX: usize = 1_000;

/// A run that ended, as the driver told it.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// All the member said.
    pub output: String,
    /// Why it failed.
    pub error: Option<String>,
    /// Milliseconds.
    pub duration_ms: u64,
    /// US dollars.
    pub cost: Option<f64>,
    /// Tokens.
    pub tokens: u64,
    /// It left the team.
    pub gone: bool,
}

impl Engine {
    /// Carries a step out, and those that follow from it at once.
    pub(super) fn advance(&mut self, step: Step) {
        if self.ending.is_some() {
            return;
        }
        match self.step_or_end(step) {
            Step::Wait if self.team.busy() > 0 => {}
            Step::Wait => self.end(Ending::new("the protocol waits for nobody", false)),
            Step::End(ending) => self.end(ending),
            Step::Supervisor => self.ask(),
            Step::Route(routes) => self.route(routes),
        }
    }

    fn route(&mut self, routes: Vec<Route>) {
        self.team.turns += 1;
        self.question = None;
        let mut starts = Vec::new();
        for route in routes {
            let at = self.team.position(&route.who);
            match at.filter(|at| self.team.seats[*at].state == SeatState::Free) {
                Some(at) => {
                    // All are taken before the first one acts, so that a quick end is not mistaken for the last one.
                    self.team.set_state(at, SeatState::Running);
                    starts.push((at, route));
                }
                None => self.trace(Some(route.who), &route.rule, "cannot act now: at work or gone"),
            }
        }
        for (at, route) in starts {
            self.start(at, route);
        }
        if self.team.busy() == 0 && self.ending.is_none() && self.question.is_none() {
            self.next();
        }
    }

    fn start(&mut self, at: usize, route: Route) {
        if let Some(warning) = self.protocol.on_route(&self.team, &self.team.seats[at], &route) {
            self.trace(Some(route.who.clone()), "warning", &warning);
            self.team.notice = Some(warning);
        }
        self.trace(Some(route.who.clone()), &route.rule, "acts");
        self.team.seats[at].route = Some(route);
        self.team.seats[at].turn_ended = false;
        self.run(at, None);
    }

    /// Lets a member work on the route of its seat, with what it must know beforehand.
    pub(super) fn run(&mut self, at: usize, preface: Option<&str>) {
        self.team.set_state(at, SeatState::Running);
        self.team.seats[at].used_tools = false;
        self.out.changed = true;
        let seat = &self.team.seats[at];
        let name = seat.name().clone();
        let route = seat.route.clone().unwrap_or_else(|| Route::new(&name, "", "unknown"));
        let prompt = self.protocol.agent_prompt(&self.team, seat, &route);
        let prompt = preface.map_or(prompt.clone(), |preface| format!("{preface}\n\n{prompt}"));
        if self.children.has(&name) {
            self.run_nested(&name, prompt);
            return;
        }
        let tools = self.protocol.agent_tools(&self.team, seat);
        let instruction_addendum = self.protocol.agent_instruction(&self.team, seat) + &text_form(&tools);
        self.out.directives.push(Directive::RunMember { name, prompt, instruction_addendum, tools });
    }

    /// The seat of a member that is at work. A nested team only ends by its own engine's end.
    pub(super) fn at_work(&self, name: &MemberName) -> Result<usize, CollaborationError> {
        if self.children.has(name) { Err(CollaborationError::NotAtWork(name.clone())) } else { self.busy_seat(name) }
    }

    fn busy_seat(&self, name: &MemberName) -> Result<usize, CollaborationError> {
        self.running()?;
        let at = self.seat_of(name)?;
        match self.team.seats[at].state {
            SeatState::Running | SeatState::Held => Ok(at),
            SeatState::Free | SeatState::Interrupted | SeatState::Gone => Err(CollaborationError::NotAtWork(name.clone())),
        }
    }

    pub(super) fn seat_of(&self, name: &MemberName) -> Result<usize, CollaborationError> {
        let nearest = || self.team.nearest(name.as_str()).map(str::to_owned);
        self.team.position(name).ok_or_else(|| CollaborationError::UnknownMember { name: name.clone(), nearest: nearest() })
    }

    pub(super) fn held(&mut self, name: &MemberName) -> Result<(), CollaborationError> {
        let at = self.at_work(name)?;
        if self.team.seats[at].state == SeatState::Running {
            self.team.set_state(at, SeatState::Held);
            self.trace(Some(name.clone()), "held", "waits for a verdict; the step keeps its place");
        }
        Ok(())
    }

    pub(super) fn released(&mut self, name: &MemberName, approved: Option<String>) -> Result<(), CollaborationError> {
        let at = self.at_work(name)?;
        if self.team.seats[at].state != SeatState::Held {
            return Err(CollaborationError::NotAtWork(name.clone()));
        }
        self.trace(Some(name.clone()), "released", if approved.is_some() { "approved, goes on in place" } else { "goes on in place" });
        let must_start = approved.is_some() || self.team.seats[at].turn_ended;
        self.team.set_state(at, SeatState::Running);
        self.team.seats[at].turn_ended = false;
        if must_start {
            let preface = approved.map(|plan| format!("This is the approved plan. Carry it out as it is written here:\n\n{plan}"));
            self.run(at, Some(preface.as_deref().unwrap_or("The answer you waited for has come. Go on.")));
        }
        Ok(())
    }

    pub(super) fn member_ended(&mut self, name: &MemberName, ended: &Ended) -> Result<(), CollaborationError> {
        if !self.protocol.is_driven() {
            return self.only_record(name, ended);
        }
        let at = self.at_work(name)?;
        if self.team.seats[at].state == SeatState::Held && ended.error.is_none() {
            // The turn ended to wait for the verdict: neither an output nor a failure.
            self.team.seats[at].turn_ended = true;
            self.out.changed = true;
            return Ok(());
        }
        self.conclude(at, ended);
        Ok(())
    }

    /// Without a rule the engine keeps the trace and no more.
    fn only_record(&mut self, name: &MemberName, ended: &Ended) -> Result<(), CollaborationError> {
        self.running()?;
        let at = self.seat_of(name)?;
        self.team.last = Some(at);
        self.team.seats[at].runs += 1;
        self.team.seats[at].error.clone_from(&ended.error);
        if ended.error.is_none() {
            self.team.seats[at].output.clone_from(&ended.output);
        }
        self.team.step += 1;
        let outcome = ended.error.as_ref().map_or_else(|| ended.output.clone(), |error| format!("failed: {error}"));
        let record = TraceRecord::new(self.team.step, Some(name.clone()), "by itself", &outcome);
        self.record(TraceRecord { duration_ms: ended.duration_ms, ..record });
        Ok(())
    }

    /// A run ended, one way or the other: judged, traced, and the next step taken.
    pub(super) fn conclude(&mut self, at: usize, ended: &Ended) {
        let (raw, faults) = self.calls_in_text(at, ended);
        self.team.set_state(at, if ended.gone { SeatState::Gone } else { SeatState::Free });
        let seat = &self.team.seats[at];
        let output = self.protocol.agent_output(&self.team, seat, &raw);
        let report = Report {
            raw: &raw,
            output: &output,
            error: ended.error.as_deref(),
            gone: ended.gone,
            faults: &faults,
            duration_ms: ended.duration_ms,
            cost: ended.cost,
            tokens: ended.tokens,
        };
        let judgement = self.protocol.on_agent_end(&self.team, seat, &report);
        if !faults.is_empty() {
            let name = self.team.seats[at].name().clone();
            self.trace(Some(name), "call in text", &faults);
        }
        let again = self.keep(at, output, &judgement, ended);
        if let Some(why) = again {
            self.run(at, Some(&format!("Your last answer did not count: {why}")));
            return;
        }
        if self.ending.is_none() && self.question.is_none() {
            self.after_member();
        }
    }

    /// Notes what a run came to. Returns why the same step must be tried again, if so.
    fn keep(&mut self, at: usize, output: String, judgement: &Judgement, ended: &Ended) -> Option<String> {
        let retry = match judgement {
            Judgement::Again(why) if !ended.gone && self.ending.is_none() => Some(why.clone()),
            Judgement::Again(_) | Judgement::Done | Judgement::Noted(_) | Judgement::Failed(_) => None,
        };
        let outcome = match judgement {
            Judgement::Done => output.clone(),
            Judgement::Noted(text) => text.clone(),
            Judgement::Failed(why) => format!("failed: {why}"),
            Judgement::Again(why) => format!("once more: {why}"),
        };
        let seat = &mut self.team.seats[at];
        let name = seat.name().clone();
        let (rule, work) = seat.route.as_ref().map_or(("", None), |route| (route.rule.as_str(), route.work));
        let record = TraceRecord::new(self.team.step + 1, Some(name.clone()), rule, &outcome);
        if retry.is_none() {
            settle_seat(seat, &output, judgement);
            self.team.last = Some(at);
            let said = matches!(judgement, Judgement::Done).then_some(output.as_str());
            self.team.remember(LoopRecord::new(name, said, work));
        }
        self.team.step += 1;
        self.record(TraceRecord { duration_ms: ended.duration_ms, ..record });
        retry
    }

    /// The next step after a member ended, with an eye on loops.
    fn after_member(&mut self) {
        match loops::find(&self.team) {
            None => self.loop_told = false,
            Some(what) if self.loop_told => {
                self.end(Ending::new(format!("loop: {what}"), false));
                return;
            }
            Some(what) => {
                self.loop_told = true;
                self.trace(None, "loop detector", &what);
                self.team.notice =
                    Some(format!("The run goes in a loop: {what}. Change something, or finish; the run ends if it goes on."));
                if self.protocol.has_supervisor() && self.team.busy() == 0 {
                    self.advance(Step::Supervisor);
                    return;
                }
            }
        }
        self.next();
    }
}

fn settle_seat(seat: &mut Seat, output: &str, judgement: &Judgement) {
    seat.runs = seat.runs.saturating_add(1);
    seat.route = None;
    seat.turn_ended = false;
    match judgement {
        Judgement::Done => {
            seat.output = output.to_owned();
            seat.error = None;
        }
        Judgement::Failed(why) | Judgement::Again(why) => seat.error = Some(one_line(why, ERROR_MAX)),
        Judgement::Noted(_) => {}
    }
}

impl Engine {
    /// A nested team's run ended: the same as a member's.
    pub(super) fn nested_ended(&mut self, name: &MemberName, answer: String, failure: Option<String>, duration_ms: u64) {
        let Ok(at) = self.busy_seat(name) else { return };
        let ended = Ended { output: answer, error: failure, duration_ms, ..Ended::default() };
        self.conclude(at, &ended);
    }
}

/// Whether an input concerns one member, and which.
pub(super) fn member_of(input: &Input) -> Option<&MemberName> {
    match input {
        Input::MemberEnded { name, .. }
        | Input::MemberHeld { name }
        | Input::MemberReleased { name, .. }
        | Input::MemberGone { name, .. } => Some(name),
        Input::ProtocolToolCalled { by, .. } => Some(by),
        Input::MemberJoined(card) => Some(&card.name),
        Input::Prompt(_) | Input::SupervisorAnswered { .. } | Input::SupervisorFailed { .. } | Input::Stop => None,
    }
}
