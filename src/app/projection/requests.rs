//! Requests: the queue of those that wait for the person, and the decided ones for reading and for differences.

use super::push_bounded;
use crate::app::clip::one_line;
use crate::domain::{Party, Request, RequestId, RequestKind, Verdict};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Decided requests that are kept.
pub const DECIDED_MAX: usize = 200;

/// All requests that events told of.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    all: HashMap<RequestId, Arc<Request>>,
    queue: Vec<RequestId>,
    decided: VecDeque<RequestId>,
}

impl Requests {
    /// Adds or replaces a request. Returns what happened in words, when something did.
    pub(super) fn upsert(&mut self, request: &Arc<Request>) -> Option<String> {
        let old = self.all.insert(request.id.clone(), request.clone());
        let was_pending = old.as_ref().is_some_and(|r| r.is_pending());
        if old.as_ref().is_some_and(|old| old.state == request.state) {
            return None;
        }
        if request.is_pending() {
            if waits_for_person(request) && !self.queue.contains(&request.id) {
                self.queue.push(request.id.clone());
            }
            return Some(format!("asks: {} {}", request.kind.word(), request.title));
        }
        self.queue.retain(|id| *id != request.id);
        if waits_for_person(request) {
            if self.decided.len() >= DECIDED_MAX
                && let Some(oldest) = self.decided.front()
            {
                self.all.remove(oldest);
            }
            push_bounded(&mut self.decided, request.id.clone(), DECIDED_MAX);
        }
        was_pending.then(|| told(request))
    }

    /// A request.
    pub fn get(&self, id: &RequestId) -> Option<&Arc<Request>> {
        self.all.get(id)
    }

    /// Those that wait for the person, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.queue.iter().filter_map(|id| self.all.get(id))
    }

    /// How many wait for the person.
    pub fn pending_len(&self) -> usize {
        self.queue.len()
    }

    /// The place of a pending request in the queue, from 1.
    pub fn place(&self, id: &RequestId) -> Option<usize> {
        self.queue.iter().position(|other| other == id).map(|at| at + 1)
    }

    /// Decided plans and permissions, the latest first.
    pub fn decided(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.decided.iter().rev().filter_map(|id| self.all.get(id))
    }

    /// Every request that is known, shutdowns included, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.all.values()
    }
}

/// Shutdown requests are answered by their target, never by the person.
fn waits_for_person(request: &Request) -> bool {
    request.kind != RequestKind::Shutdown
}

/// `plan approved by you, with edits`, `plan withdrawn: its member is gone`.
pub fn outcome(request: &Request) -> String {
    let answer = request.answer.as_ref();
    let by = answer.map(|a| if a.by == Party::Human { " by you".to_owned() } else { format!(" by {}", a.by) }).unwrap_or_default();
    let how = match answer.map(|a| &a.verdict) {
        Some(Verdict::Approve { edited: Some(_), .. }) => ", with edits",
        Some(Verdict::Approve { always: true, .. }) => ", for this session",
        Some(Verdict::Approve { .. } | Verdict::Reject { .. }) | None => "",
    };
    let why = request.ended.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("{} {}{by}{how}{why}", request.kind.word(), request.state.word())
}

/// The outcome with what was said: `plan rejected by you: too risky`.
fn told(request: &Request) -> String {
    let words = match request.answer.as_ref().map(|a| &a.verdict) {
        Some(Verdict::Approve { note: words, .. } | Verdict::Reject { feedback: words }) => words.as_ref(),
        None => None,
    };
    let words = words.map(|words| format!(": {}", one_line(words, 200))).unwrap_or_default();
    format!("{}{words}", outcome(request))
}
