//! The supervisor: owns the team core, linearizes every input, carries out its effects, and is the truth for the screen.
//!
//! An input is decided, its effects are carried out in order (save before send), then what follows from the new state is
//! settled. A write that lost against another process brings that process's version in and decides again.

mod changes;
mod drive;
mod execute;
mod feed;
mod open;
mod schema;
mod seats;
mod timers;
mod trouble;

pub use open::{Opened, open};

use super::clock;
use super::env::RuntimeEnv;
use super::ids::RandomIds;
use super::inbound::{Inbound, ReplyTo};
use crate::domain::{EventRecord, MemberName, Party, Refusal, RequestId, TeamCommand};
use crate::protocol::effect::Phase;
use crate::protocol::{AgentReport, Effect, Input, Mark, TeamCore};
use crate::store::{Guard, Key, Revision};
use execute::Carried;
use seats::Seats;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use timers::Timers;
use tokio::sync::mpsc;

/// How often one input is decided again after losing against another process.
const RETRIES: usize = 20;
/// Consequences of one input; a team of 1,000 members and as many tasks stays far below.
const SETTLE_MAX: usize = 100_000;
/// Inputs taken in one go before the log is written.
const BATCH: usize = 256;

/// The task that owns a team.
pub struct Supervisor {
    core: TeamCore,
    env: Arc<RuntimeEnv>,
    tx: mpsc::UnboundedSender<Inbound>,
    rx: mpsc::UnboundedReceiver<Inbound>,
    seats: Seats,
    timers: Timers,
    revisions: HashMap<Key, Revision>,
    deferred: HashMap<RequestId, ReplyTo>,
    subscribers: Vec<mpsc::UnboundedSender<Arc<EventRecord>>>,
    seq: u64,
    log: Vec<EventRecord>,
    notices: std::collections::VecDeque<Arc<EventRecord>>,
    log_start: u64,
    team_dirty: Option<crate::domain::Timestamp>,
    inbox_seen: HashMap<MemberName, u64>,
    own_mail: HashSet<Arc<str>>,
    own_mail_order: VecDeque<Arc<str>>,
    trouble: trouble::Trouble,
    missing: BTreeSet<Key>,
    opened: (crate::domain::Timestamp, crate::domain::TeamEvent),
    watching: bool,
    poll_at: Option<crate::domain::Timestamp>,
    ids: RandomIds,
    _guards: Vec<Guard>,
    opening: Vec<Effect>,
    drive: drive::Drive,
}

impl Supervisor {
    /// Runs until it is closed.
    pub async fn run(mut self) {
        loop {
            let wake = self.next_wake();
            tokio::select! {
                biased;
                inbound = self.rx.recv() => {
                    let Some(inbound) = inbound else { break };
                    if let Some(done) = self.take_batch(inbound) {
                        self.close().await;
                        let _ = done.send(());
                        return;
                    }
                }
                ended = self.seats.next_end() => self.seat_ended(ended),
                () = timers::sleep_until(wake, self.trouble.next()) => self.on_wake(),
            }
            self.write_log();
        }
        self.close().await;
    }

    /// Handles an input and those that wait behind it; returns the reply of a close.
    fn take_batch(&mut self, first: Inbound) -> Option<tokio::sync::oneshot::Sender<()>> {
        let mut next = Some(first);
        let mut taken = 0;
        while let Some(inbound) = next.take() {
            match inbound {
                Inbound::Command { by, generation, command, reply } => self.on_command(by, generation, command, reply),
                Inbound::Report { name, generation, report, seen } => self.on_report(name, generation, report, seen),
                Inbound::TellBack { name, generation, text } => {
                    if self.core.member(&name).is_some_and(|m| m.generation == generation) {
                        if self.core.is_at_rest(&name) {
                            self.core.mark(Mark::Phase { name: name.clone(), phase: Phase::Called });
                        }
                        self.tell(&name, crate::protocol::AgentInput::Tell { text, cause: "background command" });
                    }
                }
                Inbound::Changed(change) => self.on_change(change),
                Inbound::Subscribe(tx) => self.subscribe(tx),
                Inbound::Close(done) => return Some(done),
            }
            taken += 1;
            // What is left stays where it is: order within the channel is the order in which things happened.
            next = if taken < BATCH { self.rx.try_recv().ok() } else { None };
        }
        None
    }

    fn on_command(&mut self, by: Party, generation: Option<crate::domain::Generation>, command: TeamCommand, reply: ReplyTo) {
        let stale = by.member().is_some_and(|name| self.core.member(name).map(|m| m.generation) != generation);
        if stale {
            let _ = reply.send(Err(Refusal::Unavailable("this member was replaced by a newer one".into())));
            return;
        }
        match command {
            TeamCommand::UseProtocolTool { tool, arguments } if self.core.is_driving() => {
                self.use_protocol_tool(&by, &tool, arguments, reply)
            }
            command => {
                self.drive_before(&by, &command);
                self.handle(&Input::Command { by, command }, Some(reply));
            }
        }
    }

