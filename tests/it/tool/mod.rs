//! Tools, each through the contract: prepared by the registry, run with a fake team.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod fake;
mod files;
mod guard;
mod paths;
mod policy;
mod registry;
mod shell;
mod team;
