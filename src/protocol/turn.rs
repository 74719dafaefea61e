//! One member's turn: what follows an answer, a tool's end, a fault. Sans-IO; the agent in `runtime` drives it.
//!
//! ```text
//! begin -> call model -> answer -+- tool calls -> run, one after the other -> call model ...
//!                                +- text only  -> rest
//! ```
//! Every tool call gets exactly one result, whatever ends the turn, so the conversation stays valid for any provider.

use crate::domain::conversation::{AssistantAnswer, FinishReason};
use crate::domain::event::ORDINARY_ENDS;
use crate::domain::{CallId, ChatMessage, ToolCall};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Nudges for a model that says it calls tools and calls none, or answers nothing. More never helped.
const NUDGES_MAX: u32 = 2;
/// The same fault in the arguments this often in a row ends the turn: the model is going round in circles.
const SAME_FAULT_MAX: u32 = 3;
/// The same call with the same result this often in a row is said to the model.
const SAME_CALL_HINT: u32 = 3;
/// And this often it ends the turn. Asking again how a background command does is no harm up to then.
const SAME_CALL_MAX: u32 = 6;
const SAME_CALL_WORDS: &str =
    "<nudge>You made this call three times with the same result. Do something else, or say in words what stops you.</nudge>";
/// Compactions in a row that may fail to make room for an answer.
const COMPACTIONS_MAX: u32 = 2;

/// Why a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The model answered without calling a tool.
    #[default]
    Done,
    /// The model called `idle`.
    Idled,
    /// A plan was handed in.
    AwaitsVerdict,
    /// The round cap was reached: not the same as done.
    RoundCap(u32),
    /// A person interrupted it.
    Interrupted,
    /// The model answered nothing, twice.
    Empty,
    /// The model repeated the same faulty call.
    Circling(String),
    /// The model made the same call, and got the same result, again and again: this tool.
    Repeating(String),
}

impl Outcome {
    /// In words for the log and the screen.
    pub fn words(&self) -> String {
        match self {
            Self::Done => ORDINARY_ENDS[0].into(),
            Self::Idled => ORDINARY_ENDS[1].into(),
            Self::AwaitsVerdict => ORDINARY_ENDS[2].into(),
            Self::RoundCap(cap) => format!("stopped after {cap} rounds without an end"),
            Self::Interrupted => "interrupted".into(),
            Self::Empty => "empty answer".into(),
            Self::Repeating(tool) => format!("called {tool} {SAME_CALL_MAX} times alike, with the same result"),
            Self::Circling(fault) => format!("the same fault {SAME_FAULT_MAX} times: {fault}"),
        }
    }
}

/// What a turn is told.
#[derive(Clone, Debug)]
pub enum TurnInput {
    /// Something new is in the conversation.
    Begin,
    /// The model's whole answer.
    Answered(AssistantAnswer),
    /// The conversation does not fit.
    Overflow(String),
    /// A tool ended. `fault` is set when its arguments could not be used.
    ToolEnded { call: CallId, name: String, content: String, ok: bool, fault: Option<String>, control: Follow },
    /// A shutdown request arrived between two tools: the rest of the batch waits for the answer.
    Yield,
    /// A person ends the turn.
    Interrupt,
    /// The member ends.
    Stop { reason: String },
}

/// What a tool asks of the turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// Nothing.
    #[default]
    On,
    /// Rest.
    Idle,
    /// Rest until the verdict.
    Await,
    /// End for good.
    End { reason: String },
}

/// What a turn wants.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEffect {
    /// Add to the conversation (and the transcript).
    Append(ChatMessage),
    /// Ask the model.
    Call,
    /// Run a tool.
    Run(ToolCall),
    /// Shorten the conversation, then ask again.
    Compact,
    /// The turn is over; the member waits.
    Rest(Outcome),
    /// The member ends, by its own agreement or because it was told to.
    End { reason: String },
    /// The member cannot go on.
    Fail { reason: String },
}

/// A turn in progress.
#[derive(Debug, Default)]
pub struct Turn {
    cap: u32,
    rounds: u32,
    nudges: u32,
    compactions: u32,
    fault: Option<(String, u32)>,
    same: Option<(u64, u32)>,
    running: Option<ToolCall>,
    queue: VecDeque<ToolCall>,
}

impl Turn {
    /// A turn of at most `cap` model calls.
    pub fn new(cap: u32) -> Self {
        Self { cap: cap.max(1), ..Self::default() }
    }

    /// Whether tool calls of the last answer have not run yet.
    pub fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The next step.
    pub fn handle(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        match input {
            TurnInput::Begin => {
                let mut effects = self.skip_rest("not run: the model was asked again");
                effects.extend(self.call());
                effects
            }
            TurnInput::Answered(answer) => self.answered(answer),
            TurnInput::Overflow(message) => self.overflow(message),
            // Only the running call has a result to give: one that was closed already got its own.
            TurnInput::ToolEnded { call, .. } if self.running.as_ref().is_none_or(|running| running.id != call) => Vec::new(),
            TurnInput::ToolEnded { call, name, content, ok, fault, control } => {
                let times = self.count_call(&name, &content);
                let content = if times == SAME_CALL_HINT { format!("{content}\n\n{SAME_CALL_WORDS}") } else { content };
                let repeating = (times >= SAME_CALL_MAX).then(|| Outcome::Repeating(name.clone()));
                let mut effects = vec![TurnEffect::Append(ChatMessage::Tool { call_id: call, name, content, ok })];
                match repeating.filter(|_| control == Follow::On) {
                    Some(outcome) => {
                        effects.extend(self.close("not run: the calls before it were all the same", TurnEffect::Rest(outcome)))
                    }
                    None => effects.extend(self.after_tool(fault, control)),
                }
                effects
            }
            TurnInput::Yield => {
                let mut effects =
                    self.skip_rest("not run: a shutdown request came in; answer it first, then call again what is still needed");
                effects.extend(self.call());
                effects
            }
            TurnInput::Interrupt => self.close("not run: interrupted by the person", TurnEffect::Rest(Outcome::Interrupted)),
            TurnInput::Stop { reason } => self.close("not run: shutting down", TurnEffect::End { reason }),
        }
    }

