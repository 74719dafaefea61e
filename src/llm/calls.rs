//! Puts tool calls together from fragments, however a server numbers and names them.
//!
//! Pure. Deliberately absent: reading the arguments; they stay the model's own text.

use super::wire::CallDelta;
use crate::domain::{CallId, ToolCall};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
struct Slot {
    id: String,
    name: String,
    arguments: String,
    announced: bool,
}

impl Slot {
    /// Whether the arguments are a whole object: what follows then belongs to another call.
    fn is_whole(&self) -> bool {
        let text = self.arguments.trim();
        text.starts_with('{') && text.ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub struct Calls {
    slots: Vec<Slot>,
    by_index: BTreeMap<u64, usize>,
    last: Option<usize>,
    taken: BTreeSet<String>,
    next_id: u64,
}

impl Calls {
    /// `taken` are the ids that the conversation holds already: a server that begins at `call_0` in every answer must
    /// not make two calls share one result.
    pub fn new(taken: BTreeSet<String>) -> Self {
        Self { next_id: taken.len() as u64, taken, ..Self::default() }
    }

    /// Whether no call was begun.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a fragment; gives the name of a call whose name is now whole.
    pub fn push(&mut self, delta: CallDelta) -> Option<String> {
        if delta == (CallDelta { index: delta.index, ..CallDelta::default() }) {
            return None;
        }
        let at = self.slot_for(&delta);
        let before = self.last.replace(at).filter(|before| *before != at);
        let slot = &mut self.slots[at];
        if slot.id.is_empty() {
            slot.id.clone_from(&delta.id);
        }
        // Pieces of a name come before the arguments; a name that is repeated with each fragment is the same name.
        if slot.arguments.is_empty() && delta.name != slot.name {
            slot.name.push_str(&delta.name);
        }
        slot.arguments.push_str(&delta.arguments);
        before
            .and_then(|before| self.announce(before))
            .or_else(|| if self.slots[at].arguments.is_empty() { None } else { self.announce(at) })
    }

    fn announce(&mut self, at: usize) -> Option<String> {
        let slot = self.slots.get_mut(at)?;
        let fresh = !slot.name.is_empty() && !std::mem::replace(&mut slot.announced, true);
        fresh.then(|| slot.name.clone())
    }

    fn slot_for(&mut self, delta: &CallDelta) -> usize {
        let known = match delta.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.slots.iter().position(|slot| !delta.id.is_empty() && slot.id == delta.id),
        };
        let continues = match (known, delta.index) {
            (Some(at), _) => self.continues(at, delta).then_some(at),
            // Arguments alone under an unknown number or none belong to the call that is open.
            (None, _) if delta.name.is_empty() && delta.id.is_empty() => self.last,
            (None, None) if delta.id.is_empty() => self.last.filter(|at| self.continues(*at, delta)),
            (None, _) => None,
        };
        continues.unwrap_or_else(|| {
            self.slots.push(Slot::default());
            let at = self.slots.len() - 1;
            if let Some(index) = delta.index {
                self.by_index.insert(index, at);
            }
            at
        })
    }

    /// Whether `delta` goes on with slot `at`, where a server gives every call the same number or none.
    fn continues(&self, at: usize, delta: &CallDelta) -> bool {
        let slot = &self.slots[at];
        if delta.name.is_empty() {
            return true;
        }
        let other_id = !delta.id.is_empty() && !slot.id.is_empty() && delta.id != slot.id;
        let other_name = !slot.arguments.is_empty() && delta.name != slot.name;
        let again = slot.is_whole() && !delta.arguments.is_empty();
        !(other_name || again || (other_id && !slot.name.is_empty()))
    }

    /// The calls, each with an id of its own, and the names that were not told yet.
    pub fn finish(mut self) -> (Vec<ToolCall>, Vec<String>) {
        let names = (0..self.slots.len()).filter_map(|at| self.announce(at)).collect();
        let slots = std::mem::take(&mut self.slots);
        let filled = slots.into_iter().filter(|slot| !(slot.name.trim().is_empty() && slot.arguments.trim().is_empty()));
        let calls = filled
            .map(|slot| {
                let id = self.free_id(slot.id);
                let name = if slot.name.trim().is_empty() { "unnamed".to_owned() } else { slot.name.trim().to_owned() };
                ToolCall { id: CallId::new(id), name, arguments: slot.arguments }
            })
            .collect();
        (calls, names)
    }

    fn free_id(&mut self, given: String) -> String {
        let mut id = given;
        while id.is_empty() || self.taken.contains(&id) {
            id = made_id(self.next_id);
            self.next_id += 1;
        }
        self.taken.insert(id.clone());
        id
    }
}

/// Nine letters and digits: the only form that every server takes back (Mistral's insists on it).
fn made_id(mut number: u64) -> String {
    let mut tail = [b'0'; 5];
    for place in tail.iter_mut().rev() {
        let digit = (number % 36) as u8;
        *place = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
        number /= 36;
    }
    format!("call{}", String::from_utf8_lossy(&tail))
}
