//! Servers that reject a field by name: asked once more without it, and remembered.

use super::fake::{Fake, Reply, Seen};
use super::{ask, clock, hello, request, settings};
use serde_json::{Value, json};
use signoff::domain::{CallId, ChatMessage, ToolCall};
use signoff::llm::ModelEvent;
use signoff::llm::provider::{OpenAiModel, OpenAiSettings, SystemRole};

/// Asks twice a server that refuses the first request with `refusal`: three requests, the first as it was, the others changed.
async fn learn(refusal: Reply, change: impl FnOnce(&mut OpenAiSettings)) -> (Vec<Seen>, String) {
    let fake = Fake::start(vec![refusal, Reply::text("ok")]).await;
    let mut settings = settings(&fake);
    change(&mut settings);
    let model = OpenAiModel::new(settings, clock).unwrap();
    let first = ask(&model, hello()).await;
    assert_eq!(first.answer().text, "ok");
    let adapted: Vec<&String> =
        first.events.iter().filter_map(|e| if let ModelEvent::Adapted { what } = e { Some(what) } else { None }).collect();
    assert_eq!(adapted.len(), 1, "{:?}", first.events);
    let what = adapted[0].clone();
    let second = ask(&model, hello()).await;
    assert!(second.events.iter().all(|event| !matches!(event, ModelEvent::Adapted { .. })), "it was remembered");
    let seen = fake.requests();
    assert_eq!(seen.len(), 3);
    (seen, what)
}

fn with(key: &'static str, value: Value) -> impl FnOnce(&mut OpenAiSettings) {
    move |settings| {
        settings.extra_body.insert(key.into(), value);
    }
}

#[tokio::test]
async fn p27_the_other_name_of_the_token_limit_is_taken() {
    let refusal =
        Reply::error(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.");
    let (seen, what) = learn(refusal, with("max_tokens", json!(100))).await;
    assert_eq!(seen[0].body["max_tokens"], 100);
    for later in &seen[1..] {
        assert_eq!((later.body.get("max_tokens"), later.body["max_completion_tokens"].as_u64()), (None, Some(100)));
    }
    assert!(what.contains("max_completion_tokens"), "{what}");
    let refusal =
        Reply::json(422, &json!({ "detail": [{ "loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted" }] }));
    let (seen, _) = learn(refusal, with("max_completion_tokens", json!(100))).await;
    assert_eq!(seen[1].body["max_tokens"], 100);
}

#[tokio::test]
async fn p28_rejected_fields_are_left_out_and_remembered() {
    let (seen, _) = learn(Reply::error(400, "Unrecognized request argument supplied: stream_options"), |_| ()).await;
    assert!(seen[0].body.get("stream_options").is_some());
    assert!(seen[1..].iter().all(|later| later.body.get("stream_options").is_none()));
    let refusal = Reply::json(400, &json!({ "error": { "message": "Unknown parameter", "param": "parallel_tool_calls" } }));
    let (seen, what) = learn(refusal, with("parallel_tool_calls", json!(false))).await;
    assert_eq!(seen[0].body["parallel_tool_calls"], false);
    assert!(seen[1..].iter().all(|later| later.body.get("parallel_tool_calls").is_none()));
    assert!(seen[1].body.get("stream_options").is_some(), "only what was named goes");
    assert_eq!(what, "without parallel_tool_calls");
}

#[tokio::test]
async fn p28_a_rejected_role_is_swapped() {
    let refusal = Reply::error(400, "Invalid value: 'developer'. Supported values for role are: 'system', 'assistant', 'user'.");
    let (seen, _) = learn(refusal, |settings| settings.system_role = SystemRole::Developer).await;
    assert_eq!(seen[0].messages()[0]["role"], "developer");
    assert_eq!(seen[2].messages()[0]["role"], "system");
    let (seen, _) = learn(Reply::error(400, "System role not supported by this model: role 'system'"), |_| ()).await;
    assert_eq!(seen[1].messages(), &vec![json!({ "role": "user", "content": "Be brief.\n\nhello" })]);
    let (seen, _) = learn(Reply::error(500, "Conversation roles must alternate user/assistant/user/assistant/..."), |_| ()).await;
    assert_eq!(seen[1].messages().len(), 1);
}

#[tokio::test]
async fn a_model_without_tools_is_told_of_them_in_words() {
    let (seen, what) = learn(Reply::error(400, "registry.ollama.ai/library/gemma:2b does not support tools"), |_| ()).await;
    assert!(seen[0].body.get("tools").is_some());
    let told = seen[1].messages()[0]["content"].as_str().unwrap();
    assert!(seen[1].body.get("tools").is_none() && told.contains("<tool_call>") && told.contains("read_file"), "{told}");
    assert!(what.contains("tools"));
}

#[tokio::test]
async fn calls_and_results_are_told_as_text_to_a_model_without_tools() {
    let fake = Fake::start(vec![Reply::error(400, "tools are not supported"), Reply::text("ok")]).await;
    let call = ToolCall { id: CallId::new("a"), name: "bash".into(), arguments: "{\"command\":".into() };
    let history = vec![
        ChatMessage::user("go"),
        ChatMessage::Assistant { text: "Look:".into(), reasoning: None, calls: vec![call] },
        ChatMessage::Tool { call_id: CallId::new("a"), name: "bash".into(), content: "x".into(), ok: true },
        ChatMessage::user("and?"),
    ];
    ask(&OpenAiModel::new(settings(&fake), clock).unwrap(), request(history)).await;
    let seen = fake.requests();
    let roles: Vec<&str> = seen[1].messages().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    let said = |at: usize| seen[1].messages()[at]["content"].as_str().unwrap();
    assert!(said(2).starts_with("Look:\n<tool_call>"), "{}", said(2));
    assert!(said(3).starts_with("<tool_response name=\"bash\"") && said(3).ends_with("and?"), "{}", said(3));
}

#[tokio::test]
async fn a_refusal_that_names_nothing_of_ours_is_an_error() {
    for message in ["the schema of tools[0] is broken", "model not loaded", "Field 'n' must be 1"] {
        let fake = Fake::start(vec![Reply::error(400, message), Reply::text("ok")]).await;
        let told = ask(&OpenAiModel::new(settings(&fake), clock).unwrap(), hello()).await;
        assert!(told.error().to_string().contains(message), "{}", told.error());
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_rejects_the_same_field_for_ever_is_given_up() {
    let fake = Fake::start(vec![Reply::error(400, "stream_options and stream are not supported")]).await;
    let told = ask(&OpenAiModel::new(settings(&fake), clock).unwrap(), hello()).await;
    assert!(told.result.is_err());
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn two_calls_that_are_refused_at_once_learn_one_thing() {
    let refusal = || Reply::error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
    let fake = Fake::start(vec![refusal(), refusal(), Reply::text("ok")]).await;
    let mut settings = settings(&fake);
    settings.extra_body.insert("max_tokens".into(), json!(100));
    let model = OpenAiModel::new(settings, clock).unwrap();
    let (one, two) = tokio::join!(ask(&model, hello()), ask(&model, hello()));
    assert_eq!((one.answer().text.as_str(), two.answer().text.as_str()), ("ok", "ok"));
    let last = ask(&model, hello()).await;
    assert_eq!(last.answer().text, "ok");
    assert!(fake.requests()[2..].iter().all(|later| later.body["max_completion_tokens"] == 100), "the limit itself stays");
}
