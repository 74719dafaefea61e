//! Carrying out effects.

use super::super::inbound::ReplyTo;
use super::{Supervisor, answer};
use crate::domain::{Envelope, MessageId, Request, Task, TaskId, TeamEvent};
use crate::protocol::{Effect, Mark, Outside};
use crate::runtime::clock;
use crate::store::{Expect, Key, PutOf, Revision, StoreError, TeamStore};
use std::sync::Arc;

/// Ids of own messages that are remembered, to tell own mail from others' when an inbox grew.
const OWN_MAIL_MAX: usize = 4_096;

/// What came of an effect.
pub(super) enum Carried {
    /// It is done.
    Done,
    /// Another process was quicker: this is there now.
    Lost(Box<Outside>),
    /// The store said no.
    Failed(String),
}

impl From<Result<Carried, StoreError>> for Carried {
    fn from(result: Result<Carried, StoreError>) -> Self {
        result.unwrap_or_else(|error| Self::Failed(error.to_string()))
    }
}

impl Supervisor {
    pub(super) fn execute(&mut self, effect: Effect, reply: &mut Option<ReplyTo>) -> Carried {
        match effect {
            Effect::CreateTask(task) => return self.save_task(&task, Expect::Absent).into(),
            Effect::SaveTask(task) => {
                let expect = self.expect(&Key::Task(task.id));
                return self.save_task(&task, expect).into();
            }
            Effect::DeleteTask(id) => return self.delete_task(id).into(),
            Effect::CreateRequest(request) => return self.save_request(&request, Expect::Absent).into(),
            Effect::SaveRequest(request) => {
                let expect = self.expect(&Key::Request(request.id.clone()));
                return self.save_request(&request, expect).into();
            }
            Effect::SaveTeam => return self.save_team(),
            Effect::Deliver(message) => return self.deliver(&message).into(),
            Effect::Patch { name, patch } => {
                if let Some(event) = self.core.patched(&name, &patch) {
                    self.emit(event);
                }
            }
            Effect::Emit(event) => self.emit(event),
            Effect::Mark(mark) => self.core.mark(mark),
            Effect::Start { member, resume } => self.start(&member, resume),
            Effect::Tell { name, input } => self.tell(&name, input),
            Effect::Abort { name } => self.seats.abort(&name),
            Effect::SetTimer { timer, at } => self.timers.set(timer, at),
            Effect::CancelTimer(timer) => self.timers.cancel(&timer),
            Effect::Reply(value) => answer(reply, Ok(value)),
            Effect::Refuse(refusal) => answer(reply, Err(refusal)),
            Effect::Defer(id) => {
                if let Some(reply) = reply.take() {
                    self.deferred.insert(id, reply);
                }
            }
            Effect::Settle { id, result } => answer(&mut self.deferred.remove(&id), result),
        }
        Carried::Done
    }

    /// Applies a fact, logs it, shows it.
    pub(super) fn emit(&mut self, event: TeamEvent) {
        self.core.apply(&event);
        if matches!(event, TeamEvent::Finished { .. }) {
            self.drive.forget_goal();
        }
        if matches!(event, TeamEvent::MemberChanged { .. } | TeamEvent::MemberRemoved { .. }) {
            self.team_dirty.get_or_insert_with(|| clock::now().plus(super::timers::TEAM_DELAY));
        }
        self.record(event);
    }

    fn expect(&self, key: &Key) -> Expect {
        self.revisions.get(key).map_or(Expect::Absent, |revision| Expect::At(*revision))
    }

    pub(super) fn known(&mut self, key: Key, revision: Revision) {
        self.missing.remove(&key);
        self.revisions.insert(key, revision);
    }

    fn save_task(&mut self, task: &Arc<Task>, expect: Expect) -> Result<Carried, StoreError> {
        let key = Key::Task(task.id);
        let put = match self.insist(&key, expect, |store, expect| store.put_task(task, expect)) {
            // The number belongs to a file that cannot be read: the next one is taken instead.
            Err(error) if error.is_damage() && expect == Expect::Absent => {
                self.core.mark(Mark::NumberTaken(task.id));
                return Ok(Carried::Lost(Box::new(Outside::TaskGone(task.id))));
            }
            put => put?,
        };
        Ok(match put {
            PutOf::Applied(revision) => {
                self.known(key, revision);
                Carried::Done
            }
            PutOf::Lost(Some((there, revision))) => {
                self.known(key, revision);
                Carried::Lost(Box::new(Outside::Task(Arc::new(there))))
            }
            PutOf::Lost(None) => {
                self.revisions.remove(&key);
                Carried::Lost(Box::new(Outside::TaskGone(task.id)))
            }
        })
    }

