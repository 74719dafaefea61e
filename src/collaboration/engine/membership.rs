//! Members that leave a run, and those that come into it.

use super::steps::{ERROR_MAX, Ended};
use super::{CollaborationError, Engine, Phase};
use crate::collaboration::{Ending, MemberCard, SeatState};
use crate::domain::{MemberName, text::one_line};

impl Engine {
    pub(super) fn gone(&mut self, name: &MemberName, why: &str) -> Result<(), CollaborationError> {
        let at = self.seat_of(name)?;
        let busy = self.phase == Phase::Running && self.team.seats[at].is_busy();
        self.children.stop_one(name, self.now);
        if !busy {
            self.team.set_state(at, SeatState::Gone);
            self.out.changed = true;
            if self.phase == Phase::Running && self.protocol.is_driven() && self.team.live().next().is_none() {
                self.end(Ending::new("no member is left", false));
            }
            return Ok(());
        }
        let error = if why.is_empty() { "left the team".to_owned() } else { format!("left the team: {}", one_line(why, ERROR_MAX)) };
        let ended = Ended { error: Some(error), gone: true, ..Ended::default() };
        self.conclude(at, &ended);
        Ok(())
    }

    pub(super) fn joined(&mut self, card: MemberCard) -> Result<(), CollaborationError> {
        if card.team.is_some() {
            return Err(CollaborationError::Config(format!(
                "{}: a nested team cannot join a run; give it when the team is built",
                card.name
            )));
        }
        self.out.changed = true;
        match self.team.position(&card.name) {
            Some(at) if self.team.seats[at].state == SeatState::Gone => {
                self.team.seats[at].card = card;
                self.team.set_state(at, SeatState::Free);
                Ok(())
            }
            Some(_) | None => self.team.push(card).map(|_| ()),
        }
    }
}
