//! `autonomous`: members claim ready tasks from the board by themselves; the rules of that loop stand in the room
//! `protocol`. The engine gives no directives, it only says so. Origin: learn-claude-code s11.

use super::{ArgValue, CollaborationError, CollaborationProtocol, Graph, Step, Team};

/// No directives; members claim by themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Autonomous;

impl CollaborationProtocol for Autonomous {
    fn name(&self) -> &'static str {
        "autonomous"
    }
    fn graph(&self, _team: &Team) -> Graph {
        Graph::default()
    }
    /// A team may begin with the lead alone: it spawns the others.
    fn check(&self, _team: &Team) -> Result<(), CollaborationError> {
        Ok(())
    }
    fn reset(&mut self, _team: &Team) {}
    fn save(&self) -> ArgValue {
        ArgValue::Null
    }
    fn load(&mut self, _memory: &ArgValue) -> bool {
        true
    }
    fn is_driven(&self) -> bool {
        false
    }
    fn members_claim_by_themselves(&self) -> bool {
        true
    }
    fn has_supervisor(&self) -> bool {
        false
    }
    fn should_run_supervisor(&mut self, _team: &Team) -> Step {
        Step::Wait
    }
}
