//! `round_robin`: the members in turn, twice.
use super::{ArgValue, CollaborationProtocol, Ending, Graph, Route, Seat, Step, Team};

#[derive(Default)]
pub struct RoundRobin;

impl CollaborationProtocol for RoundRobin {
    fn name(&self) -> &'static str { "round_robin" }
    fn graph(&self, team: &Team) -> Graph { Graph::star(team.live().map(Seat::name)) }
    fn reset(&mut self, _team: &Team) {}
    fn save(&self) -> ArgValue { ArgValue::Null }
    fn load(&mut self, _memory: &ArgValue) -> bool { true }
    fn own_turns(&self, team: &Team) -> u32 { 2 * team.seats.len() as u32 }
    fn should_run_supervisor(&mut self, team: &Team) -> Step {
        if team.busy() > 0 { return Step::Wait; }
        match team.live().filter(|seat| seat.runs < 2).min_by_key(|seat| seat.runs) {
            Some(seat) => Step::Route(vec![Route::new(seat.name(), "", format!("round {}", seat.runs + 1)).on(u64::from(seat.runs))]),
            None => Step::End(Ending::new("two rounds done", true)),
        }
    }
}
