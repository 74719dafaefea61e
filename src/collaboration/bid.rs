//! Bids: the tools that ask for them and make them, and the computed bid of a member that does not answer.

use super::decision::{mentions, words};
use super::{Param, ParamKind, ProtocolTool, Seat};

/// Of a member without capabilities.
const SCORE_BASE: f64 = 30.0;
/// More, when a word of its role is in the requirement.
const SCORE_ROLE: f64 = 10.0;
/// Of a member with any capability.
const SCORE_ABLE: f64 = 60.0;
/// More for each capability that the requirement names.
const SCORE_MATCH: f64 = 15.0;
/// The highest computed score: a member that answers can always do better.
const SCORE_MAX: f64 = 95.0;
/// Role words shorter than this ("a", "of", "the") match nothing.
const ROLE_WORD_MIN: usize = 4;

/// The supervisor's call.
pub const CALL_FOR_BIDS: ProtocolTool = ProtocolTool {
    name: "call_for_bids",
    description: "Ask all members for bids. At most two rounds. Then end your turn.",
    params: &[Param::required("requirement", ParamKind::Text, "what has to be done")],
};

/// A member's bid.
pub const SUBMIT_PROPOSAL: ProtocolTool = ProtocolTool {
    name: "submit_proposal",
    description: "Bid for the requirement. Do not do the work yet.",
    params: &[
        Param::required("score", ParamKind::Number, "how well you fit, 0 to 100"),
        Param::required("plan", ParamKind::Text, "how you would do it, in one or two sentences"),
    ],
};

/// The bid of a member that did not answer: 30, or 40 when its role names the matter; 60 when it has capabilities, and 15
/// more for each that the requirement names on a word boundary, at most 95.
pub fn computed_score(seat: &Seat, requirement: &str) -> f64 {
    let able: Vec<&String> = seat.card.capabilities.iter().filter(|text| !text.trim().is_empty()).collect();
    if able.is_empty() {
        let named = words(&seat.card.role).iter().any(|word| word.len() >= ROLE_WORD_MIN && mentions(requirement, word));
        return if named { SCORE_BASE + SCORE_ROLE } else { SCORE_BASE };
    }
    let matches = able.iter().filter(|text| mentions(requirement, text)).count();
    (SCORE_ABLE + SCORE_MATCH * matches as f64).min(SCORE_MAX)
}