    fn call(&mut self) -> Vec<TurnEffect> {
        if self.rounds >= self.cap {
            return vec![TurnEffect::Rest(Outcome::RoundCap(self.cap))];
        }
        self.rounds += 1;
        vec![TurnEffect::Call]
    }

    fn answered(&mut self, answer: AssistantAnswer) -> Vec<TurnEffect> {
        let AssistantAnswer { text, reasoning, calls, finish, usage: _ } = answer;
        let silent = text.trim().is_empty() && calls.is_empty();
        let promised = finish == FinishReason::ToolCalls && calls.is_empty();
        self.compactions = 0;
        let mut effects = self.skip_rest("not run: another answer came");
        if !silent {
            effects.push(TurnEffect::Append(ChatMessage::Assistant { text, reasoning, calls: calls.clone() }));
        }
        self.queue = calls.into();
        if let Some(next) = self.queue.pop_front() {
            self.nudges = 0;
            self.running = Some(next.clone());
            effects.push(TurnEffect::Run(next));
            return effects;
        }
        if silent || promised {
            effects.extend(self.nudge(promised));
        } else {
            effects.push(TurnEffect::Rest(Outcome::Done));
        }
        effects
    }

    fn nudge(&mut self, promised: bool) -> Vec<TurnEffect> {
        let limit = if promised { NUDGES_MAX } else { 1 };
        if self.nudges >= limit {
            return vec![TurnEffect::Rest(Outcome::Empty)];
        }
        self.nudges += 1;
        let words = if promised {
            "Your answer announced a tool call but held none. Call the tool, or answer in words."
        } else {
            "Your answer was empty. Go on with the work, or say that you are done."
        };
        let mut effects = vec![TurnEffect::Append(ChatMessage::user(format!("<nudge>{words}</nudge>")))];
        effects.extend(self.call());
        effects
    }

    fn overflow(&mut self, message: String) -> Vec<TurnEffect> {
        if self.compactions >= COMPACTIONS_MAX {
            let reason = format!(
                "{message}; {COMPACTIONS_MAX} compactions did not make room: start the member anew, or give it a model with a larger window"
            );
            return vec![TurnEffect::Fail { reason }];
        }
        self.compactions += 1;
        vec![TurnEffect::Compact, TurnEffect::Call]
    }

    fn after_tool(&mut self, fault: Option<String>, control: Follow) -> Vec<TurnEffect> {
        match control {
            Follow::On => {}
            Follow::Idle => return self.close("not run: idle was called before", TurnEffect::Rest(Outcome::Idled)),
            Follow::Await => return self.close("not run: the plan waits for its verdict", TurnEffect::Rest(Outcome::AwaitsVerdict)),
            Follow::End { reason } => return self.close("not run: shutting down", TurnEffect::End { reason }),
        }
        if let Some(circling) = self.count_fault(fault) {
            return self.close("not run: the call before it failed for the third time", TurnEffect::Rest(Outcome::Circling(circling)));
        }
        if let Some(next) = self.queue.pop_front() {
            self.running = Some(next.clone());
            return vec![TurnEffect::Run(next)];
        }
        self.call()
    }

    /// How often the running call came now in a row, with this result.
    fn count_call(&mut self, name: &str, content: &str) -> u32 {
        let mut hasher = DefaultHasher::new();
        let arguments = self.running.take().map(|call| call.arguments);
        (name, arguments, content).hash(&mut hasher);
        let now = hasher.finish();
        let count = self.same.filter(|(last, _)| *last == now).map_or(1, |(_, count)| count + 1);
        self.same = Some((now, count));
        count
    }

    fn count_fault(&mut self, fault: Option<String>) -> Option<String> {
        let Some(fault) = fault else {
            self.fault = None;
            return None;
        };
        let count = match &self.fault {
            Some((last, count)) if *last == fault => count + 1,
            Some(_) | None => 1,
        };
        self.fault = Some((fault.clone(), count));
        (count >= SAME_FAULT_MAX).then_some(fault)
    }

    fn close(&mut self, words: &str, last: TurnEffect) -> Vec<TurnEffect> {
        let mut effects = self.skip_rest(words);
        effects.push(last);
        effects
    }

    fn skip_rest(&mut self, words: &str) -> Vec<TurnEffect> {
        let open = self.running.take().into_iter().chain(self.queue.drain(..));
        let result = |call: ToolCall| {
            TurnEffect::Append(ChatMessage::Tool { call_id: call.id, name: call.name, content: words.to_owned(), ok: false })
        };
        open.map(result).collect()
    }
}
