//! The files as a model: what was written, by whom last, and writes that fail.

use signoff::domain::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An entity's place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Task(TaskId),
    Request(RequestId),
    Team,
}

/// What a write that is about to fail does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This many writes from now, one fails.
    Fails(u32),
    /// This many writes from now, the machine loses its power: that write and all after it do not happen.
    Crashes(u32),
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Done,
    Failed,
    Crashed,
}

#[derive(Clone, Default)]
pub struct Disk {
    pub tasks: BTreeMap<TaskId, (Arc<Task>, u64)>,
    pub requests: BTreeMap<RequestId, (Arc<Request>, u64)>,
    pub team: Option<(TeamConfig, u64)>,
    pub inboxes: BTreeMap<String, Vec<Arc<Envelope>>>,
    /// The transcripts, as far as they matter here: which generation wrote last and how much mail it took in.
    pub offsets: BTreeMap<MemberName, (Generation, usize)>,
    pub fault: Option<Fault>,
    revision: u64,
}

impl Disk {
    pub fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    /// Whether the next write of the team's process happens.
    pub fn write(&mut self) -> Write {
        match &mut self.fault {
            None => Write::Done,
            Some(Fault::Fails(0)) => {
                self.fault = None;
                Write::Failed
            }
            Some(Fault::Crashes(0)) => Write::Crashed,
            Some(Fault::Fails(n) | Fault::Crashes(n)) => {
                *n -= 1;
                Write::Done
            }
        }
    }

    pub fn revision_of(&self, key: &Key) -> Option<u64> {
        match key {
            Key::Task(id) => self.tasks.get(id).map(|(_, revision)| *revision),
            Key::Request(id) => self.requests.get(id).map(|(_, revision)| *revision),
            Key::Team => self.team.as_ref().map(|(_, revision)| *revision),
        }
    }

    pub fn keys(&self) -> Vec<Key> {
        let tasks = self.tasks.keys().map(|id| Key::Task(*id));
        let requests = self.requests.keys().map(|id| Key::Request(id.clone()));
        tasks.chain(requests).chain(self.team.is_some().then_some(Key::Team)).collect()
    }

    pub fn put_task(&mut self, task: Arc<Task>) {
        let revision = self.next_revision();
        self.tasks.insert(task.id, (task, revision));
    }

    pub fn put_request(&mut self, request: Arc<Request>) {
        let revision = self.next_revision();
        self.requests.insert(request.id.clone(), (request, revision));
    }

    pub fn put_team(&mut self, team: TeamConfig) {
        let revision = self.next_revision();
        self.team = Some((team, revision));
    }

    /// What a program that starts now reads: everything through its JSON.
    pub fn load(&self, lead_has_work: bool) -> signoff::protocol::core::Loaded {
        signoff::protocol::core::Loaded {
            team: self.team.as_ref().map(|(team, _)| through_json(team)),
            tasks: self.tasks.values().map(|(task, _)| through_json(&**task)).collect(),
            requests: self.requests.values().map(|(request, _)| through_json(&**request)).collect(),
            lead_has_work,
            ..signoff::protocol::core::Loaded::default()
        }
    }
}

fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_slice(&serde_json::to_vec(value).unwrap()).unwrap()
}