    fn delete_task(&mut self, id: TaskId) -> Result<Carried, StoreError> {
        let key = Key::Task(id);
        let Some(revision) = self.revisions.get(&key).copied() else { return Ok(Carried::Done) };
        Ok(match self.env.store.delete_task(id, revision)? {
            PutOf::Applied(_) | PutOf::Lost(None) => {
                self.revisions.remove(&key);
                Carried::Done
            }
            PutOf::Lost(Some((there, revision))) => {
                self.known(key, revision);
                Carried::Lost(Box::new(Outside::Task(Arc::new(there))))
            }
        })
    }

    fn save_request(&mut self, request: &Arc<Request>, expect: Expect) -> Result<Carried, StoreError> {
        let key = Key::Request(request.id.clone());
        let put = self.insist(&key, expect, |store, expect| store.put_request(request, expect))?;
        Ok(match put {
            PutOf::Applied(revision) => {
                self.known(key, revision);
                Carried::Done
            }
            PutOf::Lost(Some((there, revision))) => {
                self.known(key, revision);
                Carried::Lost(Box::new(Outside::Request(Arc::new(there))))
            }
            // Somebody removed the file of an open request: it is written anew.
            PutOf::Lost(None) => {
                self.revisions.remove(&key);
                match self.env.store.put_request(request, Expect::Absent)? {
                    PutOf::Applied(revision) => self.known(key, revision),
                    PutOf::Lost(_) => return Ok(Carried::Failed(format!("request {} cannot be written", request.id))),
                }
                Carried::Done
            }
        })
    }

    /// Writes the team's file. What another process wrote in between is taken in afterwards, then written with ours.
    pub(super) fn save_team(&mut self) -> Carried {
        self.team_dirty = None;
        let mut outside = None;
        for _ in 0..super::RETRIES {
            let expect = self.expect(&Key::Team);
            let team = self.core.team_config();
            match self.insist(&Key::Team, expect, |store, expect| store.put_team(&team, expect)) {
                Ok(PutOf::Applied(revision)) => {
                    self.known(Key::Team, revision);
                    if let Some(team) = outside {
                        self.take_outside(Outside::Team(team));
                    }
                    return Carried::Done;
                }
                Ok(PutOf::Lost(Some((team, revision)))) => {
                    self.known(Key::Team, revision);
                    outside = Some(team);
                }
                Ok(PutOf::Lost(None)) => {
                    self.revisions.remove(&Key::Team);
                }
                Err(error) => {
                    self.team_dirty = Some(clock::now().plus(super::trouble::PAUSE));
                    return Carried::Failed(error.to_string());
                }
            }
        }
        Carried::Failed("team/config.json: another process keeps changing it".into())
    }

    pub(super) fn flush_team(&mut self) {
        if self.team_dirty.is_some()
            && let Carried::Failed(error) = self.save_team()
        {
            self.notice_store(&error);
        }
    }

    /// A write over a known version. Where something now lies there that can never be read, it is moved aside, and ours,
    /// which is the last version that could be, is written anew.
    fn insist<T>(
        &mut self,
        key: &Key,
        expect: Expect,
        put: impl Fn(&TeamStore, Expect) -> Result<PutOf<T>, StoreError>,
    ) -> Result<PutOf<T>, StoreError> {
        match put(&self.env.store, expect) {
            Err(error) if error.is_damage() && expect != Expect::Absent => {
                if let Some(aside) = self.env.store.set_aside(key)? {
                    self.notice_store(&format!("{error}; it was moved to {}, and the last good version is written again", aside.display()));
                }
                self.revisions.remove(key);
                put(&self.env.store, Expect::Absent)
            }
            put => put,
        }
    }

    /// Writes a message into its inbox.
    pub(super) fn deliver(&mut self, message: &Envelope) -> Result<Carried, StoreError> {
        self.env.store.deliver(message)?;
        if let Some(MessageId(id)) = &message.id {
            self.own_mail.insert(id.clone());
            self.own_mail_order.push_back(id.clone());
            if self.own_mail_order.len() > OWN_MAIL_MAX
                && let Some(old) = self.own_mail_order.pop_front()
            {
                self.own_mail.remove(&old);
            }
        }
        Ok(Carried::Done)
    }
}
