//! The files changed: what others wrote becomes an input, what we wrote is known already.

use super::Supervisor;
use crate::domain::{Envelope, MemberName, RequestId, TaskId};
use crate::protocol::{Input, Outside};
use crate::store::{Change, Key, StoreError, Topic};
use std::collections::HashSet;
use std::sync::Arc;

/// Mail from outside read in one go, in bytes.
const MAIL_BATCH: usize = 1 << 20;

impl Supervisor {
    pub(super) fn on_change(&mut self, change: Change) {
        match change {
            Change::Key(Key::Task(id)) => self.task_changed(id),
            Change::Key(Key::Request(id)) => self.request_changed(&id),
            Change::Key(Key::Team) => self.team_changed(),
            Change::Topic(Topic::Inbox(name)) => self.inbox_changed(&name),
            Change::Key(Key::Memory(_)) | Change::Topic(Topic::HumanInbox | Topic::Transcript(_) | Topic::Events) => {}
            Change::Rescan => self.rescan(),
        }
    }

    fn outside(&mut self, outside: Outside) {
        self.handle(&Input::Outside(outside), None);
    }

    fn task_changed(&mut self, id: TaskId) {
        let key = Key::Task(id);
        match self.env.store.task(id) {
            Ok(Some((task, revision))) => {
                if self.revisions.get(&key) != Some(&revision) {
                    self.known(key, revision);
                    self.outside(Outside::Task(Arc::new(task)));
                }
            }
            Ok(None) => {
                if self.revisions.remove(&key).is_some() {
                    self.outside(Outside::TaskGone(id));
                }
            }
            Err(error) => self.unreadable(key, &error),
        }
    }

    fn request_changed(&mut self, id: &RequestId) {
        let key = Key::Request(id.clone());
        match self.env.store.request(id) {
            Ok(Some((request, revision))) => {
                if self.revisions.get(&key) != Some(&revision) {
                    self.known(key, revision);
                    self.outside(Outside::Request(Arc::new(request)));
                }
            }
            Ok(None) => {}
            Err(error) => self.unreadable(key, &error),
        }
    }

    fn team_changed(&mut self) {
        match self.env.store.team() {
            Ok(Some((team, revision))) => {
                if self.revisions.get(&Key::Team) != Some(&revision) {
                    self.known(Key::Team, revision);
                    self.outside(Outside::Team(team));
                }
            }
            Ok(None) => {}
            Err(error) => self.unreadable(Key::Team, &error),
        }
    }

    /// A file that does not parse is said once and left alone; the rest goes on.
    fn unreadable(&mut self, key: Key, error: &StoreError) {
        if self.missing.insert(key) {
            self.notice_store(&error.to_string());
        }
    }

    fn inbox_changed(&mut self, name: &MemberName) {
        loop {
            let from = self.inbox_seen.get(name).copied().unwrap_or(0);
            let mail = match self.env.store.mail_after(name, from, MAIL_BATCH) {
                Ok(mail) if mail.next != from => mail,
                Ok(_) => return,
                Err(error) => return self.notice_store(&error.to_string()),
            };
            self.inbox_seen.insert(name.clone(), mail.next);
            let own = |m: &Envelope| m.id.as_ref().is_some_and(|id| self.own_mail.contains(&id.0));
            let others: Vec<Arc<Envelope>> = mail.messages.into_iter().filter(|m| !own(m)).map(Arc::new).collect();
            if !others.is_empty() {
                self.outside(Outside::Mail(name.clone(), others));
            }
        }
    }

    /// Looks at everything once: changes were missed, or nothing watches.
    fn rescan(&mut self) {
        if let Ok(loaded) = self.env.store.tasks() {
            let mut there = HashSet::new();
            for (task, revision) in loaded.items {
                there.insert(task.id);
                if self.revisions.get(&Key::Task(task.id)) != Some(&revision) {
                    self.known(Key::Task(task.id), revision);
                    self.outside(Outside::Task(Arc::new(task)));
                }
            }
            let gone: Vec<TaskId> = self.core.board().iter().map(|t| t.id).filter(|id| !there.contains(id)).collect();
            for id in gone {
                self.task_changed(id);
            }
        }
        if let Ok(loaded) = self.env.store.requests() {
            for (request, revision) in loaded.items {
                let key = Key::Request(request.id.clone());
                if self.revisions.get(&key) != Some(&revision) {
                    self.known(key, revision);
                    self.outside(Outside::Request(Arc::new(request)));
                }
            }
        }
        self.team_changed();
        let names: Vec<MemberName> = self.core.members().iter().map(|m| m.name.clone()).collect();
        for name in names {
            self.inbox_changed(&name);
        }
    }
}
