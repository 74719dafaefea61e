//! The scripted model: the format's faults, the demonstration from beginning to end, the exercises, resuming.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may fail loudly")]

mod demo;
mod format;
mod play;
mod team;
