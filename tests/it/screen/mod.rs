//! The screen, headless: keys and events in, cells out.

mod depth;
mod fuzz;
mod harness;
mod keymap;
mod projection;
mod protocols;
mod readable;
mod safety;
mod snapshots;
mod style;
mod text;
mod update;
