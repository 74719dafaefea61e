//! Chooses the next answer: which rule, which step, with which words.

use super::fill;
use super::script::{Condition, Fault, ResultWord, Step, VerdictWord, WaitFor};
use super::state::{FAILED, Frame, OK, OUTCOME, Part, State};
use super::stimulus::Vars;
use crate::domain::TokenUsage;
use crate::domain::conversation::FinishReason;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Silent jumps and finished rules within one answer; more is a loop without an answer in it.
const JUMPS_MAX: usize = 1_000;
/// Texts of rules that end without a tool call are joined with what comes below them, this many at most.
const JOINED_MAX: usize = 16;

/// An answer before it is streamed.
#[derive(Clone, Debug, Default)]
pub(super) struct Turn {
    pub text: String,
    pub think: String,
    pub calls: Vec<(String, Value)>,
    pub finish: Option<FinishReason>,
    pub tokens_per_second: Option<f64>,
    pub pause: Option<Duration>,
    pub usage: Option<TokenUsage>,
    /// The failure with its place, so that it can be counted.
    pub fault: Option<((usize, usize), Fault)>,
}

impl Turn {
    fn add(&mut self, step: &Step, lookup: &fill::Lookup<'_>) {
        for (have, more) in [(&mut self.text, &step.say), (&mut self.think, &step.think)] {
            let more = fill::fill(more.trim(), lookup);
            if !have.is_empty() && !more.is_empty() {
                have.push_str("\n\n");
            }
            have.push_str(&more);
        }
        self.calls.extend(step.calls.iter().map(|call| {
            let args = Value::Object(call.args.clone());
            (call.tool.clone(), fill::fill_value(&args, lookup))
        }));
        self.finish = step.finish.or(self.finish);
        self.tokens_per_second = step.tokens_per_second.or(self.tokens_per_second);
        self.pause = step.pause.or(self.pause);
        self.usage = step.usage.or(self.usage);
    }
}

/// What a rule does next.
enum Next {
    Play(usize),
    Blocked,
    Done,
    Loop,
}

/// Chooses the next answer and moves the state past it.
pub(super) fn next(part: Part<'_>, state: &mut State) -> Turn {
    state.settle(part);
    let mut turn = Turn::default();
    for _ in 0..JOINED_MAX {
        let step = match top(part, state) {
            None => break,
            Some(Next::Done) => {
                state.frames.pop();
                continue;
            }
            Some(Next::Blocked) => {
                or_say(&mut turn, &part.script.waiting);
                break;
            }
            Some(Next::Loop) => {
                or_say(&mut turn, "The script goes round in circles here without saying anything.");
                state.frames.pop();
                break;
            }
            Some(Next::Play(step)) => step,
        };
        play(part, state, step, &mut turn);
        let over = !turn.calls.is_empty() || turn.fault.is_some() || state.frames.len() < 2;
        if over || !matches!(top(part, state), Some(Next::Done)) {
            break;
        }
        state.frames.pop();
    }
    if turn.calls.is_empty() && turn.fault.is_none() && turn.think.is_empty() {
        or_say(&mut turn, &part.script.idle);
    }
    state.turns = state.turns.saturating_add(1);
    state.results = None;
    turn
}

fn or_say(turn: &mut Turn, text: &str) {
    if turn.text.is_empty() {
        text.clone_into(&mut turn.text);
    }
}

fn top(part: Part<'_>, state: &State) -> Option<Next> {
    state.frames.last().map(|frame| successor(part, state, frame))
}

fn play(part: Part<'_>, state: &mut State, index: usize, turn: &mut Turn) {
    let Some(frame) = state.frames.last() else { return };
    let Some(step) = part.script.rules.get(frame.rule).and_then(|rule| rule.steps.get(index)) else { return };
    let before = turn.calls.len();
    turn.add(step, &|word| lookup(part, state, frame, word));
    let made: Vec<usize> = if frame.cut.is_empty() { (0..step.calls.len()).collect() } else { frame.cut.clone() };
    let mut place = 0..;
    turn.calls.retain(|_| place.next().is_some_and(|at| at < before || made.contains(&(at - before))));
    let is_cut = !frame.cut.is_empty();
    turn.fault = step.error.clone().map(|fault| ((frame.rule, index), fault));
    if let Some(frame) = state.frames.last_mut() {
        frame.plays = if frame.last != Some(index) { 1 } else { frame.plays.saturating_add(u32::from(!is_cut)) };
        (frame.made, frame.cut) = (made, Vec::new());
        frame.last = Some(index);
        frame.redo = false;
        if !step.calls.is_empty() {
            Arc::make_mut(&mut frame.vars).remove(OUTCOME);
        }
    }
}

