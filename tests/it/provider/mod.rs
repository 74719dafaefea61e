//! The provider room against servers as they are: every test answers from a scripted server on loopback and asserts
//! what came out and what was asked.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod answer;
mod captures;
mod compat;
pub mod fake;
mod history;
mod limits;
mod listing;
mod streams;

use fake::Fake;
use futures::StreamExt as _;
use serde_json::json;
use signoff::domain::conversation::AssistantAnswer;
use signoff::domain::{ChatMessage, MemberName, Timestamp, ToolSpec};
use signoff::llm::provider::{OpenAiModel, OpenAiSettings};
use signoff::llm::{ChatModel as _, ChatRequest, ModelError, ModelEvent};
use std::sync::{Arc, Once};
use std::time::Duration;

/// No test of this module may take longer.
const DEADLINE: Duration = Duration::from_secs(20);

/// 2026-12-01 00:00:00 UTC, for dates in headers.
fn clock() -> Timestamp {
    Timestamp(1_796_083_200_000)
}

fn settings(fake: &Fake) -> OpenAiSettings {
    static TLS: Once = Once::new();
    TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    OpenAiSettings {
        name: "fake".into(),
        base_url: fake.base(),
        backoff: Duration::from_millis(4),
        first_byte_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
        ..OpenAiSettings::default()
    }
}

fn model(fake: &Fake) -> OpenAiModel {
    OpenAiModel::new(settings(fake), clock).unwrap()
}

fn tool(name: &str) -> ToolSpec {
    let path = json!({ "type": "string" });
    ToolSpec {
        name: name.into(),
        description: "A tool.".into(),
        parameters: json!({ "type": "object", "properties": { "path": path, "limit": { "type": "integer" } } }),
    }
}

fn request(messages: Vec<ChatMessage>) -> ChatRequest {
    let tools = vec![tool("read_file"), tool("bash")];
    ChatRequest { member: MemberName::lead(), model: "m".into(), messages: Arc::new(messages), tools: Arc::new(tools) }
}

fn hello() -> ChatRequest {
    request(vec![ChatMessage::System { text: "Be brief.".into() }, ChatMessage::user("hello")])
}

/// Everything that a call told, and how it ended.
struct Told {
    events: Vec<ModelEvent>,
    result: Result<AssistantAnswer, ModelError>,
}

impl Told {
    fn text(&self) -> String {
        self.events.iter().filter_map(|event| if let ModelEvent::Text(text) = event { Some(text.as_str()) } else { None }).collect()
    }

    fn answer(&self) -> &AssistantAnswer {
        self.result.as_ref().unwrap()
    }

    fn error(&self) -> &ModelError {
        self.result.as_ref().unwrap_err()
    }

    fn count(&self, wanted: fn(&ModelEvent) -> bool) -> usize {
        self.events.iter().filter(|event| wanted(event)).count()
    }
}

async fn ask(model: &OpenAiModel, request: ChatRequest) -> Told {
    let mut stream = model.stream(request);
    let mut events = Vec::new();
    let gather = async {
        while let Some(event) = stream.next().await {
            match event {
                Ok(ModelEvent::Finished(answer)) => return Ok(answer),
                Ok(event) => events.push(event),
                Err(error) => return Err(error),
            }
        }
        panic!("the stream ended without an end");
    };
    let result = tokio::time::timeout(DEADLINE, gather).await.expect("the call ends in time");
    assert!(tokio::time::timeout(DEADLINE, stream.next()).await.expect("nothing follows").is_none(), "events after the end");
    Told { events, result }
}

/// One call to a server that gives `replies` one after the other.
async fn ask_with(replies: Vec<fake::Reply>) -> (Told, Fake) {
    let fake = Fake::start(replies).await;
    let told = ask(&model(&fake), hello()).await;
    (told, fake)
}
