//! What chunks become: the accumulator alone, no server.

use super::fake::{call, delta, finish, text};
use super::{hello, request, tool};
use serde_json::{Value, json};
use signoff::domain::conversation::{AssistantAnswer, FinishReason};
use signoff::domain::{CallId, ChatMessage, TokenUsage, ToolCall};
use signoff::llm::accumulate::Accumulator;
use signoff::llm::arguments::{PREVIEW_MAX, history_arguments, parse_arguments};
use signoff::llm::names::NameMap;
use signoff::llm::wire::Chunk;
use signoff::llm::{ChatRequest, ModelEvent, dialect};
use std::sync::Arc;

fn gather_for(request: &ChatRequest, chunks: &[Value]) -> (AssistantAnswer, Vec<ModelEvent>) {
    let mut gathered = Accumulator::new(request);
    let mut events: Vec<ModelEvent> = chunks.iter().flat_map(|chunk| gathered.push(Chunk::from_value(chunk))).collect();
    let (answer, rest) = gathered.finish();
    events.extend(rest);
    (answer, events)
}

fn gather(chunks: &[Value]) -> AssistantAnswer {
    gather_for(&hello(), chunks).0
}

fn calls(chunks: &[Value]) -> Vec<(String, String)> {
    gather(chunks).calls.into_iter().map(|call| (call.name, call.arguments)).collect()
}

fn read_file(path: &str) -> (String, String) {
    ("read_file".into(), format!("{{\"path\":\"{path}\"}}"))
}

#[test]
fn p1_tool_call_without_id_gets_a_stable_id() {
    let answer = gather(&[
        call(json!({ "index": 0, "function": { "name": "read_file", "arguments": "{\"path\":" } })),
        call(json!({ "index": 0, "function": { "arguments": "\"a\"}" } })),
        finish("tool_calls"),
    ]);
    assert_eq!(answer.calls.len(), 1);
    assert_eq!(answer.calls[0].arguments, "{\"path\":\"a\"}");
    let id = answer.calls[0].id.to_string();
    assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
}

#[test]
fn p2_blank_id_counts_as_missing_and_ids_never_repeat_in_a_conversation() {
    let first = gather(&[call(json!({ "index": 0, "id": " ", "function": { "name": "bash", "arguments": "{}" } })), finish("tool_calls")]);
    assert!(!first.calls[0].id.to_string().trim().is_empty());
    let history = vec![
        ChatMessage::user("go"),
        ChatMessage::Assistant { text: String::new(), reasoning: None, calls: first.calls.clone() },
        ChatMessage::Tool { call_id: first.calls[0].id.clone(), name: "bash".into(), content: "ok".into(), ok: true },
    ];
    let again = call(json!({ "index": 0, "id": "", "function": { "name": "bash", "arguments": "{}" } }));
    let (second, _) = gather_for(&request(history.clone()), &[again]);
    assert_ne!(second.calls[0].id, first.calls[0].id);
    let same = call(json!({ "index": 0, "id": first.calls[0].id, "function": { "name": "bash", "arguments": "{}" } }));
    let (third, _) = gather_for(&request(history), &[same]);
    assert_ne!(third.calls[0].id, first.calls[0].id, "an id that the server gave twice");
}

#[test]
fn two_calls_with_one_id_are_told_apart() {
    let answer = gather(&[
        call(json!({ "index": 0, "id": "call_0", "function": { "name": "bash", "arguments": "{}" } })),
        call(json!({ "index": 1, "id": "call_0", "function": { "name": "read_file", "arguments": "{}" } })),
    ]);
    assert_eq!(answer.calls.len(), 2);
    assert_ne!(answer.calls[0].id, answer.calls[1].id);
}

