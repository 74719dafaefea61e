//! What can be asked of the core, changing nothing; and who may give which commands.

use super::{Seat, TeamCore};
use crate::domain::settings::TeamSettings;
use crate::domain::{Activity, Board, Member, MemberName, MemberStatus, Party, Refusal, Request, RequestId, RequestKind, names};
use crate::protocol::effect::Phase;
use std::sync::Arc;

impl TeamCore {
    /// The team's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The collaboration protocol's name.
    pub fn protocol(&self) -> &str {
        &self.protocol
    }

    /// The settings in force.
    pub fn settings(&self) -> &TeamSettings {
        &self.settings
    }

    /// All tasks.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Members in registration order.
    pub fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// A request by id.
    pub fn request(&self, id: &RequestId) -> Option<&Arc<Request>> {
        self.requests.get(id)
    }

    /// All requests, in no order.
    pub fn requests(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.requests.values()
    }

    /// The member, if there is one of exactly this name.
    pub fn member(&self, name: &MemberName) -> Option<&Arc<Member>> {
        let seat = self.seats.get(name)?;
        self.members.get(seat.order)
    }

    /// What a member does now.
    pub fn activity(&self, name: &MemberName) -> Activity {
        self.seats.get(name).map(|seat| seat.activity.clone()).unwrap_or_default()
    }

    /// Whether the run has ended and nothing was given since.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether any agent's task runs.
    pub fn anybody_live(&self) -> bool {
        self.seats.values().any(|seat| seat.phase != Phase::Off)
    }

    /// Whether the member's agent runs.
    pub fn runs(&self, name: &MemberName) -> bool {
        self.is_live(name)
    }

    /// Whether everybody was told to stop.
    pub fn has_to_stop(&self) -> bool {
        self.stopping.is_some()
    }

    /// Requests without an answer, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.pending.iter().filter_map(|id| self.requests.get(id))
    }

    /// Whether the member's agent runs and waits for something new.
    pub fn is_at_rest(&self, name: &MemberName) -> bool {
        self.is_resting(name)
    }

    pub(super) fn roster(&self) -> Vec<(Member, Activity)> {
        self.members.iter().map(|m| (Member::clone(m), self.activity(&m.name))).collect()
    }

    pub(super) fn find_request(&self, id: &RequestId) -> Result<&Arc<Request>, Refusal> {
        self.requests.get(id).ok_or_else(|| Refusal::UnknownRequest(id.to_string()))
    }

    /// The member that `name` means, ignoring case, or the refusal with the roster and the nearest name.
    pub(super) fn find_member(&self, name: &str) -> Result<&Arc<Member>, Refusal> {
        let name = name.trim();
        self.members.iter().find(|m| m.name.same(name)).ok_or_else(|| self.unknown(name))
    }

    pub(super) fn unknown(&self, name: &str) -> Refusal {
        let known = self.members.iter().map(|m| m.name.as_str());
        Refusal::UnknownMember {
            name: name.chars().take(80).collect(),
            nearest: names::nearest(name, known.clone()).map(str::to_owned),
            roster: known.collect::<Vec<_>>().join(", "),
        }
    }

    pub(super) fn seat(&self, name: &MemberName) -> Option<&Seat> {
        self.seats.get(name)
    }

    pub(super) fn is_live(&self, name: &MemberName) -> bool {
        self.seat(name).is_some_and(|seat| seat.phase != Phase::Off)
    }

    pub(super) fn is_resting(&self, name: &MemberName) -> bool {
        self.seat(name).is_some_and(|seat| matches!(seat.phase, Phase::Resting { .. }))
    }

    /// Whether anybody works or was just told something to work on.
    pub(super) fn anybody_busy(&self) -> bool {
        self.seats.values().any(|seat| matches!(seat.phase, Phase::Working | Phase::Called))
    }

    /// Whether the member was told to end, or was asked to by a request other than `except`.
    pub(super) fn is_stopping(&self, name: &MemberName, except: Option<&RequestId>) -> bool {
        let asked = |r: &Request| r.kind == RequestKind::Shutdown && r.target == *name && Some(&r.id) != except;
        self.seat(name).is_some_and(|seat| seat.ending.is_some()) || self.open_requests().any(|r| asked(r))
    }

    /// The status of a member that does not rest, when the request `except` is decided.
    pub(super) fn status_at_work(&self, name: &MemberName, except: Option<&RequestId>) -> MemberStatus {
        let asks = |r: &Request| r.kind != RequestKind::Shutdown && r.target == *name && Some(&r.id) != except;
        if self.is_stopping(name, except) {
            MemberStatus::Stopping
        } else if self.open_requests().any(|r| asks(r)) {
            MemberStatus::WaitingApproval
        } else {
            MemberStatus::Working
        }
    }

    /// Requests without an answer, in the order they came.
    pub(super) fn open_requests(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.pending.iter().filter_map(|id| self.requests.get(id))
    }

    /// Whether the protocol chooses who acts.
    pub fn is_driven(&self) -> bool {
        self.driven
    }

    /// Whether a run of such a protocol goes on.
    pub fn is_driving(&self) -> bool {
        self.driving
    }

    /// Who may give commands at all: the person, the runtime, and members whose agent runs. A command that a dead agent
    /// left behind would claim or ask for something that nobody gives back.
    pub(super) fn check_party(&self, by: &Party) -> Result<(), Refusal> {
        match by {
            Party::Human | Party::System => Ok(()),
            Party::Member(name) if self.is_live(name) => Ok(()),
            Party::Member(name) => Err(Refusal::Unavailable(format!("{name} does not run: what it asks for does not count"))),
            Party::Outside(name) => Err(Refusal::Invalid(format!("{name:?} is not on the team"))),
        }
    }

    /// Only the lead and the human steer the team.
    pub(super) fn check_steers(&self, by: &Party, what: &str) -> Result<(), Refusal> {
        if *by == Party::Human || *by == Party::System || by.is_lead() {
            return Ok(());
        }
        Err(Refusal::Invalid(format!("only the lead and the human may {what}")))
    }

    /// Only the human.
    pub(super) fn check_human(&self, by: &Party, what: &str) -> Result<(), Refusal> {
        if *by == Party::Human || *by == Party::System {
            return Ok(());
        }
        Err(Refusal::Invalid(format!("only the human may {what}")))
    }
}
