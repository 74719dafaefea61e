//! The supervisor with real agents, files and tools.

mod demo;
mod exercises;
mod protocols;
mod restart;
mod stopping;