#[test]
fn p4_indices_from_one_interleaved_missing_or_wrong_keep_calls_apart() {
    let interleaved = [
        call(json!({ "index": 1, "id": "a", "function": { "name": "read_file", "arguments": "" } })),
        call(json!({ "index": 2, "id": "b", "function": { "name": "read_file", "arguments": "" } })),
        call(json!({ "index": 1, "function": { "arguments": "{\"path\":" } })),
        call(json!({ "index": 2, "function": { "arguments": "{\"path\":" } })),
        call(json!({ "index": 1, "function": { "arguments": "\"x\"}" } })),
        call(json!({ "index": 2, "function": { "arguments": "\"y\"}" } })),
    ];
    assert_eq!(calls(&interleaved), [read_file("x"), read_file("y")]);
    let moved = [
        call(json!({ "index": 1, "id": "a", "function": { "name": "read_file" } })),
        call(json!({ "index": 0, "function": { "arguments": "{\"path\":\"x\"}" } })),
    ];
    assert_eq!(calls(&moved), [read_file("x")]);
    let all_zero = [
        call(json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "{\"path\":\"x\"}" } })),
        call(json!({ "index": 0, "id": "b", "function": { "name": "read_file", "arguments": "{\"path\":\"y\"}" } })),
        call(json!({ "index": 0, "function": { "name": "read_file", "arguments": "{\"path\":\"z\"}" } })),
    ];
    assert_eq!(calls(&all_zero), [read_file("x"), read_file("y"), read_file("z")]);
    let none = [
        call(json!({ "id": "a", "function": { "name": "read_file", "arguments": "" } })),
        call(json!({ "function": { "arguments": "{\"path\":\"x\"}" } })),
        call(json!({ "id": "b", "function": { "name": "read_file", "arguments": "{\"path\":\"y\"}" } })),
    ];
    assert_eq!(calls(&none), [read_file("x"), read_file("y")]);
}

#[test]
fn names_in_pieces_or_repeated_and_arguments_as_an_object_are_one_call() {
    let split = [
        call(json!({ "index": 0, "id": "a", "function": { "name": "read_" } })),
        call(json!({ "index": 0, "function": { "name": "file" } })),
        call(json!({ "index": 0, "function": { "arguments": "{\"path\":\"x\"}" } })),
    ];
    assert_eq!(calls(&split), [read_file("x")]);
    let repeated = [
        call(json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "{\"pa" } })),
        call(json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "th\":\"x\"}" } })),
        call(json!({ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "" } })),
    ];
    assert_eq!(calls(&repeated), [read_file("x")]);
    let object = [call(json!({ "index": "0", "id": 7, "function": { "name": "read_file", "arguments": { "path": "x" } } }))];
    assert_eq!(calls(&object), [read_file("x")]);
    let both = delta(json!({
        "function_call": { "name": "read_file", "arguments": "{\"path\":\"x\"}" },
        "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "read_file", "arguments": "{\"path\":\"x\"}" } }],
    }));
    assert_eq!(calls(&[both]), [read_file("x")]);
}

#[test]
fn a_call_is_announced_once_with_its_whole_name() {
    let (_, events) = gather_for(
        &hello(),
        &[
            call(json!({ "index": 0, "id": "a", "function": { "name": "read_" } })),
            call(json!({ "index": 0, "function": { "name": "file", "arguments": "{" } })),
            call(json!({ "index": 0, "function": { "arguments": "}" } })),
            call(json!({ "index": 1, "id": "b", "function": { "name": "bash" } })),
        ],
    );
    let started = |name: &str| ModelEvent::CallStarted { name: name.into() };
    assert_eq!(events, [started("read_file"), started("bash")]);
}

