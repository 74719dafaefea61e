//! The models of a server: `GET /models`, whatever shape the list has.

use super::ModelError;
use super::fault::Fault;
use super::http::Endpoint;
use crate::domain::Timestamp;
use serde_json::Value;
use std::time::Duration;

/// How long a list may take.
pub const LIST_TIME: Duration = Duration::from_secs(10);
/// Longest list in bytes (a router's list of 500 models has 1 MB).
const LIST_MAX: usize = 16 << 20;

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelListing {
    /// Its name in requests.
    pub id: String,
    /// Tokens that fit, where the server tells it.
    pub context_window: Option<u64>,
}

/// Asks for the list, within `time`.
pub(super) async fn fetch(endpoint: &Endpoint, time: Duration) -> Result<Vec<ModelListing>, ModelError> {
    let late = |_| ModelError::TimedOut { what: "the provider did not list its models", after: time };
    let bytes = tokio::time::timeout(time, get(endpoint)).await.map_err(late)?.map_err(|fault| fault.error())?;
    let wrong = || ModelError::Malformed(format!("{} does not list models; is base_url right?", endpoint.shown()));
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
    read(&value).ok_or_else(wrong)
}

async fn get(endpoint: &Endpoint) -> Result<Vec<u8>, Fault> {
    let request = endpoint.client.get(endpoint.url("/models")).headers(endpoint.headers());
    let mut response = request.send().await.map_err(|e| endpoint.connection(&e))?;
    if !response.status().is_success() {
        return Err(endpoint.refused(response, Timestamp::default()).await);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| endpoint.connection(&e))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LIST_MAX {
            return Err(Fault::Malformed("the list of models is too long".into()));
        }
    }
    Ok(bytes)
}

/// Reads `{"data":[…]}`, `{"models":[…]}` or a bare list; `None` when it is none of them.
pub fn read(value: &Value) -> Option<Vec<ModelListing>> {
    let list = [value.get("data"), value.get("models"), Some(value)].into_iter().flatten().find_map(Value::as_array);
    // Ollama says `null` where it has no models.
    let Some(list) = list else { return (value.get("object")?.as_str()? == "list").then(Vec::new) };
    Some(list.iter().filter_map(model).collect())
}

fn model(value: &Value) -> Option<ModelListing> {
    let id = ["id", "model", "name"].iter().find_map(|key| value.get(*key)?.as_str()).or_else(|| value.as_str())?;
    let paths = [
        "/loaded_context_length",
        "/meta/n_ctx",
        "/max_model_len",
        "/context_window",
        "/context_length",
        "/max_context_length",
        "/top_provider/context_length",
        "/meta/n_ctx_train",
    ];
    let context_window = paths.iter().find_map(|path| value.pointer(path)?.as_u64()).filter(|n| *n > 0);
    Some(ModelListing { id: id.to_owned(), context_window })
}
