//! The agents' tasks: started after they are registered, told through bounded channels, ended one way or another.

use super::super::agent::{self, Seat};
use super::Supervisor;
use crate::domain::{Generation, Member, MemberName};
use crate::protocol::{AgentInput, AgentReport, Input};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

/// Inputs that may wait for an agent. It takes them at every step, so a full channel means that it hangs.
const DOWN_CAPACITY: usize = 4_096;
/// How long the end of the app waits for agents: TERM, two seconds, KILL, and a moment to tell.
pub(super) const CLOSE_GRACE: Duration = Duration::from_millis(2_900);

struct Slot {
    generation: Generation,
    tx: mpsc::Sender<AgentInput>,
    abort: AbortHandle,
    told: u64,
    /// Its channel was full: it was taken off for that.
    hung: bool,
    /// What it said at rests that did not count, because more was under way to it.
    words: String,
}

/// All agents' tasks.
#[derive(Default)]
pub(super) struct Seats {
    slots: HashMap<MemberName, Slot>,
    tasks: JoinSet<()>,
    names: HashMap<Id, (MemberName, Generation)>,
}

/// A task that ended.
pub(super) struct Ended {
    name: MemberName,
    generation: Generation,
    fault: Option<JoinError>,
}

impl Seats {
    /// Whether the agent has taken all that it was told.
    pub fn has_seen_all(&self, name: &MemberName, generation: Generation, seen: u64) -> bool {
        self.slots.get(name).is_some_and(|slot| slot.generation == generation && slot.told == seen)
    }

    /// Keeps what an agent said at a rest that does not count.
    pub fn keep_words(&mut self, name: &MemberName, generation: Generation, text: String) {
        let slot = self.slots.get_mut(name).filter(|slot| slot.generation == generation && !text.is_empty());
        if let Some(slot) = slot {
            slot.words = if slot.words.is_empty() { text } else { format!("{}\n\n{text}", slot.words) };
        }
    }

    /// What was kept, for the rest that counts.
    pub fn take_words(&mut self, name: &MemberName, generation: Generation) -> String {
        self.slots
            .get_mut(name)
            .filter(|slot| slot.generation == generation)
            .map(|slot| std::mem::take(&mut slot.words))
            .unwrap_or_default()
    }

    pub fn forget(&mut self, name: &MemberName, generation: Generation) {
        if self.slots.get(name).is_some_and(|slot| slot.generation == generation) {
            self.slots.remove(name);
        }
    }

    pub fn abort(&self, name: &MemberName) {
        if let Some(slot) = self.slots.get(name) {
            slot.abort.abort();
        }
    }

    pub fn kill_all(&mut self) {
        for slot in self.slots.values() {
            let _ = slot.tx.try_send(AgentInput::Kill { reason: "the app ended".into() });
        }
    }

    /// The next task that ends; waits for ever when there is none.
    pub async fn next_end(&mut self) -> Option<Ended> {
        let Some(joined) = self.tasks.join_next_with_id().await else { return std::future::pending().await };
        let (id, fault) = match joined {
            Ok((id, ())) => (id, None),
            Err(error) => (error.id(), Some(error)),
        };
        let (name, generation) = self.names.remove(&id)?;
        Some(Ended { name, generation, fault })
    }

    /// The next task that ends within `grace`; the rest is aborted after it.
    pub async fn next_end_within(&mut self, grace: Duration) -> Option<Ended> {
        if self.tasks.is_empty() {
            return None;
        }
        match tokio::time::timeout(grace, self.next_end()).await {
            Ok(ended) => ended,
            Err(_) => {
                self.tasks.abort_all();
                self.next_end().await
            }
        }
    }
}

impl Supervisor {
    pub(super) fn start(&mut self, member: &Arc<Member>, resume: bool) {
        let (tx, down) = mpsc::channel(DOWN_CAPACITY);
        let inbox_end = self.env.store.inbox_end(&member.name).unwrap_or(0);
        let seat = Seat {
            member: member.clone(),
            team: self.core.name().to_owned(),
            protocol: self.core.protocol().to_owned(),
            resume,
            inbox_end,
            env: self.env.clone(),
            up: self.tx.clone(),
            down,
        };
        let abort = self.seats.tasks.spawn(agent::run(seat));
        self.seats.names.insert(abort.id(), (member.name.clone(), member.generation));
        self.seats
            .slots
            .insert(member.name.clone(), Slot { generation: member.generation, tx, abort, told: 0, hung: false, words: String::new() });
        self.inbox_seen.entry(member.name.clone()).or_insert(inbox_end);
    }

    pub(super) fn tell(&mut self, name: &MemberName, input: AgentInput) {
        let Some(slot) = self.seats.slots.get_mut(name) else { return };
        match slot.tx.try_send(input) {
            Ok(()) => slot.told += 1,
            Err(mpsc::error::TrySendError::Full(_)) => {
                tracing::error!(%name, "the agent does not take what it is told");
                slot.hung = true;
                slot.abort.abort();
            }
            Err(mpsc::error::TrySendError::Closed(_)) => {}
        }
    }

    /// A task ended. One that did not say so itself panicked or was taken off by force: the member's end all the same.
    pub(super) fn seat_ended(&mut self, ended: Option<Ended>) {
        let Some(Ended { name, generation, fault: Some(fault) }) = ended else { return };
        let hung = self.seats.slots.get(&name).is_some_and(|slot| slot.generation == generation && slot.hung);
        self.seats.forget(&name, generation);
        let (failed, reason) = if hung {
            (true, format!("it hung: {DOWN_CAPACITY} things that it was told were not taken"))
        } else if fault.is_panic() {
            let text = panic_text(fault);
            tracing::error!(%name, text, "a member's task panicked");
            (true, format!("internal error (a panic): {text}"))
        } else {
            (false, "stopped by force".to_owned())
        };
        self.env.live.remove(&name);
        self.handle(&Input::Report { name, generation, report: AgentReport::Ended { failed, reason } }, None);
    }
}

fn panic_text(fault: JoinError) -> String {
    let payload = fault.into_panic();
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    crate::domain::text::one_line(text.unwrap_or("no message"), 200)
}