/// The step that comes after the one played last: again, jumped to, or the next whose condition holds.
fn successor(part: Part<'_>, state: &State, frame: &Frame) -> Next {
    let Some(rule) = part.script.rules.get(frame.rule) else { return Next::Done };
    let mut at = match frame.last.and_then(|last| rule.steps.get(last).map(|step| (last, step))) {
        None => 0,
        Some((last, step)) if plays_again(part, state, frame, step) => return Next::Play(last),
        Some((last, step)) => step.goto.unwrap_or(last + 1),
    };
    for _ in 0..JUMPS_MAX {
        let Some(step) = rule.steps.get(at) else { return Next::Done };
        at = match holds(&step.condition, part, state, &frame.vars) {
            false => step.otherwise.unwrap_or(at + 1),
            true if is_blocked(step.wait_for, state) => return Next::Blocked,
            true if step.is_silent() => step.goto.unwrap_or(at + 1),
            true => return Next::Play(at),
        };
    }
    Next::Loop
}

/// Whether a step has to wait.
fn is_blocked(wait: Option<WaitFor>, state: &State) -> bool {
    match wait {
        None => false,
        Some(WaitFor::Verdict) => state.verdict.is_none(),
    }
}

fn plays_again(part: Part<'_>, state: &State, frame: &Frame, step: &Step) -> bool {
    let failed = !step.calls.is_empty() && frame.vars.get(OUTCOME).is_some_and(|word| word == FAILED);
    let retry = failed && frame.plays <= step.retry;
    let ended = step.until.as_ref().is_some_and(|until| holds(until, part, state, &frame.vars));
    frame.redo || retry || (frame.plays < step.repeat && !ended)
}

/// Whether all of a condition holds.
pub(super) fn holds(condition: &Condition, part: Part<'_>, state: &State, vars: &Vars) -> bool {
    let var = |key: &str| vars.get(key).or_else(|| state.vars.get(key)).map(String::as_str).unwrap_or_default();
    let own = |key: &str| vars.get(key).map(String::as_str).unwrap_or_default();
    let latest = |key: &str| state.vars.get(key).map(String::as_str).unwrap_or_default();
    contains(&condition.text, own("text"))
        && is_one(&condition.from, own("from"))
        && is_one(&condition.kind, own("kind"))
        && contains(&condition.task, var("task"))
        && contains(&condition.goal, latest("goal"))
        && contains(&condition.output, var("result"))
        && is_one(&condition.by, latest("by"))
        && is_one(&condition.member, part.name)
        && condition.verdict.is_none_or(|wanted| state.verdict.is_some_and(|is| matches_verdict(wanted, is)))
        && condition.result.is_none_or(|wanted| var(OUTCOME) == if wanted == ResultWord::Failed { FAILED } else { OK })
        && condition.plans.is_none_or(|least| state.plans >= least)
        && condition.first.is_none_or(|first| first == (state.turns == 0))
}

fn contains(wanted: &[String], text: &str) -> bool {
    if wanted.is_empty() {
        return true;
    }
    let text = text.to_lowercase();
    wanted.iter().any(|word| text.contains(&word.to_lowercase()))
}

fn is_one(wanted: &[String], word: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|w| w.eq_ignore_ascii_case(word))
}

fn matches_verdict(wanted: VerdictWord, is: VerdictWord) -> bool {
    match wanted {
        VerdictWord::Approved => matches!(is, VerdictWord::Approved | VerdictWord::Noted | VerdictWord::Edited),
        VerdictWord::Rejected => matches!(is, VerdictWord::Rejected | VerdictWord::Feedback),
        VerdictWord::Noted | VerdictWord::Edited | VerdictWord::Feedback => wanted == is,
    }
}

fn lookup(part: Part<'_>, state: &State, frame: &Frame, word: &str) -> Option<String> {
    if let Some(subject) = word.strip_prefix("task:") {
        return state.task_called(subject).map(|number| number.to_string());
    }
    match word {
        "name" => Some(part.name.to_owned()),
        "plans" => Some(state.plans.to_string()),
        "feedback" | "note" => Some(state.vars.get(word).cloned().unwrap_or_default()),
        "plan" | "by" => state.vars.get(word).cloned(),
        _ => frame.vars.get(word).or_else(|| state.vars.get(word)).cloned(),
    }
}
