//! The core in words: everything that decides what follows, in a fixed order, without times, notes and texts. Two cores
//! that print alike behave alike; tests and searches compare them by it.

use super::{Seat, TeamCore};
use crate::domain::{MemberName, Request, Task};
use std::fmt;

impl fmt::Debug for TeamCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} driving={} stopping={:?} closing={:?} ended={} summed_up={} plans={:?}",
            self.protocol, self.driving, self.stopping, self.closing, self.ended, self.summed_up, self.settings.plans
        )?;
        for member in &self.members {
            let task = member.task.map(|id| id.0);
            write!(f, "{} {:?} g{} task={task:?}", member.name, member.status, member.generation.0)?;
            if let Some(seat) = self.seats.get(&member.name) {
                seat_words(f, seat, self.plans.get(&member.name).map(|id| id.as_str()))?;
            }
            writeln!(f)?;
        }
        self.board.iter().try_for_each(|task| task_words(f, task))?;
        let mut requests: Vec<_> = self.requests.values().collect();
        requests.sort_by(|a, b| a.id.cmp(&b.id));
        requests.into_iter().try_for_each(|request| request_words(f, request))?;
        writeln!(f, "pending={:?} rules={:?}", self.pending.iter().map(|id| id.as_str()).collect::<Vec<_>>(), self.session_rules)
    }
}

fn seat_words(f: &mut fmt::Formatter<'_>, seat: &Seat, plan: Option<&str>) -> fmt::Result {
    use super::Phase;
    let phase = match &seat.phase {
        Phase::Resting { outcome, .. } => format!("Resting({outcome:?})"),
        other @ (Phase::Working | Phase::Called | Phase::Off) => format!("{other:?}"),
    };
    let nudged = seat.nudged.map(|id| id.0);
    write!(
        f,
        " {phase} gate={:?} nudged={nudged:?} turn={} ending={} killed={} resumes={} back={} plan={plan:?}",
        seat.gate,
        seat.in_turn,
        seat.ending.is_some(),
        seat.killed,
        seat.resumes,
        seat.reports_back
    )
}

fn task_words(f: &mut fmt::Formatter<'_>, task: &Task) -> fmt::Result {
    let waits: Vec<u64> = task.blocked_by.iter().map(|id| id.0).collect();
    writeln!(f, "{} {:?} {:?} waits={waits:?}", task.id, task.status, task.owner.as_ref().map(MemberName::as_str))
}

fn request_words(f: &mut fmt::Formatter<'_>, r: &Request) -> fmt::Result {
    let task = r.task.map(|id| id.0);
    writeln!(f, "{} {:?} {} g{} {:?} task={task:?} {:?}", r.id, r.kind, r.target, r.generation.0, r.state, r.body)
}
