//! Streams as real servers send them, over a socket.

use super::fake::{Fake, Reply, Step, delta, events, finish, text};
use super::{DEADLINE, Told, ask, ask_with, clock, hello, model, settings};
use futures::StreamExt as _;
use serde_json::json;
use signoff::domain::conversation::FinishReason;
use signoff::llm::provider::{OpenAiModel, OpenAiSettings};
use signoff::llm::{ChatModel as _, ModelError, ModelEvent};
use std::time::Duration;

const MIX: &str = "Grüße, 世界! 👩‍👩‍👧 — «done»";

async fn one(reply: Reply) -> Told {
    let (told, fake) = ask_with(vec![reply]).await;
    assert_eq!(fake.requests().len(), 1, "one request is enough");
    told
}

#[tokio::test]
async fn p30_chat_completions_is_what_is_spoken() {
    let (told, fake) = ask_with(vec![Reply::text("hi")]).await;
    assert_eq!(told.answer().text, "hi");
    let seen = &fake.requests()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions");
    assert_eq!((&seen.body["stream"], &seen.body["model"]), (&json!(true), &json!("m")));
    assert_eq!(seen.body["stream_options"], json!({ "include_usage": true }));
    assert!(seen.body.get("max_tokens").is_none() && seen.body.get("max_completion_tokens").is_none());
    assert_eq!(seen.header("authorization"), None, "no key, no header");
}

#[tokio::test]
async fn text_survives_any_split_line_end_mark_and_label() {
    let chunks = events(&[text("Grüße, 世界! "), text("👩‍👩‍👧 — «done»"), finish("stop")]) + "data: [DONE]\n\n";
    let variants = [
        Reply::stream(chunks.clone()).split(1),
        Reply::stream(chunks.clone()).split(3),
        Reply::stream(chunks.replace('\n', "\r\n")).split(5),
        Reply::stream(chunks.replace('\n', "\r")).split(2),
        Reply::stream(format!("\u{feff}{chunks}")).split(1),
        Reply::stream(chunks.replace("data: ", "data:")),
        Reply::stream(format!(": OPENROUTER PROCESSING\n\ndata:\n\n{}", chunks.replace("[DONE]", "[DONE] "))),
        Reply::stream(chunks.replace("data: ", "id: 7\nevent: message\ndata: ")),
        Reply::raw(200, "text/plain", chunks.clone()),
        Reply::raw(200, "application/json", format!("\n{chunks}")),
    ];
    for (number, reply) in variants.into_iter().enumerate() {
        let told = one(reply).await;
        assert_eq!(told.answer().text, MIX, "variant {number}");
        assert_eq!(told.text(), MIX, "variant {number}, live");
    }
}

#[tokio::test]
async fn a_json_document_in_place_of_a_stream_is_the_answer() {
    let message = json!({ "role": "assistant", "content": "whole", "tool_calls": [] });
    let document = json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }], "usage": { "prompt_tokens": 3, "completion_tokens": 1 } });
    for content_type in ["application/json", "text/event-stream"] {
        let told = one(Reply::raw(200, content_type, format!("\u{feff} {document:#}")).split(7)).await;
        assert_eq!((told.answer().text.as_str(), told.answer().usage.input), ("whole", 3));
        assert_eq!(told.text(), "whole");
    }
}

#[tokio::test]
async fn a_web_page_or_plain_text_with_status_200_is_an_error_that_says_so() {
    let told = one(Reply::raw(200, "text/html", "<!doctype html><title>Sign in</title>")).await;
    assert!(
        matches!(told.error(), ModelError::Malformed(text) if text.contains("web page") && text.contains("Sign in")),
        "{:?}",
        told.error()
    );
    let told = one(Reply::raw(200, "text/plain", "hello")).await;
    assert!(matches!(told.error(), ModelError::Malformed(text) if text.contains("hello")));
    let told = one(Reply::json(200, &json!({ "message": "no such route" }))).await;
    assert!(matches!(told.error(), ModelError::Malformed(text) if text.contains("no such route")));
}

#[tokio::test]
async fn endings_without_done_or_without_a_reason_are_taken_when_the_answer_is_whole() {
    assert_eq!(one(Reply::open_chunks(&[text("a"), finish("stop")])).await.answer().text, "a");
    assert_eq!(one(Reply::chunks(&[text("a")])).await.answer().text, "a");
    let cut_after = Reply::open_chunks(&[text("a"), finish("length")]).then(Step::Reset);
    assert_eq!(one(cut_after).await.answer().finish, FinishReason::Length);
    let unfinished = Reply::stream(format!("data: {}\n\ndata: {}", text("a"), finish("stop")));
    assert_eq!(one(unfinished).await.answer().text, "a", "no blank line after the last event");
}

