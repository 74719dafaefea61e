//! The collaboration room: behaviours by name, tables, nested teams, custom graphs, and a seeded simulation.

mod behaviours;
mod decisions;
mod engine_rules;
mod graphs;
mod nested;
mod rig;
mod scaling;
mod simulation;
mod tables;
