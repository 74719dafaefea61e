//! The HTTP side of a provider: client, headers with the key, addresses, words for errors.
//!
//! Deliberately absent: async-openai (see `openai`), tries and waits (see `call`).

use super::base::{is_loopback, normalise_base};
use super::fault::{ErrorBody, Fault};
use super::settings::OpenAiSettings;
use super::{ModelError, gate};
use crate::domain::Timestamp;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use std::error::Error as _;
use std::time::Duration;

/// Longest error body that is read, in bytes.
const ERROR_BODY_MAX: usize = 64 << 10;
/// Longest time for reading an error body.
const ERROR_BODY_TIME: Duration = Duration::from_secs(5);
/// Shorter secrets are no secrets, and hiding them would blank out ordinary words.
const SECRET_MIN: usize = 6;

/// Where a provider is and how it is asked. No `Debug`: it holds the key.
pub(super) struct Endpoint {
    pub(super) client: reqwest::Client,
    base: Url,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
}

impl Endpoint {
    pub(super) fn new(settings: &OpenAiSettings) -> Result<Self, ModelError> {
        let base = normalise_base(&settings.base_url)?;
        let base = Url::parse(&base).map_err(|e| ModelError::Setup(format!("base_url: {e}")))?;
        let headers = headers(settings)?;
        let secrets = settings.api_key.iter().chain(settings.headers.values()).cloned().collect();
        Ok(Self { client: client(settings, &base)?, base, headers, secrets })
    }

    pub(super) fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    /// The base URL's path plus `path`, with the base URL's query.
    pub(super) fn url(&self, path: &str) -> String {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.to_string()
    }

    /// The address without its query, for people.
    pub(super) fn shown(&self) -> String {
        let mut url = self.base.clone();
        url.set_query(None);
        url.to_string()
    }

    /// `text` with every secret of this provider taken out: some servers repeat the key in their errors.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(|secret| secret.expose_secret().trim()).filter(|secret| secret.len() >= SECRET_MIN);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, "[secret]"))
    }

    /// A request that failed below HTTP.
    pub(super) fn connection(&self, error: &reqwest::Error) -> Fault {
        Fault::Connection(self.redact(&format!("{}: {}", self.shown(), reason(error))))
    }

    /// An answer with an error status.
    pub(super) async fn refused(&self, response: reqwest::Response, now: Timestamp) -> Fault {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let retry_after = gate::retry_after(header, now);
        let mut body = Box::new(ErrorBody::read(&read_up_to(response).await));
        if let (300..=399, Some(to)) = (status, header("location")) {
            body.message = format!("it redirects to {}; set that as base_url", crate::domain::text::one_line(to, 200));
        }
        if body.message.is_empty() {
            let reason = reqwest::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("no reason given");
            body.message = reason.to_ascii_lowercase();
        }
        if status == 404 {
            body.message = format!("{} (asked at {})", body.message, self.shown());
        }
        body.message = self.redact(&body.message);
        Fault::Http { status, body, retry_after }
    }
}

fn client(settings: &OpenAiSettings, base: &Url) -> Result<reqwest::Client, ModelError> {
    // reqwest panics without one.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        return Err(ModelError::Setup("no TLS provider is installed; the program has to install one at its start".into()));
    }
    // A redirect would carry the conversation to another server than the one that was configured.
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).connect_timeout(settings.connect_timeout);
    let builder = if is_loopback(base) { builder.no_proxy() } else { builder };
    builder.build().map_err(|e| ModelError::Setup(format!("cannot set up HTTP: {}", reason(&e))))
}

fn headers(settings: &OpenAiSettings) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = settings.api_key.as_ref().filter(|key| !key.expose_secret().is_empty()) {
        let value = secret_value(&format!("Bearer {}", key.expose_secret()), "the API key")?;
        headers.insert(AUTHORIZATION, value);
    }
    for (name, value) in &settings.headers {
        let named = HeaderName::try_from(name.as_str());
        let named = named.map_err(|_| ModelError::Setup(format!("{name:?} is no name of an HTTP header")))?;
        headers.insert(named, secret_value(value.expose_secret(), &format!("header {name}"))?);
    }
    Ok(headers)
}

fn secret_value(text: &str, what: &str) -> Result<HeaderValue, ModelError> {
    let fault = if text.contains(['\n', '\r']) { "a line break" } else { "characters that cannot be sent" };
    let value = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
    let mut value = value.ok_or_else(|| ModelError::Setup(format!("{what} of the provider holds {fault}; store it without")))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn read_up_to(mut response: reqwest::Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= ERROR_BODY_MAX {
                break;
            }
        }
    };
    // Half of an error's body is better than none.
    let _ = tokio::time::timeout(ERROR_BODY_TIME, read).await;
    bytes
}

/// The innermost reason of an error, without the address (its query may hold a key).
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut source = error.source();
    let mut text = None;
    while let Some(inner) = source {
        text = Some(inner.to_string());
        source = inner.source();
    }
    let timed_out = error.is_timeout().then(|| "no connection in time".to_owned());
    let kind = if error.is_connect() { "cannot connect" } else { "the connection broke" };
    timed_out.or(text).map_or_else(|| kind.to_owned(), |text| format!("{kind}: {text}"))
}