    fn on_report(&mut self, name: MemberName, generation: crate::domain::Generation, report: AgentReport, seen: u64) {
        let mut report = report;
        if let AgentReport::Rested { text, .. } = &mut report {
            // More is under way to it: it will work again, and rest later.
            if !self.seats.has_seen_all(&name, generation, seen) {
                return self.seats.keep_words(&name, generation, std::mem::take(text));
            }
            let earlier = self.seats.take_words(&name, generation);
            // Where a protocol chooses who acts, an output is what came of one step.
            if !self.core.is_driving() && !earlier.is_empty() {
                *text = if text.is_empty() { earlier } else { format!("{earlier}\n\n{text}") };
            }
        }
        if matches!(report, AgentReport::Ended { .. }) {
            self.seats.forget(&name, generation);
        }
        self.handle(&Input::Report { name, generation, report }, None);
    }

    /// Decides an input, carries it out, and settles what follows.
    fn handle(&mut self, input: &Input, reply: Option<ReplyTo>) {
        let mut reply = reply;
        let mut taken = false;
        for _ in 0..RETRIES {
            let effects = match self.core.decide(input, clock::now(), &mut self.ids) {
                Ok(effects) => effects,
                Err(refusal) => {
                    answer(&mut reply, Err(refusal));
                    break;
                }
            };
            // Whoever gave a command is told when it fails; what happened anyway has letters that must not be lost.
            let carried =
                if matches!(input, Input::Command { .. }) { self.carry_out(effects, &mut reply) } else { self.carry_out_keeping(effects) };
            match carried {
                Carried::Done => {
                    taken = true;
                    break;
                }
                Carried::Lost(outside) => self.take_outside(*outside),
                Carried::Failed(error) => {
                    self.notice_store(&error);
                    answer(&mut reply, Err(Refusal::Store(error)));
                    break;
                }
            }
        }
        answer(&mut reply, Err(Refusal::Store("another process keeps changing this: try again".into())));
        // What was refused means nothing for a run; what an agent tells does, whatever the disk says.
        if taken || matches!(input, Input::Report { .. }) {
            self.drive_after(input);
        }
        self.settle();
    }

    /// Carries out what follows from the state, until nothing does.
    fn settle(&mut self) {
        for _ in 0..SETTLE_MAX {
            let effects = self.core.settle(clock::now(), &mut self.ids);
            if effects.is_empty() {
                return self.settled(false);
            }
            match self.carry_out(effects, &mut None) {
                Carried::Done => {}
                Carried::Lost(outside) => self.take_outside(*outside),
                Carried::Failed(error) => {
                    self.notice_store(&error);
                    return self.settled(true);
                }
            }
        }
        tracing::error!("consequences did not end");
    }

    /// Brings in what another process wrote. When what follows from it loses in turn, that newer version comes in first:
    /// its revision is known from then on, so nothing else would ever bring it.
    fn take_outside(&mut self, outside: crate::protocol::Outside) {
        let mut waiting = vec![Input::Outside(outside)];
        for _ in 0..RETRIES {
            let Some(input) = waiting.last() else { return };
            let Ok(effects) = self.core.decide(input, clock::now(), &mut self.ids) else { return };
            match self.carry_out_keeping(effects) {
                Carried::Done => drop(waiting.pop()),
                Carried::Lost(newer) => waiting.push(Input::Outside(*newer)),
                Carried::Failed(error) => {
                    self.notice_store(&error);
                    waiting.pop();
                }
            }
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>, reply: &mut Option<ReplyTo>) -> Carried {
        for effect in effects {
            match self.execute(effect, reply) {
                Carried::Done => {}
                stopped => return stopped,
            }
        }
        Carried::Done
    }

    /// Carries out what cannot be refused any more. When a write fails, the letters behind it are kept for later.
    fn carry_out_keeping(&mut self, effects: Vec<Effect>) -> Carried {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            let letter = if let Effect::Deliver(letter) = &effect { Some(letter.clone()) } else { None };
            match self.execute(effect, &mut None) {
                Carried::Done => {}
                Carried::Lost(outside) => return Carried::Lost(outside),
                Carried::Failed(error) => {
                    let behind = effects.into_iter().filter_map(|e| if let Effect::Deliver(letter) = e { Some(letter) } else { None });
                    letter.into_iter().chain(behind).collect::<Vec<_>>().into_iter().for_each(|letter| self.keep_letter(letter));
                    return Carried::Failed(error);
                }
            }
        }
        Carried::Done
    }

    /// Stops everybody now, bounded, then writes what is left.
    async fn close(&mut self) {
        self.freeze_drive();
        self.seats.kill_all();
        while let Some(ended) = self.seats.next_end_within(crate::runtime::supervisor::seats::CLOSE_GRACE).await {
            while let Ok(inbound) = self.rx.try_recv() {
                if let Inbound::Report { name, generation, report, seen } = inbound {
                    self.on_report(name, generation, report, seen);
                }
            }
            self.seat_ended(Some(ended));
        }
        while let Ok(inbound) = self.rx.try_recv() {
            if let Inbound::Report { name, generation, report, seen } = inbound {
                self.on_report(name, generation, report, seen);
            }
        }
        self.write_rest();
    }
}

fn answer(reply: &mut Option<ReplyTo>, result: Result<crate::domain::Reply, Refusal>) {
    if let Some(reply) = reply.take() {
        let _ = reply.send(result);
    }
}
