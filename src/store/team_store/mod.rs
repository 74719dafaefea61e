//! The typed store: tasks, requests, the team, mail and logs over any [`Backend`], written once.
//!
//! What does not parse is reported as a [`Fault`] with its place, never blanks the rest, and is never overwritten: it has
//! no revision here that a write could name. All calls block; they are short.
//! Deliberately absent: rules (a caller's closure decides, `domain` knows the rules), indexes, clocks.

mod log;
mod mail;
mod requests;
mod tasks;
mod team;

pub use log::Events;
pub use mail::Mail;

use super::{Backend, Expect, Guard, Key, KeyKind, Put, Revision, Sink, StoreError, Stored, parallel};
use crate::domain::Refusal;
use crate::domain::text::one_line;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;

/// How often a change is tried on top of somebody else's before it is given up.
const UPDATE_TRIES: u32 = 50;
/// The longest reason of a fault, in characters.
const REASON_MAX: usize = 300;

/// Something in the store that cannot be used as it is; safe to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path below the workspace.
    pub place: String,
    /// What is wrong (for a line of a log: before which byte), and what was done about it.
    pub reason: String,
}

impl Fault {
    /// A fault at a place; both are made safe to draw.
    pub fn new(place: impl std::fmt::Display, reason: impl std::fmt::Display) -> Self {
        Self { place: one_line(&place.to_string(), REASON_MAX), reason: one_line(&reason.to_string(), REASON_MAX) }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// All entities of a kind, and what is wrong with the ones that are missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The good ones in the order of their keys.
    pub items: Vec<(T, Revision)>,
    /// The others, and remarks on odd ones.
    pub faults: Vec<Fault>,
}

/// What came of a typed put.
#[derive(Clone, Debug, PartialEq)]
pub enum PutOf<T> {
    /// It is there now.
    Applied(Revision),
    /// Somebody else was quicker: what is there now. Nothing was changed.
    Lost(Option<(T, Revision)>),
}

/// Why an update did not happen.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The rule said no to what is there.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<UpdateError> for Refusal {
    fn from(error: UpdateError) -> Self {
        match error {
            UpdateError::Refused(refusal) => refusal,
            UpdateError::Store(error) => error.into(),
        }
    }
}

/// The typed facade. Clones share the backend.
#[derive(Clone)]
pub struct TeamStore {
    backend: Arc<dyn Backend>,
}

impl TeamStore {
    /// Over a backend.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// The backend.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// See [`Backend::lock_team`].
    pub fn lock_team(&self) -> Result<Option<Guard>, StoreError> {
        self.backend.lock_team()
    }

    /// See [`Backend::is_team_locked`].
    pub fn is_team_locked(&self) -> Result<bool, StoreError> {
        self.backend.is_team_locked()
    }

    /// See [`Backend::watch`].
    pub fn watch(&self, sink: impl Fn(super::Change) + Send + Sync + 'static) -> Result<Guard, StoreError> {
        let sink: Sink = Box::new(sink);
        self.backend.watch(sink)
    }

    /// See [`Backend::set_aside`].
    pub fn set_aside(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        self.backend.set_aside(key)
    }

    fn get<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<(T, Revision)>, StoreError> {
        self.backend.get(key)?.map(|stored| parse(key, &stored)).transpose()
    }

    fn put<T: DeserializeOwned + Serialize>(&self, key: &Key, value: &T, expect: Expect) -> Result<PutOf<T>, StoreError> {
        match self.backend.put(key, expect, &encode(key, value)?)? {
            Put::Applied(revision) => Ok(PutOf::Applied(revision)),
            Put::Lost(there) => Ok(PutOf::Lost(there.map(|stored| parse(key, &stored)).transpose()?)),
        }
    }

    fn delete<T: DeserializeOwned>(&self, key: &Key, expect: Revision) -> Result<PutOf<T>, StoreError> {
        match self.backend.delete(key, expect)? {
            Put::Applied(revision) => Ok(PutOf::Applied(revision)),
            Put::Lost(there) => Ok(PutOf::Lost(there.map(|stored| parse(key, &stored)).transpose()?)),
        }
    }

    fn load<T: DeserializeOwned + Send>(
        &self,
        kind: KeyKind,
        adopt: impl Fn(&Key, T) -> (T, Option<Fault>) + Sync,
    ) -> Result<Loaded<T>, StoreError> {
        let read = |(key, stored): (Key, Result<Stored, StoreError>)| {
            let (value, revision) = stored.and_then(|stored| parse::<T>(&key, &stored)).map_err(|error| fault_of(&key, &error))?;
            let (value, remark) = adopt(&key, value);
            Ok(((value, revision), remark))
        };
        let mut loaded = Loaded { items: Vec::new(), faults: Vec::new() };
        for result in parallel::map(self.backend.load(kind)?, read) {
            match result {
                Ok((item, remark)) => {
                    loaded.items.push(item);
                    loaded.faults.extend(remark);
                }
                Err(fault) => loaded.faults.push(fault),
            }
        }
        Ok(loaded)
    }

    /// The compare-and-swap loop: reads, lets the rule decide on what is there, writes, and starts again when somebody
    /// else was quicker. A rule that changes nothing writes nothing.
    fn update<T>(&self, key: &Key, mut rule: impl FnMut(Option<&T>) -> Result<T, UpdateError>) -> Result<(T, Revision), UpdateError>
    where
        T: DeserializeOwned + Serialize + PartialEq,
    {
        let mut there = self.get::<T>(key)?;
        for _ in 0..UPDATE_TRIES {
            let wanted = rule(there.as_ref().map(|(value, _)| value))?;
            let expect = match there {
                Some((now, revision)) if now == wanted => return Ok((wanted, revision)),
                Some((_, revision)) => Expect::At(revision),
                None => Expect::Absent,
            };
            match self.put(key, &wanted, expect)? {
                PutOf::Applied(revision) => return Ok((wanted, revision)),
                PutOf::Lost(now) => there = now,
            }
        }
        Err(StoreError::Contended { place: key.to_string(), tries: UPDATE_TRIES }.into())
    }
}

/// Reads JSON; a byte order mark in front is allowed.
fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err("it is empty".into());
    }
    serde_json::from_slice(bytes).map_err(|error| one_line(&error.to_string(), REASON_MAX))
}

fn parse<T: DeserializeOwned>(key: &Key, stored: &Stored) -> Result<(T, Revision), StoreError> {
    let corrupt = |reason| StoreError::Corrupt { path: PathBuf::from(key.to_string()), reason };
    decode(&stored.bytes).map(|value| (value, stored.revision)).map_err(corrupt)
}

/// The file's bytes: indented for people, ended with a newline.
fn encode<T: Serialize>(key: &Key, value: &T) -> Result<Vec<u8>, StoreError> {
    let failed = |error: serde_json::Error| StoreError::Io { action: "encode", path: key.to_string().into(), source: error.into() };
    let mut bytes = serde_json::to_vec_pretty(value).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn fault_of(key: &Key, error: &StoreError) -> Fault {
    match error {
        StoreError::Corrupt { reason, .. } => Fault::new(key, format_args!("does not parse ({reason}); left as it is, mend or remove it")),
        other => Fault::new(key, other),
    }
}
