//! Marks that let a position be found again when part of the conversation is gone.
//!
//! A tool call's id reads `s17c0-a1b2-4_2_1-9_0_1`: answer 17, call 0, script a1b2, playing rule 4 step 2 for the first
//! time, above rule 9 step 0 (`n`: not begun). A summary carries `<script-state>{…}</script-state>`.

use super::script::Script;
use super::state::{Frame, OUTCOME, State};
use crate::domain::{ChatMessage, Digest};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Providers take ids of up to 40 characters; a conversation may go on with a real model.
const ID_MAX: usize = 40;
const OPEN: &str = "<script-state>";
const CLOSE: &str = "</script-state>";

/// A position read from a call's id: rule, step, plays; the top one first.
#[derive(Debug, PartialEq)]
pub(super) struct Mark {
    turn: u32,
    frames: Vec<Position>,
}

/// Rule, step played last, how often.
type Position = (usize, Option<usize>, u32);

/// The id of the `index`-th call of the answer that `state` has just chosen.
pub(super) fn call_id(state: &State, script: &Script, index: usize) -> String {
    let mut id = format!("s{}c{index}-{}", state.turns, script.digest);
    for frame in state.frames.iter().rev() {
        let last = frame.last.map_or_else(|| "n".to_owned(), |last| last.to_string());
        let part = format!("-{}_{last}_{}", frame.rule, frame.plays);
        if id.len() + part.len() > ID_MAX {
            break;
        }
        id.push_str(&part);
    }
    id
}

/// Whether the script has that rule and step.
fn is_in(script: &Script, rule: usize, step: Option<usize>) -> bool {
    script.rules.get(rule).is_some_and(|rule| step.is_none_or(|step| step < rule.steps.len()))
}

impl Mark {
    /// Reads an id that [`call_id`] wrote for this script.
    pub fn read(id: &str, script: &Script) -> Option<Self> {
        let mut parts = id.strip_prefix('s')?.split('-');
        let (turn, _) = parts.next()?.split_once('c')?;
        if parts.next()? != script.digest {
            return None;
        }
        let frame = |part: &str| {
            let mut numbers = part.split('_');
            let (rule, last, plays) = (numbers.next()?, numbers.next()?, numbers.next()?);
            let last = if last == "n" { None } else { Some(last.parse().ok()?) };
            let position: Position = (rule.parse().ok()?, last, plays.parse().ok()?);
            is_in(script, position.0, last).then_some(position)
        };
        Some(Self { turn: turn.parse().ok()?, frames: parts.map(frame).collect::<Option<_>>()? })
    }

    /// Makes the state agree with the mark; the stimuli are taken from frames of the same rule, before or after.
    pub fn correct(&self, state: &mut State, before: &[Frame]) {
        state.turns = self.turn;
        let counted: Vec<_> = state.frames.iter().rev().take(self.frames.len()).map(|f| (f.rule, f.last, f.plays)).collect();
        if counted == self.frames {
            return;
        }
        let known: Vec<Frame> = state.frames.iter().chain(before).cloned().collect();
        state.frames = self
            .frames
            .iter()
            .rev()
            .map(|(rule, last, plays)| {
                let mut vars = known.iter().find(|f| f.rule == *rule).map(|f| f.vars.clone()).unwrap_or_default();
                Arc::make_mut(&mut vars).remove(OUTCOME);
                Frame { rule: *rule, last: *last, plays: *plays, vars, ..Frame::default() }
            })
            .collect();
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    script: String,
    upto: String,
    state: State,
}

/// Tells messages apart: a short digest.
pub(super) fn fingerprint(message: &ChatMessage) -> String {
    let text = serde_json::to_string(message).unwrap_or_default();
    Digest::of(&text).as_str()[..12].to_owned()
}

/// The state as a line for a summary. `last` is the last message it covers.
pub(super) fn save(script: &Script, state: &State, last: Option<&ChatMessage>) -> String {
    let upto = last.map(fingerprint).unwrap_or_default();
    let saved = Saved { script: script.digest.clone(), upto, state: state.clone() };
    let json = serde_json::to_string(&saved).unwrap_or_default().replace('<', "\\u003c");
    format!("{OPEN}{json}{CLOSE}")
}

/// Reads what [`save`] wrote, with the fingerprint of the last message it covers. Mail is never believed.
pub(super) fn restore(script: &Script, text: &str) -> Option<(State, String)> {
    if text.trim_start().starts_with("<mail") {
        return None;
    }
    let (_, rest) = text.split_once(OPEN)?;
    let (json, _) = rest.split_once(CLOSE)?;
    let saved: Saved = serde_json::from_str(json).ok()?;
    let fits = |frame: &Frame| is_in(script, frame.rule, frame.last);
    if saved.script != script.digest || !saved.state.frames.iter().chain(&saved.state.arrived).all(fits) {
        return None;
    }
    Some((saved.state, saved.upto))
}
