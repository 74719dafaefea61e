//! The turn machine.

use signoff::domain::conversation::{AssistantAnswer, FinishReason};
use signoff::domain::{CallId, ChatMessage, ToolCall};
use signoff::protocol::turn::{Follow, Outcome, Turn, TurnEffect, TurnInput};

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: "bash".into(), arguments: "{}".into() }
}

fn calls(ids: &[&str]) -> TurnInput {
    TurnInput::Answered(AssistantAnswer {
        calls: ids.iter().map(|id| call(id)).collect(),
        finish: FinishReason::ToolCalls,
        ..AssistantAnswer::default()
    })
}

fn text(text: &str, finish: FinishReason) -> TurnInput {
    TurnInput::Answered(AssistantAnswer { text: text.into(), finish, ..AssistantAnswer::default() })
}

fn done(id: &str, control: Follow) -> TurnInput {
    TurnInput::ToolEnded { call: CallId::new(id), name: "bash".into(), content: "out".into(), ok: true, fault: None, control }
}

fn results(effects: &[TurnEffect]) -> Vec<(&str, bool)> {
    let result = |e: &TurnEffect| match e {
        TurnEffect::Append(ChatMessage::Tool { call_id, ok, .. }) => Some((call_id.0.to_string(), *ok)),
        _ => None,
    };
    let found: Vec<(String, bool)> = effects.iter().filter_map(result).collect();
    found.into_iter().map(|(id, ok)| (&*Box::leak(id.into_boxed_str()), ok)).collect()
}

#[test]
fn text_alone_ends_the_turn() {
    let mut turn = Turn::new(5);
    assert_eq!(turn.handle(TurnInput::Begin), [TurnEffect::Call]);
    assert_eq!(turn.handle(text("done", FinishReason::Stop)).last(), Some(&TurnEffect::Rest(Outcome::Done)));
}

#[test]
fn tools_run_one_after_the_other_and_then_the_model_is_asked() {
    let mut turn = Turn::new(5);
    turn.handle(TurnInput::Begin);
    assert_eq!(turn.handle(calls(&["a", "b"])).last(), Some(&TurnEffect::Run(call("a"))));
    assert_eq!(turn.handle(done("a", Follow::On)).last(), Some(&TurnEffect::Run(call("b"))));
    assert_eq!(turn.handle(done("b", Follow::On)).last(), Some(&TurnEffect::Call));
}

#[test]
fn every_call_gets_exactly_one_result_whatever_ends_the_turn() {
    for input in [TurnInput::Interrupt, TurnInput::Stop { reason: "x".into() }, TurnInput::Yield] {
        let mut turn = Turn::new(5);
        turn.handle(TurnInput::Begin);
        turn.handle(calls(&["a", "b", "c"]));
        let mut seen = results(&turn.handle(done("a", Follow::On))).len();
        seen += results(&turn.handle(input)).len();
        assert_eq!(seen, 3);
    }
}

#[test]
fn agreeing_to_shut_down_starts_no_further_tool() {
    let mut turn = Turn::new(5);
    turn.handle(TurnInput::Begin);
    turn.handle(calls(&["a", "b"]));
    let effects = turn.handle(done("a", Follow::End { reason: "agreed".into() }));
    assert_eq!(results(&effects), [("a", true), ("b", false)]);
    assert_eq!(effects.last(), Some(&TurnEffect::End { reason: "agreed".into() }));
}

#[test]
fn the_round_cap_is_reported_as_such() {
    let mut turn = Turn::new(2);
    turn.handle(TurnInput::Begin);
    turn.handle(calls(&["a"]));
    turn.handle(done("a", Follow::On));
    turn.handle(calls(&["b"]));
    assert_eq!(turn.handle(done("b", Follow::On)).last(), Some(&TurnEffect::Rest(Outcome::RoundCap(2))));
}

#[test]
fn p12_announced_calls_that_do_not_come_are_nudged_twice_at_most() {
    let mut turn = Turn::new(9);
    turn.handle(TurnInput::Begin);
    for _ in 0..2 {
        assert_eq!(turn.handle(text("", FinishReason::ToolCalls)).last(), Some(&TurnEffect::Call));
    }
    assert_eq!(turn.handle(text("", FinishReason::ToolCalls)).last(), Some(&TurnEffect::Rest(Outcome::Empty)));
}

#[test]
fn p15_an_empty_answer_is_not_done() {
    let mut turn = Turn::new(9);
    turn.handle(TurnInput::Begin);
    assert_eq!(turn.handle(text("", FinishReason::Stop)).last(), Some(&TurnEffect::Call));
    assert_eq!(turn.handle(text(" ", FinishReason::Stop)), [TurnEffect::Rest(Outcome::Empty)]);
}

#[test]
fn p20_the_same_fault_three_times_ends_the_turn() {
    let mut turn = Turn::new(9);
    turn.handle(TurnInput::Begin);
    for n in 0..3 {
        turn.handle(calls(&["a"]));
        let faulty = TurnInput::ToolEnded {
            call: CallId::new("a"),
            name: "bash".into(),
            content: "bad".into(),
            ok: false,
            fault: Some("bash: no command".into()),
            control: Follow::On,
        };
        let last = turn.handle(faulty).pop();
        assert_eq!(matches!(last, Some(TurnEffect::Rest(Outcome::Circling(_)))), n == 2, "{n}");
    }
}

#[test]
fn l4_an_overflow_compacts_twice_and_then_fails_with_a_choice() {
    let mut turn = Turn::new(9);
    turn.handle(TurnInput::Begin);
    for _ in 0..2 {
        assert_eq!(turn.handle(TurnInput::Overflow("too long".into())), [TurnEffect::Compact, TurnEffect::Call]);
    }
    assert!(matches!(&turn.handle(TurnInput::Overflow("too long".into()))[..], [TurnEffect::Fail { .. }]));
}

#[test]
fn l4_compactions_that_made_room_are_not_counted_against_the_next() {
    let mut turn = Turn::new(9);
    turn.handle(TurnInput::Begin);
    for round in 0..4 {
        let compact = [TurnEffect::Compact, TurnEffect::Call];
        assert_eq!(turn.handle(TurnInput::Overflow("too long".into())), compact, "round {round}");
        turn.handle(calls(&["a"]));
        turn.handle(done("a", Follow::On));
    }
}

#[test]
fn the_same_call_with_the_same_result_is_said_to_the_model_and_then_ends_the_turn() {
    let mut turn = Turn::new(50);
    let mut told = Vec::new();
    turn.handle(TurnInput::Begin);
    for round in 1..=6 {
        turn.handle(calls(&["a"]));
        let effects = turn.handle(done("a", Follow::On));
        told.push(
            effects.iter().any(|e| matches!(e, TurnEffect::Append(ChatMessage::Tool { content, .. }) if content.contains("three times"))),
        );
        let ended = effects.contains(&TurnEffect::Rest(Outcome::Repeating("bash".into())));
        assert_eq!(ended, round == 6, "{round}: {effects:?}");
    }
    assert_eq!(told, [false, false, true, false, false, false]);
}

#[test]
fn a_call_whose_result_changes_is_no_repetition() {
    let mut turn = Turn::new(50);
    turn.handle(TurnInput::Begin);
    for round in 0..20 {
        turn.handle(calls(&["a"]));
        let input = match done("a", Follow::On) {
            TurnInput::ToolEnded { call, name, ok, fault, control, .. } => {
                TurnInput::ToolEnded { call, name, content: format!("{round} of 20"), ok, fault, control }
            }
            other => other,
        };
        assert!(turn.handle(input).contains(&TurnEffect::Call), "{round}");
    }
}
