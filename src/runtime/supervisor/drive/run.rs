//! A run from its goal to its end, over restarts.

use super::super::Supervisor;
use super::Work;
use crate::collaboration::{Directive, Engine, EngineConfig, Input as Step, SeatState, build, describe};
use crate::domain::event::NoticeLevel;
use crate::domain::{Envelope, MemberName, MessageKind, Party, TeamEvent};
use crate::protocol::{AgentInput, Effect, Mark, format};
use crate::runtime::clock;
use crate::runtime::supervisor::execute::Carried;
use std::sync::Arc;

impl Supervisor {
    /// Takes a run up that an earlier process left; it goes on when its members run again.
    pub(in super::super) fn restore_drive(&mut self) {
        if !self.core.is_driven() {
            return;
        }
        match self.load_run() {
            Ok(Some(engine)) => {
                let leaves = engine.leaves().into_iter().filter(|(_, state)| *state != SeatState::Gone);
                let missing: Vec<String> = leaves.map(|(name, _)| name.to_string()).collect();
                let text = format!(
                    "a run was interrupted. Resume its members ({}: R for one, resume_all in the palette for all), and it goes on where it \
                     stopped; a new goal to the lead (i) starts over",
                    missing.join(", ")
                );
                self.drive.engine = Some(engine);
                self.drive.restored = true;
                self.core.mark(Mark::Driving(true));
                self.record(TeamEvent::Noticed { level: NoticeLevel::Warning, text, name: None });
                self.show_run();
            }
            // What the person wrote while nobody ran the team is the goal of a run, as it is when somebody does.
            Ok(None) => self.drive.unread.take().iter().for_each(|goal| self.take_goal(goal)),
            Err(text) => self.notice_store(&text),
        }
    }

    /// Forgets a run that only waits to be taken up.
    pub(super) fn give_up_restored(&mut self) {
        self.drive.engine = None;
        self.drive.restored = false;
        self.core.mark(Mark::Driving(false));
    }

    /// Lets an interrupted run go on as soon as everybody in it is back.
    pub(super) fn go_on(&mut self) {
        if !self.drive.restored {
            return;
        }
        let Some(engine) = &self.drive.engine else { return };
        // A held member is started by the verdict on its plan, if not before.
        let back = |(name, state): (&MemberName, SeatState)| match state {
            SeatState::Gone => true,
            SeatState::Held if self.waits_for_verdict(name) => true,
            SeatState::Free | SeatState::Running | SeatState::Held | SeatState::Interrupted => self.core.runs(name),
        };
        if engine.leaves().into_iter().all(back) && self.core.is_at_rest(&MemberName::lead()) {
            self.drive.restored = false;
            self.take_up_holds();
            self.drive.inputs.push_back(Step::Prompt(String::new()));
        }
    }

    /// Tells the lead what is missing for a run to start.
    pub(super) fn ask_for_team(&mut self) {
        if !self.cards().is_empty() {
            return;
        }
        let Ok(info) = describe(self.core.protocol()) else { return };
        let text = format::notice(&format!(
            "This team works by the protocol {}: {}. Nobody is there to act yet. Start the teammates that the goal needs with \
             spawn_teammate, in the order in which they shall act, then end your turn: from then on the protocol says who acts, gives \
             the goal to whoever does, and asks you where you are to decide.",
            info.name, info.rules
        ));
        self.tell_lead(AgentInput::Tell { text, cause: "goal" });
    }

    fn tell_lead(&mut self, input: AgentInput) {
        self.carry_out(vec![Effect::Tell { name: MemberName::lead(), input }], &mut None);
    }

    /// Starts the run for which a goal waits, once there is a team and the lead rests.
    pub(super) fn start_run(&mut self) {
        if self.drive.goal.is_none() || self.core.is_driving() || !self.core.is_at_rest(&MemberName::lead()) {
            return;
        }
        let cards = self.cards();
        if cards.is_empty() {
            return;
        }
        let Some(goal) = self.drive.goal.take() else { return };
        let max_turns = (self.env.settings.max_turns > 0).then_some(self.env.settings.max_turns);
        let config = match self.protocol_config() {
            Ok(config) => config,
            Err(text) => return self.end_run(&text, false, ""),
        };
        let engine = build(self.core.protocol(), config).and_then(|protocol| Engine::new(protocol, cards, EngineConfig { max_turns }));
        match engine {
            Ok(engine) => {
                self.drive.engine = Some(engine);
                self.drive.work.clear();
                self.core.mark(Mark::Driving(true));
                self.tell_lead(AgentInput::GoalTaken { goal: goal.clone() });
                self.drive.inputs.push_back(Step::Prompt(goal));
            }
            Err(error) => self.end_run(&error.to_string(), false, ""),
        }
    }

    /// One input for the engine, and what it wants done.
    pub(super) fn step(&mut self, input: Step) {
        let Some(engine) = self.drive.engine.as_mut() else { return };
        let goes_on = matches!(&input, Step::Prompt(_));
        match engine.handle(input, clock::now()) {
            Ok(directives) => {
                for directive in directives {
                    let _ = self.direct(directive);
                }
            }
            Err(error) if goes_on => self.end_run(&error.to_string(), false, ""),
            Err(error) => tracing::debug!(%error, "the protocol did not take it"),
        }
    }

    /// Ends the run because the whole team stops; the core tells the end when everybody has stopped.
    pub(super) fn stop_run(&mut self) {
        self.drive.inputs.clear();
        self.drive.goal = None;
        if self.drive.restored {
            return;
        }
        let Some(engine) = self.drive.engine.as_mut() else { return };
        for directive in engine.handle(Step::Stop, clock::now()).unwrap_or_default() {
            match directive {
                Directive::Ended { answer, .. } => self.close_run(&answer),
                other => drop(self.direct(other)),
            }
        }
    }

    /// Ends the run because the person wants it; the team stays.
    pub(super) fn end_run_now(&mut self) {
        if self.drive.restored {
            self.give_up_restored();
        }
        self.stop_run();
        self.emit(TeamEvent::Finished { reason: "the run was ended by you".into(), ok: false });
    }

    /// Ends the run and tells so.
    pub(super) fn end_run(&mut self, reason: &str, ok: bool, answer: &str) {
        self.close_run(answer);
        self.emit(TeamEvent::Finished { reason: reason.to_owned(), ok });
    }

    fn close_run(&mut self, answer: &str) {
        self.show_run();
        self.core.mark(Mark::Driving(false));
        self.drive.engine = None;
        self.drive.work.clear();
        self.drive.inputs.clear();
        self.withdraw_tools();
        if answer.trim().is_empty() {
            return;
        }
        let message = Arc::new(Envelope::new(clock::message_id(), MessageKind::Result, Party::lead(), "human", answer, clock::now()));
        let effects = vec![Effect::Deliver(message.clone()), Effect::Emit(TeamEvent::MessageSent { message })];
        if let Carried::Failed(error) = self.carry_out(effects, &mut None) {
            self.notice_store(&error);
        }
    }

    /// Notes that a member works on a step from now on.
    pub(super) fn begin_work(&mut self, name: &MemberName) {
        self.drive.work.insert(name.clone(), Work::begun());
    }
}
