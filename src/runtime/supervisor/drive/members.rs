//! Who is in the run: members that ended are gone, those that came are in; steps that wait are held.

use super::super::Supervisor;
use super::Work;
use crate::collaboration::{Input as Step, MemberCard, SeatState, grouping};
use crate::domain::{Member, MemberName, MemberStatus, RequestKind};
use crate::runtime::clock;
use std::collections::HashMap;
use std::sync::Arc;

impl Supervisor {
    /// Whether a plan or permission of this member is open.
    pub(super) fn waits_for_verdict(&self, name: &MemberName) -> bool {
        self.core.pending().any(|r| r.target == *name && matches!(r.kind, RequestKind::Plan | RequestKind::Permission))
    }

    /// The members that can be chosen, in registration order; those of a declared team behind it.
    pub(super) fn cards(&self) -> Vec<MemberCard> {
        let cards = self.core.members().iter().filter(|m| self.can_act(m)).map(card).collect();
        grouping::group(cards, &self.env.settings.teams)
    }

    fn can_act(&self, member: &Member) -> bool {
        !member.name.is_lead() && self.core.runs(&member.name) && member.status != MemberStatus::Stopping
    }

    /// Tells the engine who left and who came.
    pub(super) fn sync_members(&mut self) {
        let Some(engine) = self.drive.running() else { return };
        let mut inputs = Vec::new();
        let seats: HashMap<&MemberName, SeatState> = engine.leaves().into_iter().collect();
        let mut gone: Vec<&MemberName> = seats.iter().filter(|(_, state)| **state != SeatState::Gone).map(|(name, _)| *name).collect();
        gone.retain(|name| !self.core.runs(name));
        gone.sort();
        inputs.extend(gone.into_iter().map(|name| Step::MemberGone { name: name.clone(), why: self.why_not(name) }));
        for member in self.core.members().iter().filter(|m| self.can_act(m)) {
            let comes = match seats.get(&member.name) {
                Some(state) => *state == SeatState::Gone,
                // A declared team is made when a run starts: who is new in one is in it from the next run on.
                None => !grouping::declares(&self.env.settings.teams, &member.name),
            };
            if comes {
                inputs.push(Step::MemberJoined(card(member)));
            }
        }
        let lead = MemberName::lead();
        if !self.core.runs(&lead) && self.drive.work.contains_key(&lead) {
            inputs.push(Step::SupervisorFailed { error: self.why_no_lead() });
        }
        let core = &self.core;
        self.drive.work.retain(|name, _| core.runs(name));
        self.drive.inputs.extend(inputs);
    }

    /// Why a member does not run, as its status says.
    pub(super) fn why_not(&self, name: &MemberName) -> String {
        self.core.member(name).and_then(|member| member.reason.clone()).unwrap_or_default()
    }

    pub(super) fn why_no_lead(&self) -> String {
        let reason = self.core.member(&MemberName::lead()).and_then(|lead| lead.reason.clone()).unwrap_or_default();
        format!("the lead does not run ({reason}): R starts it again")
    }

    /// Holds the steps whose members wait for a verdict or for the person, and releases those that wait no longer.
    pub(super) fn sync_holds(&mut self) {
        if self.drive.running().is_none() {
            return;
        }
        let waiting: Vec<MemberName> = self.drive.work.keys().filter(|name| self.waits_for_verdict(name)).cloned().collect();
        let now = clock::now();
        let mut names: Vec<&MemberName> = self.drive.work.keys().collect();
        names.sort();
        let names: Vec<MemberName> = names.into_iter().cloned().collect();
        for name in names {
            let Some(work) = self.drive.work.get_mut(&name) else { continue };
            let input = match (work.held, work.interrupted || waiting.contains(&name)) {
                (None, true) => {
                    work.held = Some(now);
                    Step::MemberHeld { name: name.clone() }
                }
                (Some(since), false) => {
                    work.waited += now.since(since);
                    work.held = None;
                    Step::MemberReleased { name: name.clone(), approved_text: None }
                }
                (None, false) | (Some(_), true) => continue,
            };
            // The lead has no step of its own: its question just stays open.
            if !name.is_lead() {
                self.drive.inputs.push_back(input);
            }
        }
    }

    /// Steps that were held when the app ended: those still open wait on, the others are released.
    pub(super) fn take_up_holds(&mut self) {
        let held = self.drive.engine.as_ref().map(crate::collaboration::Engine::held_members).unwrap_or_default();
        for name in held {
            if self.waits_for_verdict(&name) {
                self.drive.work.insert(name, Work { held: Some(clock::now()), ..Work::begun() });
            } else {
                self.drive.inputs.push_back(Step::MemberReleased { name, approved_text: None });
            }
        }
    }
}

/// A member as the engine knows it: the words of its role are what it can do.
fn card(member: &Arc<Member>) -> MemberCard {
    let words: Vec<&str> = member.role.split([',', ';', '/']).map(str::trim).filter(|w| !w.is_empty()).collect();
    MemberCard::new(member.name.clone(), member.role.clone()).able(&words)
}
