//! The ways a team can work together, to choose from.

use crate::app::msg::Cmd;
use crate::app::state::State;
use crate::domain::TeamCommand;

/// The open list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolList {
    /// The selected row.
    pub at: usize,
}

impl ProtocolList {
    /// The list with the team's own protocol selected.
    pub fn at_own(state: &State) -> Self {
        Self { at: rows().iter().position(|(name, _)| *name == state.team.protocol).unwrap_or(0) }
    }
}

/// Name and purpose of each, in the order of the registry.
pub fn rows() -> Vec<(&'static str, &'static str)> {
    crate::protocol::protocols()
}

/// Changes to the selected one.
pub fn choose(state: &mut State) -> Vec<Cmd> {
    let chosen = state.protocols.take().and_then(|list| rows().into_iter().nth(list.at));
    let Some((name, _)) = chosen else { return Vec::new() };
    vec![state.command(format!("changing the protocol to {name}"), TeamCommand::SetProtocol { name: name.into() })]
}
