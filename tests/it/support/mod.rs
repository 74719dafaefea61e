//! Shared helpers of the suites.

pub mod team;
