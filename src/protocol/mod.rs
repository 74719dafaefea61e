//! Pure machines: the team core, the member's turn, and what keeps a conversation whole.
//!
//! Imports `domain`, `collaboration` and the pure policy of `tool`. Deliberately absent: clocks, randomness, channels,
//! files, tokio. Time and ids come in with the input; timers are values; what should happen goes out as effects.
//!
//! The core *decides* without changing itself and changes only by *applying* the facts that were carried out. So a
//! write that fails changes nothing, and what the core knows is what the log says.

pub mod compaction;
pub mod core;
pub mod effect;
pub mod format;
pub mod replay;
pub mod turn;

/// The collaboration protocols: name and purpose of each, in the order in which they are shown.
pub fn protocols() -> Vec<(&'static str, &'static str)> {
    crate::collaboration::names()
        .filter_map(|name| crate::collaboration::describe(name).ok())
        .map(|info| (info.name, info.summary))
        .collect()
}

pub use core::TeamCore;
pub use effect::{AgentInput, AgentReport, Effect, Ids, Input, Mark, Outside, Timer};
