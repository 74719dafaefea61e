//! The screen's state, pure: events and keys in, commands out. Nothing here draws, waits or reads a clock.
//!
//! Imports `domain` and `protocol`. Deliberately absent: ratatui, crossterm, tokio, the store, the runtime.

pub mod msg;