#[test]
fn p6_usage_without_choices_is_recorded() {
    let usage =
        json!({ "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 6 } } });
    let answer = gather(&[text("hi"), finish("stop"), usage]);
    assert_eq!(answer.usage, TokenUsage { input: 10, output: 4, cached: 6, reasoning: 0 });
    assert_eq!(answer.text, "hi");
}

#[test]
fn p8_blank_finish_reason_is_none() {
    let blank = |content: &str| json!({ "choices": [{ "delta": { "content": content }, "finish_reason": "" }] });
    let mut gathered = Accumulator::new(&hello());
    gathered.push(Chunk::from_value(&blank("a")));
    assert!(!gathered.is_finished());
    gathered.push(Chunk::from_value(&blank("b")));
    gathered.push(Chunk::from_value(&finish("stop")));
    assert!(gathered.is_finished());
    assert_eq!(gathered.finish().0.text, "ab");
}

#[test]
fn p9_unknown_finish_reason_counts_by_what_came() {
    for word in ["eos_token", "end_turn", "whatever", "stop"] {
        assert_eq!(gather(&[text("a"), finish(word)]).finish, FinishReason::Stop, "{word}");
        let with_call = [call(json!({ "index": 0, "id": "a", "function": { "name": "bash", "arguments": "{}" } })), finish(word)];
        assert_eq!(gather(&with_call).finish, FinishReason::ToolCalls, "{word}");
    }
    assert_eq!(gather(&[text("a"), finish("max_tokens")]).finish, FinishReason::Length);
    assert_eq!(gather(&[finish("content_filter")]).finish, FinishReason::ContentFilter);
}

#[test]
fn p10_partial_usage_in_each_chunk_does_not_stop_the_stream() {
    let with = |content: &str, usage: Value| json!({ "choices": [{ "delta": { "content": content } }], "usage": usage });
    let answer = gather(&[
        with("a", json!({})),
        with("b", json!({ "completion_tokens": 2 })),
        with("c", json!({ "prompt_tokens": "7", "completion_tokens": null })),
        with("d", Value::Null),
        finish("stop"),
    ]);
    assert_eq!((answer.text.as_str(), answer.usage.input, answer.usage.output), ("abcd", 7, 2));
}

#[test]
fn p12_tool_calls_announced_but_none_given_stays_visible_to_the_caller() {
    let answer = gather(&[delta(json!({ "tool_calls": [] })), finish("tool_calls")]);
    assert_eq!((answer.finish, answer.calls.len()), (FinishReason::ToolCalls, 0));
}

#[test]
fn p13_an_empty_list_of_calls_is_no_call() {
    let answer = gather(&[delta(json!({ "content": "done", "tool_calls": [] })), delta(json!({ "tool_calls": null })), finish("stop")]);
    assert_eq!((answer.finish, answer.calls.len(), answer.text.as_str()), (FinishReason::Stop, 0, "done"));
}

#[test]
fn p18_thinking_inside_the_text_is_folded_away_and_never_parsed_for_calls() {
    let answer = gather(&[text("<thi"), text("nk>\nI could <tool_call>"), text("</think>\n\nyes"), finish("stop")]);
    assert_eq!(answer.text, "yes");
    assert_eq!(answer.reasoning.as_deref(), Some("I could <tool_call>"));
    let late = gather(&[text("first plan"), text("</think>answer"), finish("stop")]);
    assert_eq!((late.text.as_str(), late.reasoning.as_deref()), ("answer", Some("first plan")));
    let open = gather(&[text("<think>{\"name\":\"bash\",\"arguments\":{}}"), finish("stop")]);
    assert_eq!((open.text.as_str(), open.calls.len()), ("", 0));
}

#[test]
fn reasoning_under_either_name_and_content_as_parts_are_read() {
    for field in ["reasoning", "reasoning_content"] {
        let answer = gather(&[delta(json!({ field: "hm", "content": null })), text("yes"), finish("stop")]);
        assert_eq!((answer.reasoning.as_deref(), answer.text.as_str()), (Some("hm"), "yes"));
    }
    let twice = gather(&[delta(json!({ "reasoning": "hm", "reasoning_content": "hm" }))]);
    assert_eq!(twice.reasoning.as_deref(), Some("hm"));
    let parts = json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] }, { "type": "text", "text": "yes" }]);
    let answer = gather(&[delta(json!({ "content": parts })), finish("stop")]);
    assert_eq!((answer.reasoning.as_deref(), answer.text.as_str()), (Some("hm"), "yes"));
}

#[test]
fn p19_a_call_written_as_text_is_a_call_only_when_it_is_all_of_the_text() {
    let dialects = [
        "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n</tool_call>",
        "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"x\"}}",
        "<tool_call>\n<function=read_file>\n<parameter=path>\nx\n</parameter>\n</function>\n</tool_call>",
        "<function=read_file>{\"path\":\"x\"}</function>",
        "<function_calls>\n<invoke name=\"read_file\">\n<parameter name=\"path\">x</parameter>\n</invoke>\n</function_calls>",
        "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n```",
        "{\"name\": \"read_file\", \"parameters\": {\"path\": \"x\"}}",
        "[TOOL_CALLS][{\"name\": \"read_file\", \"arguments\": {\"path\": \"x\"}}]",
    ];
    for written in dialects {
        let answer = gather(&[text(written), finish("stop")]);
        assert_eq!(answer.calls.len(), 1, "{written}");
        assert_eq!((answer.calls[0].name.as_str(), answer.calls[0].arguments.as_str()), ("read_file", "{\"path\":\"x\"}"), "{written}");
        assert_eq!((answer.text.as_str(), answer.finish), ("", FinishReason::ToolCalls), "{written}");
        let prose = gather(&[text(&format!("I would answer\n{written}")), finish("stop")]);
        assert_eq!(prose.calls.len(), 0, "prose before {written}");
        let after = gather(&[text(&format!("{written}\nThat is all.")), finish("stop")]);
        assert_eq!(after.calls.len(), 0, "prose after {written}");
    }
    for other in [
        "{\"name\":\"rm\",\"arguments\":{}}",
        "{\"name\":\"bash\"}",
        "{\"name\":\"bash\",\"arguments\":{},\"why\":1}",
        "[1]",
        "```json\n{}\n```",
    ] {
        assert_eq!(gather(&[text(other), finish("stop")]).calls.len(), 0, "{other}");
    }
    assert!(dialect::looks_like_call("so: <tool_call>{}"));
    assert!(!dialect::looks_like_call("plain prose"));
}

