//! Limits: 429 and the shared gate, tries and waits, contexts that are full.

use super::fake::{Fake, Reply};
use super::{ask, ask_with, clock, hello, model, settings};
use futures::StreamExt as _;
use serde_json::json;
use signoff::domain::Timestamp;
use signoff::llm::gate::{Gate, backoff, retry_after, spread};
use signoff::llm::provider::{OpenAiModel, OpenAiSettings};
use signoff::llm::{ChatModel as _, ChatRequest, ModelError, ModelEvent};
use std::time::Duration;
use tokio::time::Instant;

fn limited(name: &str, value: &str) -> Reply {
    Reply::json(429, &json!({ "error": { "message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded" } }))
        .header(name, value)
}

#[tokio::test]
async fn l1_a_429_seen_by_one_parks_all_until_the_servers_time() {
    let fake = Fake::start(vec![limited("retry-after", "0.4"), Reply::text("ok")]).await;
    let model = model(&fake);
    let mut first = model.stream(hello());
    let waits = |event: &ModelEvent| match event {
        ModelEvent::RateLimited { until } => Some(until.since(clock())),
        _ => None,
    };
    let told = first.next().await.expect("an event").expect("no error");
    let wait = waits(&told).expect("the wait is shown first");
    assert!(wait >= Duration::from_millis(300) && wait < Duration::from_millis(500), "{wait:?}");

    let others = futures::future::join_all((0..4).map(|_| ask(&model, hello())));
    let (first, others) = tokio::join!(first.collect::<Vec<_>>(), others);
    assert!(matches!(first.last(), Some(Ok(ModelEvent::Finished(answer))) if answer.text == "ok"));
    for told in &others {
        assert_eq!(told.answer().text, "ok");
        assert!(told.events.first().and_then(waits).is_some(), "each of them shows the wait");
    }
    let seen = fake.requests();
    assert_eq!(seen.len(), 6, "one that was refused, five that were answered");
    for late in &seen[1..] {
        assert!(late.at.duration_since(seen[0].at) >= Duration::from_millis(400), "came back too early");
    }
}

#[tokio::test]
async fn retry_after_in_milliseconds_is_honoured() {
    let (told, fake) = ask_with(vec![limited("retry-after-ms", "150"), Reply::text("ok")]).await;
    assert_eq!(told.answer().text, "ok");
    let seen = fake.requests();
    assert!(seen[1].at.duration_since(seen[0].at) >= Duration::from_millis(150));
}

