//! Systems without a sandbox that this program knows: commands are refused.

use super::{Detection, SandboxError, SandboxPolicy, Surroundings, Tier};
use std::ffi::OsString;

const REASON: &str = "this program knows no sandbox for this operating system";

#[derive(Debug)]
pub(super) struct Prepared(Detection);

impl Prepared {
    pub(super) fn new(_policy: SandboxPolicy, surroundings: Surroundings, detect: fn(&Surroundings) -> Detection) -> Self {
        Self(detect(&surroundings))
    }

    pub(super) fn detection(&self) -> &Detection {
        &self.0
    }

    pub(super) fn wrapper(&self) -> Result<Vec<OsString>, SandboxError> {
        Err(SandboxError::Unavailable { reasons: REASON.into() })
    }
}

pub(super) fn detect(_surroundings: &Surroundings) -> Detection {
    Detection { tier: Tier::None, reasons: vec![REASON.into()] }
}

pub(super) fn run(_args: impl IntoIterator<Item = OsString>) -> i32 {
    126
}
