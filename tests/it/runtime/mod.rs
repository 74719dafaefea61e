//! The supervisor with real agents, files and tools.

mod demo;
mod driving;
mod exercises;
mod nested;
pub mod nine;
mod protocols;
mod races;
mod restart;
mod stopping;
mod text_only;
