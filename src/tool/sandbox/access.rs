//! Landlock: which files a process and its children may reach, whatever else they may do.
//!
//! In the full tier it stands behind bubblewrap's mounts as a second wall; in the reduced tier it is the only one. Rules
//! can only add to what is allowed below a folder, so that a folder that must stay shut cannot lie in one that is open.

use super::order::Order;
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// The version whose rights are asked for. Older kernels know fewer.
const WANTED: ABI = ABI::V6;
/// Without this one a file can be emptied that may not be written.
const NEEDED: ABI = ABI::V3;

/// What the kernel enforces now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Enforced {
    /// Version of Landlock; 0: none.
    pub(super) version: u8,
    /// Whether signals and abstract unix sockets stay inside.
    pub(super) scoped: bool,
}

/// Restricts this thread and all that it starts.
pub(super) fn restrict(order: &Order) -> Result<Enforced, RulesetError> {
    let all = AccessFs::from_all(WANTED);
    let read = AccessFs::from_read(WANTED);
    // Nobody needs new device nodes.
    let write: BitFlags<AccessFs> = all & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let level = if order.strict { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let wanted = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(NEEDED))?;
    let wanted = wanted.set_compatibility(CompatLevel::BestEffort).handle_access(all)?.scope(Scope::from_all(WANTED))?;
    let rules = wanted
        .create()?
        .add_rules(path_beneath_rules(&order.list, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(&order.read, read))?
        .add_rules(path_beneath_rules(&order.write, write))?;
    let status = rules.restrict_self()?;
    let version = match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) | (_, LandlockStatus::NotEnabled | LandlockStatus::NotImplemented) => 0,
        (RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
            effective_abi as u8
        }
    };
    Ok(Enforced { version, scoped: version >= ABI::V6 as u8 })
}
