//! The turn machine under any inputs, in any order: every tool call gets exactly one result, two tools never run at
//! once, and the model is not asked beyond the cap.

use super::rng::Rng;
use signoff::domain::conversation::{AssistantAnswer, FinishReason};
use signoff::domain::{CallId, ChatMessage, ToolCall};
use signoff::protocol::turn::{Follow, Turn, TurnEffect, TurnInput};
use std::collections::BTreeMap;

const CAP: u32 = 12;

#[derive(Default)]
struct Books {
    /// Results by call.
    results: BTreeMap<String, u32>,
    running: Option<ToolCall>,
    asked: u32,
    over: bool,
    named: u32,
}

impl Books {
    fn take(&mut self, effects: &[TurnEffect]) {
        for effect in effects {
            match effect {
                TurnEffect::Append(ChatMessage::Assistant { calls, .. }) => {
                    calls.iter().for_each(|call| assert_eq!(self.results.insert(call.id.to_string(), 0), None));
                }
                TurnEffect::Append(ChatMessage::Tool { call_id, .. }) => {
                    *self.results.get_mut(call_id.0.as_ref()).expect("a result has its call before it") += 1;
                    self.running = self.running.take().filter(|call| call.id != *call_id);
                }
                TurnEffect::Append(_) | TurnEffect::Compact => {}
                TurnEffect::Run(call) => {
                    assert!(self.running.is_none(), "two tools run: {:?} and {call:?}", self.running);
                    self.running = Some(call.clone());
                }
                TurnEffect::Call => {
                    assert!(self.running.is_none(), "the model is asked while a tool runs");
                    self.whole();
                    self.asked += 1;
                }
                TurnEffect::Rest(_) | TurnEffect::End { .. } | TurnEffect::Fail { .. } => {
                    self.whole();
                    self.over = true;
                }
            }
        }
    }

    /// What a provider is sent is valid: every call has one result.
    fn whole(&self) {
        let odd: Vec<_> = self.results.iter().filter(|(_, n)| **n != 1).collect();
        assert!(odd.is_empty(), "calls with another number of results than one: {odd:?}");
    }

    fn answer(&mut self, rng: &mut Rng) -> TurnInput {
        let mut calls = Vec::new();
        for _ in 0..rng.below(4) {
            self.named += 1;
            calls.push(ToolCall { id: CallId::new(format!("c{}", self.named)), name: "t".into(), arguments: "{}".into() });
        }
        let finish = rng.pick(&[FinishReason::Stop, FinishReason::ToolCalls, FinishReason::Length, FinishReason::ContentFilter]);
        let text = rng.pick(&["", " ", "words"]).to_owned();
        TurnInput::Answered(AssistantAnswer { text, calls, finish, ..AssistantAnswer::default() })
    }

    fn ended(&self, call: CallId, rng: &mut Rng) -> TurnInput {
        let control = match rng.below(12) {
            0 => Follow::Idle,
            1 => Follow::Await,
            2 => Follow::End { reason: "agreed".into() },
            _ => Follow::On,
        };
        let fault = rng.one_in(5).then(|| "bad arguments".to_owned());
        TurnInput::ToolEnded { call, name: "t".into(), content: "out".into(), ok: fault.is_none(), fault, control }
    }
}

fn input(books: &mut Books, rng: &mut Rng) -> TurnInput {
    let running = books.running.clone();
    match (rng.below(20), running) {
        (0, _) => TurnInput::Interrupt,
        (1, _) => TurnInput::Stop { reason: "end".into() },
        (2, _) => TurnInput::Yield,
        (3, None) => TurnInput::Overflow("too long".into()),
        (4, _) => TurnInput::Begin,
        (5, _) => books.ended(CallId::new("ghost"), rng),
        (6, _) if books.named > 0 => {
            let earlier = rng.below(usize::try_from(books.named).unwrap()) + 1;
            books.ended(CallId::new(format!("c{earlier}")), rng)
        }
        (7, Some(_)) => books.answer(rng),
        (_, Some(call)) => books.ended(call.id, rng),
        (_, None) => books.answer(rng),
    }
}

#[test]
fn any_inputs_in_any_order_leave_a_valid_conversation() {
    for seed in 0..4_000 {
        let mut rng = Rng::new(seed);
        let mut turn = Turn::new(CAP);
        let mut books = Books::default();
        books.take(&turn.handle(TurnInput::Begin));
        for _ in 0..60 {
            if books.over {
                break;
            }
            let input = input(&mut books, &mut rng);
            let effects = turn.handle(input);
            books.take(&effects);
        }
        // Each overflow costs one more call that no round pays for; two in a row at most, then an answer must come.
        assert!(books.asked <= CAP * 3, "seed {seed}: asked {} times", books.asked);
    }
}
