//! The supervisor with real agents, files and tools.

mod demo;
mod exercises;
mod restart;
mod stopping;
