//! A member's place in its script, derived from its conversation alone.
//!
//! [`State`] is a fold over the messages of a request: every answer of the model is played again, silently, so the
//! position survives a crash, a resume in another process and a change of the screen. Two marks help where messages
//! are missing: the ids of tool calls name rule and step ([`super::marks`]), and the summary that the scripted model
//! writes when it is asked to compact carries the whole state.

use super::marks::{self, Mark};
use super::player;
use super::script::{Rule, Trigger, VerdictWord};
use super::state::{FAILED, Frame, OK, OUTCOME, Part, State};
use super::stimulus::{Stimulus, TEXT_MAX, Vars, read};
use crate::domain::conversation::CUT_OFF;
use crate::domain::{CallId, ChatMessage, ToolCall};
use std::sync::Arc;

/// At most this many rules lie on top of one another; the oldest goes first.
const FRAMES_MAX: usize = 32;

impl State {
    /// The state after a conversation.
    pub fn replay(part: Part<'_>, messages: &[ChatMessage]) -> Self {
        let saved = messages.iter().enumerate().rev().find_map(|(at, message)| match message {
            ChatMessage::User { text } | ChatMessage::System { text } => marks::restore(part.script, text).map(|saved| (at, saved)),
            ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => None,
        });
        let (mut state, rest) = match saved {
            None => (Self::default(), messages),
            Some((at, (state, upto))) => {
                let rest = &messages[at + 1..];
                let seen = rest.iter().rposition(|message| marks::fingerprint(message) == upto).map_or(0, |at| at + 1);
                (state, &rest[seen..])
            }
        };
        rest.iter().for_each(|message| state.take(part, message));
        state
    }

    fn take(&mut self, part: Part<'_>, message: &ChatMessage) {
        match message {
            ChatMessage::System { .. } => {}
            ChatMessage::User { text } => read(text, part.beside()).into_iter().for_each(|told| self.notice(part, told)),
            ChatMessage::Assistant { calls, .. } => self.answered(part, calls),
            ChatMessage::Tool { call_id, name, content, ok } => self.result(call_id, name, content, *ok),
        }
    }

    /// Takes in something that was told, and starts the rule for it.
    fn notice(&mut self, part: Part<'_>, told: Stimulus) {
        if told.verdict.is_some() {
            self.verdict = told.verdict;
            for word in ["note", "feedback", "by"] {
                self.vars.remove(word);
            }
        }
        self.vars.extend(told.vars.clone());
        let Some(rule) = self.rule_for(part, &told.triggers, &told.vars) else { return };
        if part.script.rules[rule].clears {
            self.frames.clear();
            self.arrived.clear();
        }
        self.arrived.push(Frame { rule, vars: told.vars.into(), ..Frame::default() });
    }

    fn rule_for(&mut self, part: Part<'_>, triggers: &[Trigger], vars: &Vars) -> Option<usize> {
        let fits = |state: &Self, index: usize, rule: &Rule| {
            let left = rule.max.is_none_or(|max| state.fired.get(&index).copied().unwrap_or(0) < max);
            left && rule.on.iter().any(|on| triggers.contains(on)) && player::holds(&rule.when, part, state, vars)
        };
        let (index, _) = part.rules().find(|(index, rule)| fits(self, *index, rule))?;
        let fired = self.fired.entry(index).or_default();
        *fired = fired.saturating_add(1);
        Some(index)
    }

    /// Puts what arrived on top. To be called once before an answer is chosen.
    pub fn settle(&mut self, part: Part<'_>) {
        if let Some(failed) = self.results {
            let text = self.vars.get("result").cloned().unwrap_or_default();
            let vars = Vars::from([("text".to_owned(), text), (OUTCOME.to_owned(), if failed { FAILED } else { OK }.to_owned())]);
            if let Some(rule) = self.rule_for(part, &[Trigger::Result], &vars) {
                if let Some(top) = self.frames.last_mut() {
                    top.redo = part.script.rules[rule].again && failed;
                }
                self.arrived.push(Frame { rule, vars: vars.into(), ..Frame::default() });
            }
        }
        self.frames.extend(self.arrived.drain(..).rev());
        let surplus = self.frames.len().saturating_sub(FRAMES_MAX);
        self.frames.drain(..surplus);
    }