#[tokio::test]
async fn an_answer_that_was_cut_after_text_is_an_error_and_is_not_asked_again() {
    let half = "data: {\"choices\":[{\"delta\":{\"cont";
    let cuts = [
        Reply::open_chunks(&[text("half an ans")]),
        Reply::open_chunks(&[text("half an ans")]).then(Step::Reset),
        Reply::open_chunks(&[text("half an ans")]).then(Step::Bytes(half.into())),
    ];
    for reply in cuts {
        let told = one(reply).await;
        assert_eq!(told.text(), "half an ans");
        assert!(matches!(told.error(), ModelError::Connection(_)), "{:?}", told.error());
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_before_anything_was_shown_is_asked_again() {
    for first in [Reply::stream(""), Reply::open_chunks(&[delta(json!({ "role": "assistant" }))]), Reply::stream("data: [DONE]\n\n")] {
        let (told, fake) = ask_with(vec![first, Reply::text("ok")]).await;
        assert_eq!((told.answer().text.as_str(), fake.requests().len()), ("ok", 2));
        assert_eq!(told.count(|event| matches!(event, ModelEvent::Retrying { attempt: 2, .. })), 1);
    }
}

#[tokio::test]
async fn an_event_that_is_no_json_is_skipped() {
    let broken = format!("{}data: {{oops}}\n\n{}", events(&[text("before ")]), events(&[text("after"), finish("stop")]));
    assert_eq!(one(Reply::stream(broken)).await.answer().text, "before after");
}

#[tokio::test]
async fn an_error_inside_the_stream_is_told_after_text_and_tried_again_before() {
    let error = json!({ "error": { "message": "upstream overloaded", "code": 502 } });
    let told = one(Reply::chunks(&[text("then"), error.clone()])).await;
    assert!(matches!(told.error(), ModelError::Status { status: 502, message } if message == "upstream overloaded"), "{:?}", told.error());
    let (told, _) = ask_with(vec![Reply::chunks(&[error]), Reply::text("ok")]).await;
    assert_eq!(told.answer().text, "ok");
    let failed = json!({ "choices": [{ "delta": {}, "finish_reason": "error", "error": { "message": "gone", "code": 502 } }] });
    let (told, _) = ask_with(vec![Reply::chunks(&[failed]), Reply::text("ok")]).await;
    assert_eq!(told.answer().text, "ok");
    let bare = Reply::stream("event: error\ndata: {\"message\":\"prompt is too long\"}\n\n");
    assert!(matches!(one(bare).await.error(), ModelError::ContextOverflow { .. }));
}

#[tokio::test]
async fn p24_silence_before_the_first_byte_has_its_own_time_out() {
    let fake = Fake::start(vec![Reply::silence(), Reply::stream("").then(Step::Stall), Reply::text("ok")]).await;
    let settings = OpenAiSettings { first_byte_timeout: Duration::from_millis(80), ..settings(&fake) };
    let told = ask(&OpenAiModel::new(settings, clock).unwrap(), hello()).await;
    assert_eq!((told.answer().text.as_str(), fake.requests().len()), ("ok", 3));
    fake.wait_for_hang_ups(2).await;
    let fake = Fake::start(vec![Reply::silence()]).await;
    let short = OpenAiSettings { first_byte_timeout: Duration::from_millis(40), max_tries: 2, ..super::settings(&fake) };
    let told = ask(&OpenAiModel::new(short, clock).unwrap(), hello()).await;
    assert!(matches!(told.error(), ModelError::TimedOut { after, .. } if *after == Duration::from_millis(40)), "{:?}", told.error());
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn p25_silence_in_the_middle_ends_the_call_and_comments_count_as_life() {
    let stalled = Reply::open_chunks(&[text("then")]).then(Step::Stall);
    let fake = Fake::start(vec![stalled]).await;
    let impatient = |fake: &Fake| OpenAiSettings { idle_timeout: Duration::from_millis(150), ..settings(fake) };
    let told = ask(&OpenAiModel::new(impatient(&fake), clock).unwrap(), hello()).await;
    assert!(matches!(told.error(), ModelError::TimedOut { what, .. } if what.contains("silent")), "{:?}", told.error());
    fake.wait_for_hang_ups(1).await;

    let ping = || Step::Bytes(b": ping\n\n".to_vec());
    let wait = || Step::Pause(Duration::from_millis(60));
    let mut slow = Reply::open_chunks(&[delta(json!({ "role": "assistant" }))]);
    for _ in 0..5 {
        slow = slow.then(wait()).then(ping());
    }
    slow = slow.then(Step::Bytes(events(&[text("late"), finish("stop")]).into_bytes()));
    let fake = Fake::start(vec![slow]).await;
    let told = ask(&OpenAiModel::new(impatient(&fake), clock).unwrap(), hello()).await;
    assert_eq!((told.answer().text.as_str(), fake.requests().len()), ("late", 1));

    let quiet = Reply::open_chunks(&[delta(json!({ "role": "assistant" }))]).then(Step::Stall);
    let fake = Fake::start(vec![quiet, Reply::text("ok")]).await;
    let told = ask(&OpenAiModel::new(impatient(&fake), clock).unwrap(), hello()).await;
    assert_eq!(told.answer().text, "ok", "nothing was shown: asked again");
}

#[tokio::test]
async fn dropping_the_stream_hangs_up_at_once_in_every_state() {
    let fake = Fake::start(vec![Reply::open_chunks(&[text("a")]).then(Step::Stall), Reply::silence(), Reply::error(500, "x")]).await;
    let model = OpenAiModel::new(OpenAiSettings { backoff: Duration::from_secs(60), ..settings(&fake) }, clock).unwrap();
    let mut streaming = model.stream(hello());
    assert_eq!(streaming.next().await, Some(Ok(ModelEvent::Text("a".into()))));
    drop(streaming);
    fake.wait_for_hang_ups(1).await;

    let mut waiting = model.stream(hello());
    tokio::select! {
        _ = waiting.next() => panic!("nothing was said"),
        () = fake.wait_for_requests(2) => {}
    }
    drop(waiting);
    fake.wait_for_hang_ups(2).await;

    let mut backing_off = model.stream(hello());
    let event = tokio::time::timeout(DEADLINE, backing_off.next()).await.unwrap();
    assert!(matches!(event, Some(Ok(ModelEvent::Retrying { .. }))), "{event:?}");
    drop(backing_off);
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn a_server_that_keeps_the_socket_open_after_done_is_not_waited_for() {
    let open = Reply::chunks(&[text("a"), finish("stop")]).then(Step::Stall);
    let (told, fake) = ask_with(vec![open]).await;
    assert_eq!(told.answer().text, "a");
    fake.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn a_long_answer_in_one_event_or_in_thousands_comes_out_whole() {
    let big = "x".repeat(1_000_000);
    assert_eq!(one(Reply::text(&big)).await.answer().text.len(), big.len());
    let many: Vec<_> = (0..3000).map(|n| text(&format!("{n} "))).chain([finish("stop")]).collect();
    let told = one(Reply::chunks(&many)).await;
    assert!(told.answer().text.ends_with("2998 2999 "));
    assert_eq!(told.text(), told.answer().text);
}

#[tokio::test]
async fn a_key_is_sent_to_its_server_and_shown_nowhere() {
    let key = "sk-secret-1234567890";
    let echo = json!({ "error": { "message": format!("Incorrect API key provided: {key}"), "code": "invalid_api_key" } });
    let fake = Fake::start(vec![Reply::json(401, &echo)]).await;
    let settings = OpenAiSettings { api_key: Some(key.to_owned().into()), ..settings(&fake) };
    let model = OpenAiModel::new(settings.clone(), clock).unwrap();
    let told = ask(&model, hello()).await;
    let seen = fake.requests();
    assert_eq!(seen[0].header("authorization"), Some("Bearer sk-secret-1234567890"));
    assert_eq!(seen.len(), 1, "a refused key is not tried again");
    assert!(matches!(told.error(), ModelError::Unauthorized { status: 401, .. }));
    let shown = format!("{:?} {} {model:?} {settings:?}", told.error(), told.error());
    assert!(!shown.contains("1234567890"), "{shown}");
}

#[tokio::test]
async fn a_key_or_header_that_cannot_be_sent_is_a_fault_of_the_settings() {
    let fake = Fake::start(vec![Reply::text("x")]).await;
    for key in ["sk-1\n", "sk\r\nx: y", "schlüssel\u{7f}"] {
        let settings = OpenAiSettings { api_key: Some(key.to_owned().into()), ..settings(&fake) };
        let error = OpenAiModel::new(settings, clock).unwrap_err();
        assert!(matches!(&error, ModelError::Setup(text) if text.contains("key") && !text.contains("sk")), "{error}");
    }
    let headers = [("bad name".to_owned(), "x".to_owned().into())].into();
    assert!(OpenAiModel::new(OpenAiSettings { headers, ..settings(&fake) }, clock).is_err());
}

#[tokio::test]
async fn no_server_is_a_connection_error_that_names_the_address() {
    let fake = Fake::start(vec![Reply::text("x")]).await;
    let settings = OpenAiSettings { max_tries: 2, ..settings(&fake) };
    let base = fake.base();
    drop(fake);
    let told = ask(&OpenAiModel::new(settings, clock).unwrap(), hello()).await;
    assert!(matches!(told.error(), ModelError::Connection(text) if text.contains(&base)), "{:?}", told.error());
    assert_eq!(told.count(|event| matches!(event, ModelEvent::Retrying { .. })), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_names_its_target() {
    let (told, fake) = ask_with(vec![Reply::raw(307, "text/plain", "").header("location", "https://elsewhere.example/v1")]).await;
    assert!(told.error().to_string().contains("elsewhere.example"), "{}", told.error());
    assert_eq!(fake.requests().len(), 1);
    let _ = model(&fake);
}
