//! The team core in a simulated world: every party does anything at any moment, writes fail, machines die. Random runs
//! and an exhaustive search over the real code, against rules that are written down a second time.

mod acts;
mod agent;
mod authority;
mod board;
mod disk;
mod invariants;
mod ledger;
mod meddling;
mod oracle;
mod random;
mod rng;
mod search;
mod turns;
mod world;
