//! Snapshots: everything a run needs to go on after a restart. Serialise them with whatever the store uses.

use super::nested::Children;
use super::{CollaborationError, Engine, EngineConfig, Phase, Question};
use crate::collaboration::{ArgValue, CollaborationProtocol, Ending, SeatState, Team, registry};
use crate::domain::MemberName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the form below.
pub const SNAPSHOT_VERSION: u32 = 1;

/// A run, put away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineSnapshot {
    version: u32,
    protocol: String,
    config: EngineConfig,
    team: Team,
    memory: ArgValue,
    phase: Phase,
    question: Option<Question>,
    ending: Option<Ending>,
    loop_told: bool,
    children: BTreeMap<MemberName, EngineSnapshot>,
}

impl EngineSnapshot {
    /// The name of the protocol, to build it before [`Engine::restore`].
    pub fn protocol(&self) -> &str {
        &self.protocol
    }
}

impl Engine {
    /// The run as it stands.
    pub fn snapshot(&self) -> EngineSnapshot {
        EngineSnapshot {
            version: SNAPSHOT_VERSION,
            protocol: self.protocol.name().to_owned(),
            config: self.config,
            team: self.team.clone(),
            memory: self.protocol.save(),
            phase: self.phase,
            question: self.question.clone(),
            ending: self.ending.clone(),
            loop_told: self.loop_told,
            children: self.children.engines().map(|(name, engine)| (name.clone(), engine.snapshot())).collect(),
        }
    }

    /// A run taken out again. Nobody is at work now: an empty prompt lets those who were run again, a held step waits on
    /// for its verdict, and a new prompt starts over. Errors: another protocol, or a snapshot of another form.
    pub fn restore(mut protocol: Box<dyn CollaborationProtocol>, snapshot: EngineSnapshot) -> Result<Self, CollaborationError> {
        let fault = |text: String| Err(CollaborationError::Snapshot(text));
        if snapshot.version != SNAPSHOT_VERSION {
            return fault(format!("version {} is not {SNAPSHOT_VERSION}: give a new prompt instead", snapshot.version));
        }
        if snapshot.protocol != protocol.name() {
            return fault(format!("it belongs to protocol {}, not {}", snapshot.protocol, protocol.name()));
        }
        let mut team = snapshot.team;
        team.reindex();
        protocol.check(&team)?;
        if !protocol.load(&snapshot.memory) {
            return fault(format!("the memory of protocol {} cannot be read: give a new prompt instead", protocol.name()));
        }
        for at in 0..team.seats.len() {
            match team.seats[at].state {
                SeatState::Running => team.set_state(at, SeatState::Interrupted),
                SeatState::Held => team.seats[at].turn_ended = true,
                SeatState::Free | SeatState::Interrupted | SeatState::Gone => {}
            }
        }
        let mut children = Children::default();
        for (name, inner) in snapshot.children {
            let spec = team.seat(&name).and_then(|seat| seat.card.team.clone());
            let Some(spec) = spec else { return fault(format!("{name} is no nested team")) };
            let protocol = registry::build(&spec.protocol, spec.config)?;
            children.insert(name, Self::restore(protocol, inner)?);
        }
        let question = snapshot.question.map(|question| Question { interrupted: true, ..question });
        let mut engine = Self::with(protocol, snapshot.config, team, children);
        engine.phase = snapshot.phase;
        engine.question = question;
        engine.ending = snapshot.ending;
        engine.loop_told = snapshot.loop_told;
        Ok(engine)
    }
}
