//! Nested teams: a member that is itself a team runs its own engine. Its members are known to the driver by their own
//! names, its questions go to the same supervisor one at a time, and its end is the member's end.

use super::steps::member_of;
use super::{CollaborationError, Directive, Engine, EngineConfig, Input};
use crate::collaboration::{MemberCard, SeatState, Team, registry};
use crate::domain::{MemberName, Timestamp};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Teams in teams in teams: more is a mistake in a file.
pub const DEPTH_MAX: usize = 3;

/// Engines of members that are teams, and the queue of questions.
#[derive(Default)]
pub struct Children {
    engines: BTreeMap<MemberName, Engine>,
    owners: BTreeMap<MemberName, MemberName>,
    started: BTreeMap<MemberName, Timestamp>,
    /// Whose question is open: this team's own (`None`) or a nested one's.
    open: Option<Option<MemberName>>,
    queue: VecDeque<(Option<MemberName>, Directive)>,
}

/// Every name once over all levels, no team without members, not too deep.
pub fn check_names(members: &[MemberCard]) -> Result<(), CollaborationError> {
    fn walk(members: &[MemberCard], depth: usize, seen: &mut HashSet<String>) -> Result<(), CollaborationError> {
        for card in members {
            if card.name.is_lead() {
                return Err(CollaborationError::LeadAsMember);
            }
            if !seen.insert(card.name.as_str().to_ascii_lowercase()) {
                return Err(CollaborationError::DuplicateMember(card.name.clone()));
            }
            let Some(team) = &card.team else { continue };
            if depth >= DEPTH_MAX {
                return Err(CollaborationError::TooDeep { at: card.name.clone(), max: DEPTH_MAX });
            }
            walk(&team.members, depth + 1, seen)?;
        }
        Ok(())
    }
    walk(members, 1, &mut HashSet::new())
}

impl Children {
    /// Builds an engine for every member that is a team. A nested team must be one that the engine drives.
    pub fn build(team: &Team) -> Result<Self, CollaborationError> {
        let mut children = Self::default();
        for seat in &team.seats {
            let Some(spec) = &seat.card.team else { continue };
            let protocol = registry::build(&spec.protocol, spec.config.clone())?;
            if !protocol.is_driven() {
                return Err(CollaborationError::Config(format!(
                    "{}: protocol {} has no rule that ends, so it cannot be a member's",
                    seat.name(),
                    protocol.name()
                )));
            }
            let engine = Engine::new(protocol, spec.members.clone(), EngineConfig { max_turns: spec.max_turns })?;
            children.insert(seat.name().clone(), engine);
        }
        Ok(children)
    }

    /// Adds an engine and remembers whose members are whose.
    pub fn insert(&mut self, name: MemberName, engine: Engine) {
        for seat in &engine.team.seats {
            self.owners.insert(seat.name().clone(), name.clone());
        }
        for leaf in engine.children.owners.keys() {
            self.owners.insert(leaf.clone(), name.clone());
        }
        self.engines.insert(name, engine);
    }

    /// All nested engines by name.
    pub fn engines(&self) -> impl Iterator<Item = (&MemberName, &Engine)> {
        self.engines.iter()
    }

    /// The states of all members below, by name.
    pub fn leaves(&self) -> impl Iterator<Item = (&MemberName, SeatState)> {
        self.engines.values().flat_map(Engine::leaves)
    }

    /// Whether this member is a team.
    pub fn has(&self, name: &MemberName) -> bool {
        self.engines.contains_key(name)
    }

    /// Whether a question of a nested team is open.
    pub fn is_asking(&self) -> bool {
        matches!(self.open, Some(Some(_)))
    }

    /// The nested team that an input is for.
    pub fn claim(&self, input: &Input) -> Option<(MemberName, Input)> {
        let supervisor = match input {
            Input::SupervisorAnswered { .. } | Input::SupervisorFailed { .. } => true,
            Input::ProtocolToolCalled { by, .. } => by.is_lead(),
            Input::Prompt(_)
            | Input::MemberEnded { .. }
            | Input::MemberHeld { .. }
            | Input::MemberReleased { .. }
            | Input::MemberGone { .. }
            | Input::MemberJoined(_)
            | Input::Stop => false,
        };
        let child = if supervisor { self.open.clone().flatten() } else { member_of(input).and_then(|name| self.owners.get(name)).cloned() };
        child.map(|name| (name, input.clone()))
    }