#[test]
fn several_calls_written_as_text_keep_their_types() {
    let (answer, events) = gather_for(
        &hello(),
        &[text(
            "<tool_call><function=read_file><parameter=path>1</parameter><parameter=limit>2</parameter></function></tool_call>\n\
         <tool_call>{\"name\":\"bash\"}</tool_call>",
        )],
    );
    let got: Vec<(&str, &str)> = answer.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(events.iter().filter(|event| matches!(event, ModelEvent::CallStarted { .. })).count(), 2);
    assert_eq!(got, [("read_file", "{\"limit\":2,\"path\":\"1\"}"), ("bash", "{}")]);
}

#[test]
fn p20_arguments_that_do_not_parse_name_the_fault_and_history_holds_an_object() {
    for raw in ["{\"a\":", "{\"a\":1,}", "None", "null", "[1]", "\"x\"", "{\"a\":1} x"] {
        let fault = parse_arguments(raw).unwrap_err();
        assert!(fault.contains("not a JSON object"), "{fault}");
        let kept: Value = serde_json::from_str(&history_arguments(raw)).unwrap();
        assert!(kept.is_object(), "{raw}");
    }
    assert_eq!(parse_arguments("  ").unwrap(), serde_json::Map::new());
    assert_eq!(history_arguments(""), "{}");
    assert_eq!(history_arguments(" {\"a\": 1}\n"), "{\"a\": 1}");
    assert_eq!(history_arguments("\"{\\\"a\\\":1}\""), "{\"a\":1}", "an object inside a string");
}

#[test]
fn p22_huge_broken_arguments_are_previewed_with_their_length() {
    let raw = format!("{{\"content\":\"{}", "x".repeat(1_000_000));
    let fault = parse_arguments(&raw).unwrap_err();
    assert!(fault.len() < PREVIEW_MAX + 300, "{}", fault.len());
    assert!(fault.contains("1000012 characters"), "{fault}");
    assert!(history_arguments(&raw).len() < PREVIEW_MAX + 100);
}

#[test]
fn p31_odd_tool_names_are_sent_clean_and_come_back_as_offered() {
    let long = format!("server.{}", "n".repeat(80));
    let tools = vec![tool("fs.read"), tool("fs_read"), tool(&long), tool("größe")];
    let names = NameMap::new(&tools);
    let wires: std::collections::BTreeSet<String> = tools.iter().map(|tool| names.wire(&tool.name)).collect();
    assert_eq!(wires.len(), 4, "{wires:?}");
    for tool in &tools {
        let wire = names.wire(&tool.name);
        assert!(wire.len() <= 64 && wire.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'), "{wire}");
        assert_eq!(names.offered(&wire), tool.name);
    }
    assert_eq!(names.wire("fs_read"), "fs_read");
    let asked = ChatRequest { tools: Arc::new(tools), ..hello() };
    let wire = names.wire("fs.read");
    let (answer, events) = gather_for(&asked, &[call(json!({ "index": 0, "id": "a", "function": { "name": wire, "arguments": "{}" } }))]);
    assert_eq!(answer.calls, [ToolCall { id: CallId::new("a"), name: "fs.read".into(), arguments: "{}".into() }]);
    assert_eq!(events, [ModelEvent::CallStarted { name: "fs.read".into() }]);
}

#[test]
fn fields_of_wrong_types_are_nothing() {
    let odd = [
        json!(null),
        json!([1, 2]),
        json!("text"),
        json!({ "choices": null }),
        json!({ "choices": {} }),
        json!({ "choices": [null] }),
        json!({ "choices": [{ "delta": null, "finish_reason": 3 }] }),
        json!({ "choices": [{ "delta": { "role": 5, "content": false, "tool_calls": "x", "reasoning": {} } }] }),
        json!({ "choices": [{ "delta": { "tool_calls": [null, 3, {}] } }] }),
        json!({ "usage": [] , "error": null }),
    ];
    let answer = gather(&odd);
    assert_eq!(answer, AssistantAnswer::default());
}

#[test]
fn a_last_chunk_that_repeats_the_whole_message_adds_nothing() {
    let whole = json!({ "choices": [{ "message": { "role": "assistant", "content": "hello" }, "finish_reason": "stop" }] });
    assert_eq!(gather(&[text("hel"), text("lo"), whole.clone()]).text, "hello");
    assert_eq!(gather(&[whole]).text, "hello");
}
