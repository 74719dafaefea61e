//! Chat Completions of any OpenAI-compatible server, over async-openai. The only file that names that crate.
//!
//! async-openai sends the request and reads the events; this file gives it an own configuration (its default one reads
//! keys from the environment), own chunk types, and an own HTTP service that makes clean events of what real servers
//! send. Its retries are not used: see `call`.

use super::body::{self, Ending, Patience, SharedEnding};
use super::fault::Fault;
use super::http::Endpoint;
use super::network::Pulse;
use super::settings::OpenAiSettings;
use super::wire::Chunk;
use crate::domain::Timestamp;
use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// Sends requests to one server.
pub(super) struct Link {
    endpoint: Arc<Endpoint>,
    first_byte: Duration,
    idle: Duration,
    clock: fn() -> Timestamp,
    pulse: Pulse,
}

/// An answer that has begun.
pub(super) struct Answer {
    /// Ends with the body; how it ended stands in `ending`.
    pub(super) chunks: BoxStream<'static, Result<Chunk, String>>,
    /// Written before the chunks end.
    pub(super) ending: SharedEnding,
}

impl Answer {
    pub(super) fn take_ending(&self) -> Ending {
        std::mem::take(&mut self.ending.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Link {
    /// To the server that `endpoint` names. `clock` tells the wall time, for waits that are shown.
    pub(super) fn new(endpoint: Arc<Endpoint>, settings: &OpenAiSettings, clock: fn() -> Timestamp, pulse: Pulse) -> Self {
        Self { endpoint, first_byte: settings.first_byte_timeout, idle: settings.idle_timeout, clock, pulse }
    }

    /// Where it leads to.
    pub(super) fn endpoint(&self) -> Arc<Endpoint> {
        self.endpoint.clone()
    }

    /// One attempt, until the first bytes of a good answer.
    pub(super) async fn open(&self, body: Value) -> Result<Answer, Fault> {
        let ending = SharedEnding::default();
        let patience = Patience { first_by: Instant::now() + self.first_byte, first: self.first_byte, idle: self.idle };
        let service =
            Service { endpoint: self.endpoint.clone(), patience, ending: ending.clone(), clock: self.clock, pulse: self.pulse.clone() };
        let config = Explicit { endpoint: self.endpoint.clone(), base: self.endpoint.shown(), no_key: SecretString::default() };
        let client = Client::build(self.endpoint.client.clone(), config).with_http_service(service);
        let chunks = client.chat().create_stream_byot::<Value, Chunk>(body).await.map_err(|error| self.fault(error))?;
        let chunks = chunks.map(|chunk| chunk.map_err(|error| error.to_string())).boxed();
        Ok(Answer { chunks, ending })
    }

    /// A message of the server without this provider's secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        self.endpoint.redact(text)
    }

    fn fault(&self, error: OpenAIError) -> Fault {
        match error {
            OpenAIError::Boxed(inner) => match inner.downcast::<Fault>() {
                Ok(fault) => *fault,
                Err(other) => Fault::Malformed(self.redact(&other.to_string())),
            },
            OpenAIError::Reqwest(error) => self.endpoint.connection(&error),
            other => Fault::Malformed(self.redact(&other.to_string())),
        }
    }
}

/// Address and headers, and nothing from the environment.
struct Explicit {
    endpoint: Arc<Endpoint>,
    base: String,
    no_key: SecretString,
}

impl Config for Explicit {
    fn headers(&self) -> HeaderMap {
        self.endpoint.headers()
    }

    fn url(&self, path: &str) -> String {
        self.endpoint.url(path)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    // The key is in the headers; nobody asks here.
    fn api_key(&self) -> &SecretString {
        &self.no_key
    }
}

/// The HTTP service of one attempt.
#[derive(Clone)]
struct Service {
    endpoint: Arc<Endpoint>,
    patience: Patience,
    ending: SharedEnding,
    clock: fn() -> Timestamp,
    pulse: Pulse,
}

impl Service {
    async fn send(self, factory: HttpRequestFactory) -> Result<reqwest::Response, OpenAIError> {
        let request = factory.build().await?;
        let response = tokio::time::timeout_at(self.patience.first_by, self.endpoint.client.execute(request)).await;
        let response = response.map_err(|_| boxed(self.patience.first_fault()))?.map_err(|e| boxed(self.endpoint.connection(&e)))?;
        if !response.status().is_success() {
            return Err(boxed(self.endpoint.refused(response, (self.clock)()).await));
        }
        let clean = body::clean(response, self.patience, self.ending, self.pulse).await.map_err(boxed)?;
        let mut events = http::Response::new(reqwest::Body::wrap_stream(clean));
        events.headers_mut().insert(reqwest::header::CONTENT_TYPE, reqwest::header::HeaderValue::from_static("text/event-stream"));
        Ok(events.into())
    }
}

impl tower::Service<HttpRequestFactory> for Service {
    type Response = reqwest::Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<reqwest::Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        self.clone().send(factory).boxed()
    }
}

fn boxed(fault: Fault) -> OpenAIError {
    OpenAIError::Boxed(Box::new(fault))
}
