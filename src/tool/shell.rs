//! The `bash` tool and background jobs.

/// The member's background commands.
#[derive(Default)]
pub struct Jobs;
