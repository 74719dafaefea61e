//! The team as protocols see it: members in registration order, what each did last, and where the run stands.
//!
//! Only the engine changes it; a protocol gets `&Team`.

use super::{CollaborationError, LoopRecord, MemberCard, Seat, SeatState, TraceRecord};
use crate::domain::MemberName;
use crate::domain::names::nearest;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// So many past steps are kept for the supervisor's context and in snapshots.
pub const JOURNAL_MAX: usize = 64;
/// So many records the loop detector can look back on: two rounds of its longest pattern, and one more.
pub const HISTORY_MAX: usize = 8;
/// So many names are listed in an error.
const ROSTER_SHOWN: usize = 20;

/// Members in registration order and where the run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Team {
    /// In registration order.
    pub seats: Vec<Seat>,
    /// The prompt of this run.
    pub prompt: String,
    /// Steps so far: a routing, a retry of an answer, an end.
    pub step: u64,
    /// Turns so far: a step in which somebody was chosen to act.
    pub turns: u32,
    /// Who ended a run last.
    pub last: Option<usize>,
    /// What the supervisor must be told with the next question.
    pub notice: Option<String>,
    /// The last steps, oldest first, at most 64.
    pub journal: VecDeque<TraceRecord>,
    /// The last outputs, oldest first, at most 8.
    pub history: VecDeque<LoopRecord>,
    #[serde(skip)]
    derived: Derived,
}

/// What follows from the seats; not part of a snapshot nor of equality.
#[derive(Clone, Debug, Default)]
struct Derived {
    index: HashMap<String, usize>,
    busy: usize,
}

impl PartialEq for Derived {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Team {
    /// A team of these members.
    pub fn new(members: Vec<MemberCard>) -> Result<Self, CollaborationError> {
        let mut team = Self::default();
        for card in members {
            team.push(card)?;
        }
        Ok(team)
    }

    /// Adds a member at the end.
    pub fn push(&mut self, card: MemberCard) -> Result<usize, CollaborationError> {
        if card.name.is_lead() {
            return Err(CollaborationError::LeadAsMember);
        }
        let key = card.name.as_str().to_ascii_lowercase();
        if self.derived.index.contains_key(&key) {
            return Err(CollaborationError::DuplicateMember(card.name));
        }
        self.derived.index.insert(key, self.seats.len());
        self.seats.push(Seat::new(card));
        Ok(self.seats.len() - 1)
    }

    /// Builds what a snapshot does not carry.
    pub fn reindex(&mut self) {
        let key = |(at, seat): (usize, &Seat)| (seat.name().as_str().to_ascii_lowercase(), at);
        self.derived.index = self.seats.iter().enumerate().map(key).collect();
        self.derived.busy = self.seats.iter().filter(|seat| seat.is_busy()).count();
    }

    /// Changes whether a member is at work.
    pub fn set_state(&mut self, at: usize, state: SeatState) {
        let Some(seat) = self.seats.get_mut(at) else { return };
        let before = seat.is_busy();
        seat.state = state;
        match (before, seat.is_busy()) {
            (false, true) => self.derived.busy += 1,
            (true, false) => self.derived.busy -= 1,
            (true, true) | (false, false) => {}
        }
    }

    /// Forgets a run; members that left stay away.
    pub fn reset(&mut self, prompt: &str) {
        for at in 0..self.seats.len() {
            let gone = !self.seats[at].is_live();
            self.seats[at] = Seat::new(self.seats[at].card.clone());
            self.seats[at].state = if gone { SeatState::Gone } else { SeatState::Free };
        }
        let seats = std::mem::take(&mut self.seats);
        *self = Self { seats, prompt: prompt.to_owned(), ..Self::default() };
        self.reindex();
    }

    /// How many members are at work.
    pub fn busy(&self) -> usize {
        self.derived.busy
    }

    /// The place of a name.
    pub fn position(&self, name: &MemberName) -> Option<usize> {
        self.lookup(name.as_str())
    }

    /// The place of the member with exactly this name, ignoring case; those that left included.
    pub fn lookup(&self, word: &str) -> Option<usize> {
        self.derived.index.get(&word.to_ascii_lowercase()).copied()
    }

    /// The member with this name, still in the team.
    pub fn seat(&self, name: &MemberName) -> Option<&Seat> {
        self.position(name).map(|at| &self.seats[at])
    }

    /// Finds the member that a model named; the error is for the model.
    pub fn find(&self, text: &str) -> Result<&Seat, String> {
        let wanted = text.trim().trim_start_matches('@').trim_matches(|c: char| "\"'`*.".contains(c));
        match self.lookup(wanted).map(|at| &self.seats[at]) {
            Some(seat) if seat.is_live() => Ok(seat),
            Some(seat) => Err(format!("{} has left the team; the team is: {}", seat.name(), self.roster())),
            None => {
                let near = self.nearest(wanted).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
                Err(format!("there is no member {:?}{near}; the team is: {}", crate::domain::text::one_line(wanted, 80), self.roster()))
            }
        }
    }

    /// The name that is nearest to a wrong one.
    pub fn nearest(&self, wrong: &str) -> Option<&str> {
        nearest(wrong, self.live().map(|seat| seat.name().as_str()))
    }

    fn roster(&self) -> String {
        let mut names: Vec<&str> = self.live().map(|seat| seat.name().as_str()).take(ROSTER_SHOWN + 1).collect();
        if names.len() > ROSTER_SHOWN {
            names[ROSTER_SHOWN] = "…";
        }
        names.join(", ")
    }

    /// Members still in the team, in registration order.
    pub fn live(&self) -> impl Iterator<Item = &Seat> {
        self.seats.iter().filter(|seat| seat.is_live())
    }

    /// The first member still in the team.
    pub fn first(&self) -> Option<&Seat> {
        self.live().next()
    }

    /// Who ended a run last.
    pub fn last(&self) -> Option<&Seat> {
        self.last.and_then(|at| self.seats.get(at))
    }

    /// Whether any member has ended a run.
    pub fn has_acted(&self) -> bool {
        self.last.is_some()
    }

    /// The first member still in the team whose last run failed.
    pub fn in_error(&self) -> Option<&Seat> {
        self.live().find(|seat| seat.error.is_some())
    }

    /// The last good output of the run: of whoever ended last, else of any member.
    pub fn last_output(&self) -> &str {
        let last = self.last().map(|seat| seat.output.as_str()).filter(|text| !text.is_empty());
        last.or_else(|| self.seats.iter().rev().map(|seat| seat.output.as_str()).find(|text| !text.is_empty())).unwrap_or("")
    }

    /// Keeps a step in the journal.
    pub fn note(&mut self, record: TraceRecord) {
        self.journal.push_back(record);
        if self.journal.len() > JOURNAL_MAX {
            self.journal.pop_front();
        }
    }

    /// Keeps an output for the loop detector.
    pub fn remember(&mut self, record: LoopRecord) {
        self.history.push_back(record);
        if self.history.len() > HISTORY_MAX {
            self.history.pop_front();
        }
    }
}