    /// Passes a question on, or keeps it until the open one is answered.
    pub fn ask_or_queue(&mut self, who: Option<MemberName>, question: Directive, out: &mut Vec<Directive>) {
        match &self.open {
            Some(open) if *open != who => self.queue.push_back((who, question)),
            Some(_) | None => {
                self.open = Some(who);
                out.push(question);
            }
        }
    }

    /// The open question was answered: the next one goes out.
    pub fn answered(&mut self, out: &mut Vec<Directive>) {
        self.open = None;
        if let Some((who, question)) = self.queue.pop_front() {
            self.open = Some(who);
            out.push(question);
        }
    }

    /// A new run: no questions, nobody started.
    pub fn reset(&mut self) {
        self.open = None;
        self.queue.clear();
        self.started.clear();
    }

    /// Ends all nested runs, silently: the driver stops whoever is at work.
    pub fn stop(&mut self, now: Timestamp) {
        self.reset();
        for engine in self.engines.values_mut() {
            let _ = engine.handle(Input::Stop, now);
        }
    }

    /// Ends one nested run.
    pub fn stop_one(&mut self, name: &MemberName, now: Timestamp) {
        if let Some(engine) = self.engines.get_mut(name) {
            let _ = engine.handle(Input::Stop, now);
            self.queue.retain(|(who, _)| who.as_ref() != Some(name));
            if self.open == Some(Some(name.clone())) {
                self.open = None;
            }
        }
    }
}

impl Engine {
    pub(super) fn run_nested(&mut self, name: &MemberName, prompt: String) {
        self.children.started.insert(name.clone(), self.now);
        if let Err(error) = self.pass(name, Input::Prompt(prompt)) {
            self.nested_ended(name, String::new(), Some(error.to_string()), 0);
        }
    }

    /// Goes on with a nested run, or begins it when its snapshot has none.
    pub(super) fn resume_nested(&mut self, name: &MemberName) -> Result<(), CollaborationError> {
        match self.pass(name, Input::Prompt(String::new())) {
            Err(CollaborationError::NothingToResume | CollaborationError::Over) => {
                if let Some(at) = self.team.position(name) {
                    self.run(at, None);
                }
                Ok(())
            }
            other => other,
        }
    }

    pub(super) fn handle_nested(&mut self, name: &MemberName, input: Input) -> Result<(), CollaborationError> {
        if !matches!(input, Input::MemberGone { .. } | Input::MemberJoined(_)) {
            self.running()?;
        }
        self.pass(name, input)
    }

    /// Hands an input to a nested engine and takes over what it says.
    fn pass(&mut self, name: &MemberName, input: Input) -> Result<(), CollaborationError> {
        let Some(engine) = self.children.engines.get_mut(name) else { return Err(CollaborationError::NotAtWork(name.clone())) };
        let directives = engine.handle(input, self.now)?;
        let mut ended = None;
        let mut questions = Vec::new();
        for directive in directives {
            match directive {
                Directive::Trace(mut record) => {
                    record.team.insert(0, name.clone());
                    self.out.directives.push(Directive::Trace(record));
                }
                Directive::AskSupervisor { mut team, context, tools, instruction } => {
                    team.insert(0, name.clone());
                    questions.push(Directive::AskSupervisor { team, context, tools, instruction });
                }
                Directive::Ended { reason, ok, answer } => ended = Some((reason, ok, answer)),
                Directive::Snapshot => self.out.changed = true,
                other @ (Directive::RunMember { .. } | Directive::ToolReply { .. }) => self.out.directives.push(other),
            }
        }
        // A question asked again keeps its turn; once it is settled, the next team's question goes out.
        let asks = self.children.engines.get(name).is_some_and(Engine::is_asking);
        if self.children.open == Some(Some(name.clone())) && !asks {
            self.children.answered(&mut self.out.directives);
        }
        for question in questions {
            self.children.ask_or_queue(Some(name.clone()), question, &mut self.out.directives);
        }
        if let Some((reason, ok, answer)) = ended {
            let began = self.children.started.remove(name).unwrap_or(self.now);
            let took = u64::try_from(self.now.since(began).as_millis()).unwrap_or(u64::MAX);
            let failure = (!ok).then(|| if answer.is_empty() { reason.clone() } else { format!("{reason}: {answer}") });
            self.nested_ended(name, answer, failure, took);
        }
        Ok(())
    }
}
