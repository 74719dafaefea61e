//! What of a conversation goes back to the server.

use super::fake::{Fake, Reply, call, delta, finish};
use super::{ask, clock, hello, model, request, settings};
use serde_json::{Value, json};
use signoff::domain::conversation::AssistantAnswer;
use signoff::domain::{CallId, ChatMessage, ToolCall};
use signoff::llm::ModelEvent;
use signoff::llm::provider::{OpenAiModel, OpenAiSettings, SendReasoning, normalise_base};

fn call_of(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: "bash".into(), arguments: arguments.into() }
}

fn after(answer: &AssistantAnswer) -> Vec<ChatMessage> {
    let said = ChatMessage::Assistant { text: answer.text.clone(), reasoning: answer.reasoning.clone(), calls: answer.calls.clone() };
    let results =
        answer.calls.iter().map(|c| ChatMessage::Tool { call_id: c.id.clone(), name: c.name.clone(), content: "ok".into(), ok: true });
    [ChatMessage::user("go"), said].into_iter().chain(results).collect()
}

async fn sent(messages: Vec<ChatMessage>) -> Vec<Value> {
    let fake = Fake::start(vec![Reply::text("ok")]).await;
    ask(&model(&fake), request(messages)).await;
    fake.requests()[0].messages().clone()
}

