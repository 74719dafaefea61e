//! `none`: nobody acts by rule. The person or the lead sends work; the engine only records. With a configured graph the
//! registry builds [`super::Custom`] instead.

use super::{ArgValue, CollaborationError, CollaborationProtocol, Graph, Step, Team};

/// No rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRule;

impl CollaborationProtocol for NoRule {
    fn name(&self) -> &'static str {
        "none"
    }
    fn graph(&self, _team: &Team) -> Graph {
        Graph::default()
    }
    /// A team may begin with the lead alone.
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
    fn has_supervisor(&self) -> bool {
        false
    }
    fn should_run_supervisor(&mut self, _team: &Team) -> Step {
        Step::Wait
    }
}