#[tokio::test]
async fn a_wait_beyond_reason_ends_the_call_and_later_ones_without_asking() {
    let fake = Fake::start(vec![limited("retry-after", "86400"), Reply::text("ok")]).await;
    let model = model(&fake);
    let told = ask(&model, hello()).await;
    assert!(matches!(told.error(), ModelError::Exhausted { retry_after: Some(wait), .. } if wait.as_secs() == 86400), "{:?}", told.error());
    let again = ask(&model, hello()).await;
    assert!(matches!(again.error(), ModelError::Exhausted { retry_after: Some(_), .. }));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_used_up_quota_is_not_tried_again() {
    for body in [
        json!({ "error": { "message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota" } }),
        json!({ "error": { "message": "You exceeded your current quota, please check your plan" } }),
    ] {
        let (told, fake) = ask_with(vec![Reply::json(429, &body)]).await;
        assert!(matches!(told.error(), ModelError::Exhausted { retry_after: None, .. }), "{:?}", told.error());
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn tries_are_bounded_and_each_one_is_told() {
    let fake = Fake::start(vec![Reply::raw(502, "text/html", "<html><h1>502 Bad Gateway</h1></html>")]).await;
    let told = ask(&model(&fake), hello()).await;
    assert_eq!(fake.requests().len(), 5);
    let attempts: Vec<u32> =
        told.events.iter().filter_map(|e| if let ModelEvent::Retrying { attempt, .. } = e { Some(*attempt) } else { None }).collect();
    assert_eq!(attempts, [2, 3, 4, 5]);
    assert!(matches!(told.error(), ModelError::Status { status: 502, message } if message == "502 Bad Gateway"), "{:?}", told.error());
    let fake = Fake::start(vec![limited("x", "y")]).await;
    let told = ask(&model(&fake), hello()).await;
    assert!(matches!(told.error(), ModelError::Exhausted { .. }));
    assert_eq!(fake.requests().len(), 5);
}

#[tokio::test]
async fn faults_that_pass_are_tried_again_and_others_are_not() {
    for status in [408, 409, 500, 503, 529] {
        let (told, _) = ask_with(vec![Reply::raw(status, "text/plain", ""), Reply::text("ok")]).await;
        assert_eq!(told.answer().text, "ok", "{status}");
    }
    for status in [400, 402, 404, 405, 422] {
        let (told, fake) = ask_with(vec![Reply::json(status, &json!({ "detail": "no" })), Reply::text("ok")]).await;
        assert!(told.error().to_string().contains("no"), "{status}: {}", told.error());
        assert_eq!(fake.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for_beyond_the_usual_tries() {
    let loading = Reply::json(503, &json!({ "error": { "message": "Loading model", "type": "unavailable_error", "code": 503 } }));
    let mut replies = vec![loading; 8];
    replies.push(Reply::text("ok"));
    let (told, fake) = ask_with(replies).await;
    assert_eq!((told.answer().text.as_str(), fake.requests().len()), ("ok", 9));
}

#[tokio::test]
async fn l4_a_full_context_is_recognised_whoever_says_it() {
    let bodies = [
        (
            400,
            json!({ "error": { "message": "This model's maximum context length is 8,192 tokens. However, your messages resulted in 9000 tokens.", "code": "context_length_exceeded" } }),
        ),
        (
            400,
            json!({ "error": { "code": 400, "message": "request (12020 tokens) exceeds the available context size (4096 tokens)", "type": "exceed_context_size_error", "n_ctx": 4096 } }),
        ),
        (400, json!({ "object": "error", "message": "This model's maximum context length is 4096 tokens", "code": 400 })),
        (400, json!({ "error": "input length exceeds maximum context length" })),
        (413, json!({ "error": { "message": "Request too large" } })),
        (500, json!({ "error": { "message": "the prompt is too long for the context window" } })),
    ];
    for (status, body) in bodies {
        let (told, fake) = ask_with(vec![Reply::json(status, &body), Reply::text("ok")]).await;
        assert!(matches!(told.error(), ModelError::ContextOverflow { .. }), "{body}: {:?}", told.error());
        assert_eq!(fake.requests().len(), 1);
    }
}

#[tokio::test]
async fn the_size_of_the_context_is_learnt_from_the_error_unless_it_is_set() {
    let body = json!({ "error": { "message": "This model's maximum context length is 8,192 tokens.", "code": "context_length_exceeded" } });
    let fake = Fake::start(vec![Reply::json(400, &body)]).await;
    let learning = model(&fake);
    assert_eq!(learning.context_window("m"), None);
    ask(&learning, hello()).await;
    assert_eq!((learning.context_window("m"), learning.context_window("other")), (Some(8192), None));
    let windows = [("m".to_owned(), 1000)].into();
    let told = OpenAiModel::new(OpenAiSettings { windows, ..settings(&fake) }, clock).unwrap();
    ask(&told, hello()).await;
    assert_eq!(told.context_window("m"), Some(1000));
}

#[test]
fn the_gate_is_never_shortened_and_opens_by_itself() {
    let gate = Gate::default();
    let now = Instant::now();
    assert_eq!(gate.wait("m", now), None);
    gate.park(now + Duration::from_secs(7));
    gate.park(now + Duration::from_secs(2));
    assert_eq!(gate.wait("m", now), Some(Duration::from_secs(7)));
    assert_eq!(gate.wait("m", now + Duration::from_secs(3)), Some(Duration::from_secs(4)));
    assert_eq!(gate.wait("m", now + Duration::from_secs(7)), None);
}

#[test]
fn a_model_that_is_used_up_parks_nobody_who_asks_another() {
    let gate = Gate::default();
    let now = Instant::now();
    gate.park_model("big", now + Duration::from_secs(3600));
    assert_eq!((gate.wait("big", now), gate.wait("small", now)), (Some(Duration::from_secs(3600)), None));
    gate.park(now + Duration::from_secs(5));
    assert_eq!(gate.wait("small", now), Some(Duration::from_secs(5)));
    assert_eq!(gate.wait("big", now + Duration::from_secs(3601)), None);
}

#[tokio::test]
async fn after_a_wait_beyond_reason_a_fallback_model_of_the_same_provider_is_asked() {
    let used_up = Reply::error(429, "quota").header("retry-after", "7200");
    let fake = Fake::start(vec![used_up, Reply::text("ok")]).await;
    let model = model(&fake);
    assert!(matches!(ask(&model, hello()).await.error(), ModelError::Exhausted { .. }));
    let other = ChatRequest { model: "small".into(), ..hello() };
    assert_eq!(ask(&model, other).await.answer().text, "ok");
    assert!(matches!(ask(&model, hello()).await.error(), ModelError::Exhausted { .. }));
    assert_eq!(fake.requests().len(), 2, "the model that is used up is not asked again");
}

#[test]
fn waits_double_with_jitter_up_to_a_limit() {
    let base = Duration::from_secs(1);
    let upper: Vec<u64> = (1..9).map(|attempt| backoff(base, attempt, 1.0).as_secs()).collect();
    assert_eq!(upper, [1, 2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(backoff(base, 3, 0.0), Duration::from_secs(2));
    assert_eq!(backoff(base, u32::MAX, 1.0), Duration::from_secs(60));
    assert_eq!(spread(Duration::from_secs(2), 1.0), Duration::from_millis(200));
    assert_eq!(spread(Duration::from_secs(100), 0.0), Duration::ZERO);
}

#[test]
fn retry_after_is_read_in_every_form() {
    let read =
        |name: &'static str, value: &'static str| retry_after(move |asked| (asked == name).then_some(value), Timestamp(1_796_083_200_000));
    assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(read("retry-after", " 1.5 "), Some(Duration::from_millis(1500)));
    assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
    assert_eq!(read("retry-after", "Tue, 01 Dec 2026 00:00:09 GMT"), Some(Duration::from_secs(9)));
    for nothing in ["0", "-3", "NaN", "inf", "soon", "Tue, 01 Dec 2026 00:00:00 GMT", "Mon, 30 Nov 2026 00:00:00 GMT", ""] {
        assert_eq!(read("retry-after", nothing), None, "{nothing}");
    }
}
