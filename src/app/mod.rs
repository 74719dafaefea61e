//! The screen's state, pure: events and keys in, commands out. Nothing here draws, waits or reads a clock.
//!
//! Imports `domain` and `protocol`. Deliberately absent: ratatui, crossterm, tokio, the store, the runtime.

mod act;
pub mod action;
mod alerts;
pub mod available;
pub mod clip;
pub mod detail_text;
pub mod editor;
pub mod feed;
pub mod filter;
pub mod key;
pub mod keymap;
pub mod live;
pub mod markdown;
mod mouse;
pub mod msg;
pub mod options;
pub mod overlay;
pub mod pane;
pub mod projection;
pub mod protocol_text;
pub mod reading;
pub mod rich;
pub mod scroll;
pub mod spend_text;
pub mod state;
mod update;
mod verdict;
pub mod view;
mod wake;
pub mod words;

pub use action::Action;
pub use keymap::{Context, Keymap, KeymapError};
pub use options::{ColorMode, StateOptions};
pub use projection::Projection;
pub use state::{Pane, State};
pub use update::update;
