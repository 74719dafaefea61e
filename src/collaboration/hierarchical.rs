//! `hierarchical`: the supervisor decides each step. Members end with `{"result", "status"}`; a failed status or an empty
//! output marks the member in error, and a finish with a member in error assigns that member again.
//!
//! Origin: Solon AI `HierarchicalProtocol`. Most of it is the trait's defaults.

use super::status::STATUS_RULE;
use super::{ArgValue, CollaborationProtocol, FinishVerdict, Graph, Route, Seat, Step, Team};
use crate::domain::text::one_line;

/// The run of one member that draws a warning.
const RUNS_WARNED: u32 = 3;

/// The supervisor and its members.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hierarchical;

impl CollaborationProtocol for Hierarchical {
    fn name(&self) -> &'static str {
        "hierarchical"
    }

    fn graph(&self, team: &Team) -> Graph {
        Graph::star(team.live().map(Seat::name))
    }

    fn reset(&mut self, _team: &Team) {}

    fn save(&self) -> ArgValue {
        ArgValue::Null
    }

    fn load(&mut self, _memory: &ArgValue) -> bool {
        true
    }

    fn agent_instruction(&self, _team: &Team, _who: &Seat) -> String {
        STATUS_RULE.to_owned()
    }

    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        ask_when_idle(team)
    }

    fn on_route(&mut self, _team: &Team, who: &Seat, _route: &Route) -> Option<String> {
        warn_of_overuse(who)
    }

    fn may_finish(&self, team: &Team) -> FinishVerdict {
        finish_without_errors(team)
    }
}

/// The supervisor decides whenever nobody is at work.
pub fn ask_when_idle(team: &Team) -> Step {
    if team.busy() > 0 { Step::Wait } else { Step::Supervisor }
}

/// The third use of one member warns.
pub fn warn_of_overuse(who: &Seat) -> Option<String> {
    let run = who.runs + 1;
    (run >= RUNS_WARNED).then(|| format!("{} is used for the {run}. time: is it the right one, and is the instruction clear?", who.name()))
}

/// After somebody has acted and while nobody is in error; otherwise the failing member is assigned again.
pub fn finish_without_errors(team: &Team) -> FinishVerdict {
    if !team.has_acted() {
        return FinishVerdict::Refused("no member has acted yet: route to one first".into());
    }
    match team.in_error() {
        None => FinishVerdict::Allowed,
        Some(seat) => {
            let error = seat.error.as_deref().unwrap_or("failed");
            let instruction = format!("Your last run failed ({}). Mend it, then report again.", one_line(error, 400));
            FinishVerdict::Instead(Route::new(
                seat.name(),
                instruction,
                format!("finish refused: {} is in error, assigned again", seat.name()),
            ))
        }
    }
}
