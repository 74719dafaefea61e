//! The collaboration room: behaviours by name, tables, nested teams, custom graphs, and a seeded simulation.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests stop where a test would")]

mod behaviours;
mod decisions;
mod engine_rules;
mod example;
mod graphs;
mod nested;
mod rig;
mod scaling;
mod simulation;
mod tables;