#[tokio::test]
async fn a_conversation_is_sent_in_the_form_that_servers_know() {
    let messages = vec![
        ChatMessage::System { text: "Be brief.".into() },
        ChatMessage::user("go"),
        ChatMessage::Assistant { text: String::new(), reasoning: None, calls: vec![call_of("a", "{\"command\":\"ls\"}")] },
        ChatMessage::Tool { call_id: CallId::new("a"), name: "bash".into(), content: "x".into(), ok: false },
        ChatMessage::Assistant { text: String::new(), reasoning: Some("hm".into()), calls: vec![] },
        ChatMessage::Assistant { text: "done".into(), reasoning: Some("hm".into()), calls: vec![] },
    ];
    let call = json!({ "id": "a", "type": "function", "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } });
    let wanted = vec![
        json!({ "role": "system", "content": "Be brief." }),
        json!({ "role": "user", "content": "go" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call] }),
        json!({ "role": "tool", "tool_call_id": "a", "content": "x" }),
        json!({ "role": "assistant", "content": "done" }),
    ];
    assert_eq!(sent(messages).await, wanted, "an answer of nothing is not sent, nor an empty list of calls");
}

#[tokio::test]
async fn p20_broken_arguments_never_go_back_as_they_were() {
    let calls = vec![call_of("a", "{\"command\":"), call_of("b", ""), call_of("c", "None")];
    let sent = sent(vec![ChatMessage::Assistant { text: String::new(), reasoning: None, calls }]).await;
    for call in sent[0]["tool_calls"].as_array().unwrap() {
        let text = call["function"]["arguments"].as_str().unwrap();
        assert!(serde_json::from_str::<Value>(text).unwrap().is_object(), "{text}");
    }
}

#[tokio::test]
async fn p16_reasoning_that_came_with_a_call_goes_back_under_its_own_name() {
    for field in ["reasoning_content", "reasoning"] {
        let turn = Reply::chunks(&[
            delta(json!({ field: "hm" })),
            call(json!({ "index": 0, "id": "a", "function": { "name": "bash", "arguments": "{}" } })),
            finish("tool_calls"),
        ]);
        let fake = Fake::start(vec![turn, Reply::text("ok")]).await;
        let model = model(&fake);
        let first = ask(&model, hello()).await;
        assert!(first.events.contains(&ModelEvent::Reasoning("hm".into())));
        ask(&model, request(after(first.answer()))).await;
        assert_eq!(fake.requests()[1].messages()[1][field], "hm");
        assert_eq!(first.answer().calls[0].id, CallId::new("a"));
    }
}

#[tokio::test]
async fn p16_a_server_that_asks_for_reasoning_or_rejects_it_is_believed() {
    let history = |reasoning: Option<&str>| {
        request(vec![
            ChatMessage::user("go"),
            ChatMessage::Assistant { text: String::new(), reasoning: reasoning.map(str::to_owned), calls: vec![call_of("a", "{}")] },
            ChatMessage::Tool { call_id: CallId::new("a"), name: "bash".into(), content: "ok".into(), ok: true },
        ])
    };
    let missing = Reply::error(400, "Missing `reasoning_content` field in the assistant message at message index 1");
    let fake = Fake::start(vec![missing, Reply::text("ok")]).await;
    let told = ask(&model(&fake), history(None)).await;
    assert!(told.events.iter().any(|event| matches!(event, ModelEvent::Adapted { .. })));
    let seen = fake.requests();
    assert_eq!((seen[0].messages()[1].get("reasoning_content"), &seen[1].messages()[1]["reasoning_content"]), (None, &json!("")));

    let rejected = || Reply::error(400, "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported");
    let received = Reply::chunks(&[delta(json!({ "reasoning_content": "hm" })), finish("stop")]);
    let fake = Fake::start(vec![received, rejected(), Reply::text("ok")]).await;
    let model = model(&fake);
    ask(&model, hello()).await;
    assert_eq!(ask(&model, history(Some("hm"))).await.answer().text, "ok");
    let seen = fake.requests();
    assert_eq!((&seen[1].messages()[1]["reasoning_content"], seen[2].messages()[1].get("reasoning_content")), (&json!("hm"), None));

    let fake = Fake::start(vec![rejected(), Reply::text("ok")]).await;
    let insist = OpenAiSettings { send_reasoning: SendReasoning::Always, ..settings(&fake) };
    let told = ask(&OpenAiModel::new(insist, clock).unwrap(), history(Some("hm"))).await;
    assert!(told.result.is_err(), "what the settings insist on is not dropped");
}

#[tokio::test]
async fn p16_the_setting_overrules() {
    let history =
        || request(after(&AssistantAnswer { reasoning: Some("hm".into()), calls: vec![call_of("a", "{}")], ..AssistantAnswer::default() }));
    for (setting, wanted) in [(SendReasoning::Always, Some("hm")), (SendReasoning::Never, None), (SendReasoning::Auto, None)] {
        let fake = Fake::start(vec![Reply::text("ok")]).await;
        let settings = OpenAiSettings { send_reasoning: setting, ..settings(&fake) };
        ask(&OpenAiModel::new(settings, clock).unwrap(), history()).await;
        let sent = fake.requests()[0].messages()[1].get("reasoning_content").cloned();
        assert_eq!(sent, wanted.map(Value::from), "{setting:?}");
    }
}

#[test]
fn base_urls_are_taken_as_people_write_them() {
    let same = [
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        (" api.openai.com ", "https://api.openai.com/v1"),
        ("localhost:11434", "http://localhost:11434/v1"),
        ("127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        ("http://[::1]:8080//", "http://[::1]:8080/v1"),
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("https://x.example/v1?api-version=3#top", "https://x.example/v1?api-version=3"),
    ];
    for (raw, wanted) in same {
        assert_eq!(normalise_base(raw).unwrap(), wanted, "{raw}");
    }
    for raw in ["", "ftp://x", "http://", "https://user:pw@x.example", "not a host"] {
        assert!(normalise_base(raw).is_err(), "{raw}");
    }
}

#[tokio::test]
async fn a_query_of_the_base_url_stays_behind_the_path() {
    let fake = Fake::start(vec![Reply::text("ok")]).await;
    let settings = OpenAiSettings { base_url: format!("{}?api-version=3", fake.base()), ..settings(&fake) };
    ask(&OpenAiModel::new(settings, clock).unwrap(), hello()).await;
    assert_eq!(fake.requests()[0].line, "POST /v1/chat/completions?api-version=3");
}
