//! The supervisor with real agents, files and tools.

mod demo;
mod exercises;
mod protocols;
mod races;
mod restart;
mod stopping;
