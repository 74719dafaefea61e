//! Lists of models, and servers on this machine.

use super::fake::{Fake, Reply};
use super::settings;
use serde_json::json;
use signoff::llm::discover::{Candidate, discover, usual_candidates};
use signoff::llm::listing::{ModelListing, read};
use signoff::llm::provider::models;
use signoff::llm::{ChatModel as _, ModelError};
use std::time::Duration;

fn listed(id: &str, context_window: Option<u64>) -> ModelListing {
    ModelListing { id: id.into(), context_window }
}

#[test]
fn lists_of_every_shape_are_read_with_their_windows() {
    let list = json!({ "object": "list", "data": [
        { "id": "openai" },
        { "id": "vllm", "max_model_len": 32768 },
        { "id": "openrouter", "context_length": 200000 },
        { "id": "groq", "context_window": 131072 },
        { "id": "lmstudio", "max_context_length": 32768, "loaded_context_length": 4096 },
        { "id": "llamacpp", "meta": { "n_ctx": 4096, "n_ctx_train": 32768 } },
        { "nothing": 1 },
    ] });
    let windows: Vec<_> = read(&list).unwrap().into_iter().map(|model| model.context_window).collect();
    assert_eq!(windows, [None, Some(32768), Some(200_000), Some(131_072), Some(4096), Some(4096)]);
    assert_eq!(read(&json!({ "models": [{ "name": "a" }] })), Some(vec![listed("a", None)]));
    assert_eq!(read(&json!([{ "id": "a" }, "b"])), Some(vec![listed("a", None), listed("b", None)]));
    assert_eq!(read(&json!({ "object": "list", "data": null })), Some(vec![]));
    assert_eq!(read(&json!({ "status": "ok" })), None);
}

#[tokio::test]
async fn models_are_listed_and_their_windows_remembered() {
    let fake = Fake::start(vec![Reply::recorded("llamacpp-models")]).await;
    let model = super::model(&fake);
    assert_eq!(model.models().await.unwrap(), [listed("qwen2.5-coder-0.5b", Some(4096))]);
    assert_eq!(model.context_window("qwen2.5-coder-0.5b"), Some(4096));
    assert_eq!(fake.requests()[0].line, "GET /v1/models");
    let fake = Fake::start(vec![Reply::error(401, "no")]).await;
    assert!(matches!(models(&settings(&fake)).await, Err(ModelError::Unauthorized { status: 401, .. })));
    let fake = Fake::start(vec![Reply::raw(200, "text/html", "<html>")]).await;
    assert!(matches!(models(&settings(&fake)).await, Err(ModelError::Malformed(_))));
}

#[tokio::test]
async fn servers_on_this_machine_are_found_and_others_passed_over() {
    let good = Fake::start(vec![Reply::json(200, &json!({ "object": "list", "data": [{ "id": "m" }] }))]).await;
    let web = Fake::start(vec![Reply::raw(200, "text/html", "<html>hello</html>")]).await;
    let mute = Fake::start(vec![Reply::silence()]).await;
    let gone = Fake::start(vec![Reply::silence()]).await;
    let _ = settings(&good);
    let at = |name: &str, base: String| Candidate { name: name.into(), base_url: base };
    let mut candidates = vec![at("web", web.base()), at("mute", mute.base()), at("gone", gone.base()), at("good", good.base())];
    candidates.push(at("odd", "ftp://x".into()));
    drop(gone);
    let found = discover(candidates, Duration::from_millis(300)).await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].name.as_str(), found[0].base_url.clone()), ("good", good.base()));
    assert_eq!(found[0].models, [listed("m", None)]);
    assert_eq!(good.requests()[0].header("authorization"), None);
    let ports: Vec<String> = usual_candidates().into_iter().map(|candidate| candidate.base_url).collect();
    assert_eq!(ports, ["http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1"]);
}