    /// Plays an answer that was given, and trusts the mark in its calls more than the count.
    fn answered(&mut self, part: Part<'_>, calls: &[ToolCall]) {
        let before: Vec<Frame> = self.frames.iter().chain(&self.arrived).cloned().collect();
        player::next(part, self);
        if let Some(mark) = calls.iter().find_map(|call| Mark::read(call.id.0.as_ref(), part.script)) {
            mark.correct(self, &before);
        }
        self.called(calls);
    }

    fn called(&mut self, calls: &[ToolCall]) {
        self.calls.clear();
        for call in calls {
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let text = |key: &str| arguments.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
            if call.name == "plan_approval" {
                self.verdict = None;
                self.plans = self.plans.saturating_add(1);
                self.vars.insert("plan".into(), text("plan"));
            }
            self.calls.push((call.id.clone(), text("subject")));
        }
    }

    fn result(&mut self, id: &CallId, name: &str, content: &str, ok: bool) {
        if content == CUT_OFF && self.cut_off(id) {
            return;
        }
        let text: String = content.chars().take(TEXT_MAX).collect();
        if let Some(top) = self.frames.last_mut() {
            record(Arc::make_mut(&mut top.vars), &text, ok);
        }
        if self.results.is_none() {
            self.vars.remove(OUTCOME);
        }
        record(&mut self.vars, &text, ok);
        self.results = Some(self.results.unwrap_or(false) || !ok);
        if !ok {
            return;
        }
        match name {
            "task_create" => {
                let subject = self.calls.iter().find(|(call, _)| call == id).map(|(_, subject)| subject.clone());
                self.created.extend(task_number(content).map(|number| (subject.unwrap_or_default(), number)));
            }
            "shutdown_request" | "plan_approval" => {
                if name == "plan_approval" && is_approved_already(content) {
                    self.verdict = Some(VerdictWord::Approved);
                }
                let Some(request) = request_in(content) else { return };
                if name == "shutdown_request" {
                    self.vars.insert("shutdown_request_id".into(), request.clone());
                }
                self.vars.insert("request_id".into(), request);
            }
            _ => {}
        }
    }

    /// A call that was never answered is neither a success nor a failure: it is made again.
    fn cut_off(&mut self, id: &CallId) -> bool {
        let place = self.calls.iter().position(|(call, _)| call == id);
        let (Some(place), Some(top)) = (place, self.frames.last_mut()) else { return false };
        let place = top.made.get(place).copied().unwrap_or(place);
        top.cut.push(place);
        top.redo = true;
        self.results.get_or_insert(false);
        true
    }
}

/// The plan was handed in again after it was approved.
fn is_approved_already(content: &str) -> bool {
    let content = content.to_lowercase();
    ["approved already", "already approved"].iter().any(|words| content.contains(words))
}

/// Notes a tool result: one failure makes the whole turn a failed one.
fn record(vars: &mut Vars, text: &str, ok: bool) {
    let failed = !ok || vars.get(OUTCOME).is_some_and(|word| word == FAILED);
    vars.insert("result".into(), text.to_owned());
    vars.insert(OUTCOME.into(), if failed { FAILED } else { OK }.into());
}

/// The number in the result of `task_create`: a JSON field `id`, else the first `#N`, else the first number.
fn task_number(content: &str) -> Option<u64> {
    let json: Option<serde_json::Value> = serde_json::from_str(content).ok();
    let field = json.as_ref().and_then(|v| v.get("id").or_else(|| v.get("task_id")).or_else(|| v.get("task")?.get("id")));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    field
        .and_then(serde_json::Value::as_u64)
        .or_else(|| content.split('#').skip(1).find_map(digits))
        .or_else(|| content.split(|c: char| !c.is_ascii_digit()).find_map(digits))
}

/// The first request id (8 hex digits standing alone) in a text.
fn request_in(content: &str) -> Option<String> {
    let words = content.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(crate::domain::RequestId::parse).map(|id| id.as_str().to_owned()).next()
}
