//! Looks for model servers on this machine: asked all at once, with a short time-out, without any key.

use super::http::Endpoint;
use super::listing::{self, ModelListing};
use super::settings::OpenAiSettings;
use std::time::Duration;

/// Where a server may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What it is called.
    pub name: String,
    /// Its address.
    pub base_url: String,
}

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it is called.
    pub name: String,
    /// Its address, normalised.
    pub base_url: String,
    /// Its models; empty when it runs without any.
    pub models: Vec<ModelListing>,
}

/// How long a server on this machine may take to answer.
pub const PROBE_TIME: Duration = Duration::from_millis(600);

/// The usual servers at their usual ports.
pub fn usual_candidates() -> Vec<Candidate> {
    let usual = [("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080)];
    usual.into_iter().map(|(name, port)| Candidate { name: name.into(), base_url: format!("http://127.0.0.1:{port}/v1") }).collect()
}

/// The candidates that answer with a list of models within `time`, in the order asked for. Anything else that listens
/// there is passed over.
pub async fn discover(candidates: Vec<Candidate>, time: Duration) -> Vec<Found> {
    let probes = candidates.into_iter().map(|candidate| probe(candidate, time));
    futures::future::join_all(probes).await.into_iter().flatten().collect()
}

async fn probe(candidate: Candidate, time: Duration) -> Option<Found> {
    let settings =
        OpenAiSettings { name: candidate.name, base_url: candidate.base_url, connect_timeout: time, ..OpenAiSettings::default() };
    let endpoint = Endpoint::new(&settings).ok()?;
    let models = listing::fetch(&endpoint, time).await.ok()?;
    Some(Found { name: settings.name, base_url: endpoint.shown(), models })
}
