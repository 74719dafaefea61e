//! What can go wrong with one attempt of a model call, and what to do about it: the one fault taxonomy of this room.
//!
//! Pure. Deliberately absent: waiting (see `gate`), fields that a server rejects (see `compat`).

use super::ModelError;
use crate::domain::text::one_line;
use serde_json::Value;
use std::time::Duration;

/// Longest text of a server's error that is passed on, in characters.
pub const MESSAGE_MAX: usize = 500;

/// A fault of one attempt.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The server answered with an error status.
    #[error("the provider answered {status}: {}", body.message)]
    Http { status: u16, body: Box<ErrorBody>, retry_after: Option<Duration> },
    /// The stream carried an error object.
    #[error("the provider reported an error in its answer: {}", .0.message)]
    InStream(Box<ErrorBody>),
    /// No connection, or it broke before the answer was whole.
    #[error("{0}")]
    Connection(String),
    /// Nothing came for too long.
    #[error("{what} for {} s", after.as_secs())]
    TimedOut { what: &'static str, after: Duration },
    /// An answer that is no answer: trying again would not help.
    #[error("{0}")]
    Malformed(String),
}

/// What a fault asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// 429: everybody waits; the server's own time where it told one.
    Park(Option<Duration>),
    /// Try again; the server's own time where it told one.
    Retry(Option<Duration>),
    /// Give up.
    Fail(ModelError),
}

/// An error as a server describes it, in whatever shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// In words: one line, sanitised, at most [`MESSAGE_MAX`] characters.
    pub message: String,
    /// `code`, as text.
    pub code: String,
    /// `type`.
    pub kind: String,
    /// `param`: the field that is rejected.
    pub param: String,
    /// A status inside the body.
    pub status: Option<u16>,
    /// The size of the model's context, where the error tells it (llama.cpp's `n_ctx`).
    pub window: Option<u64>,
}

impl ErrorBody {
    /// Reads an error answer: JSON of several shapes, HTML, plain text or nothing.
    pub fn read(bytes: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
            return Self::from_value(&value);
        }
        let text = String::from_utf8_lossy(bytes);
        Self { message: one_line(&without_tags(&text), MESSAGE_MAX), ..Self::default() }
    }

    /// Reads `{"error":{…}}`, `{"error":"…"}`, `{"message":…}`, `{"detail":…}` and lists of one of them.
    pub fn from_value(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
        let code = text_of(error.get("code").or_else(|| value.get("code")));
        let status = [error.get("status"), error.get("status_code"), error.get("code"), value.get("code")];
        let status = status.into_iter().flatten().find_map(number).and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n));
        let message = message_of(error).or_else(|| message_of(value)).unwrap_or_default();
        let window = error.get("n_ctx").and_then(number).or_else(|| window_in(&message));
        Self {
            message: one_line(&message, MESSAGE_MAX),
            code,
            kind: text_of(error.get("type").or_else(|| error.get("status").filter(|s| s.is_string()))),
            param: text_of(error.get("param")),
            status,
            window,
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        let text = format!("{} {} {}", self.message, self.code, self.kind).to_ascii_lowercase();
        words.iter().any(|word| text.contains(word))
    }

    /// Whether the conversation was too long for the model.
    pub fn is_context_overflow(&self) -> bool {
        self.says(&[
            "context_length_exceeded",
            "exceed_context_size",
            "context length",
            "context size",
            "context window",
            "maximum prompt length",
            "max_model_len",
            "too many tokens",
            "prompt is too long",
            "input is too long",
            "prompt too long",
            "reduce the length of",
            "input length exceeds",
            "input token count",
        ])
    }

    /// Whether the account is used up: waiting does not help.
    pub fn is_quota(&self) -> bool {
        let named =
            self.says(&["insufficient_quota", "billing_hard_limit", "billing_not_active", "insufficient balance", "credit balance"]);
        named || (self.says(&["exceeded your current quota"]) && !self.says(&["resource_exhausted", "retry in", "try again in"]))
    }
}

impl Fault {
    /// What the server said, where it said something.
    pub fn body(&self) -> Option<&ErrorBody> {
        match self {
            Self::Http { body, .. } | Self::InStream(body) => Some(body),
            Self::Connection(_) | Self::TimedOut { .. } | Self::Malformed(_) => None,
        }
    }

    /// The status, from the head or from the body.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Http { status, .. } => Some(*status),
            Self::InStream(body) => body.status,
            Self::Connection(_) | Self::TimedOut { .. } | Self::Malformed(_) => None,
        }
    }

    /// What to do about it, as long as nothing of the answer has been shown.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Http { status, body, retry_after } => http_remedy(*status, body, *retry_after),
            Self::InStream(body) => match body.status {
                Some(status) => http_remedy(status, body, None),
                None if body.is_context_overflow() => Remedy::Fail(self.error()),
                None if body.is_quota() => Remedy::Fail(self.error()),
                None if body.says(&["rate limit", "rate_limit", "too many requests"]) => Remedy::Park(None),
                None if body.says(&["invalid_request", "invalid request", "bad request"]) => Remedy::Fail(self.error()),
                None => Remedy::Retry(None),
            },
            Self::Connection(_) | Self::TimedOut { .. } => Remedy::Retry(None),
            Self::Malformed(_) => Remedy::Fail(self.error()),
        }
    }

    /// The fault as the caller sees it when nothing more is tried.
    pub fn error(&self) -> ModelError {
        match self {
            Self::Http { status, body, retry_after } => http_error(*status, body, *retry_after),
            Self::InStream(body) => match body.status {
                Some(status) => http_error(status, body, None),
                None if body.is_context_overflow() => ModelError::ContextOverflow { message: body.message.clone() },
                None if body.is_quota() => ModelError::Exhausted { message: body.message.clone(), retry_after: None },
                None => ModelError::Malformed(format!("it ended with an error: {}", body.message)),
            },
            Self::Connection(text) => ModelError::Connection(text.clone()),
            Self::TimedOut { what, after } => ModelError::TimedOut { what, after: *after },
            Self::Malformed(text) => ModelError::Malformed(text.clone()),
        }
    }
}

fn http_remedy(status: u16, body: &ErrorBody, retry_after: Option<Duration>) -> Remedy {
    let fail = || Remedy::Fail(http_error(status, body, retry_after));
    match status {
        401..=403 => fail(),
        _ if body.is_context_overflow() => fail(),
        429 if body.is_quota() => fail(),
        429 => Remedy::Park(retry_after),
        408 | 409 | 425 | 500..=599 => Remedy::Retry(retry_after),
        _ => fail(),
    }
}

fn http_error(status: u16, body: &ErrorBody, retry_after: Option<Duration>) -> ModelError {
    let message = body.message.clone();
    match status {
        401 | 403 => ModelError::Unauthorized { status, message },
        402 => ModelError::Exhausted { message, retry_after: None },
        413 => ModelError::ContextOverflow { message },
        _ if body.is_context_overflow() => ModelError::ContextOverflow { message },
        429 => ModelError::Exhausted { message, retry_after },
        _ => ModelError::Status { status, message },
    }
}

fn message_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => {
            let found = ["message", "msg", "detail", "error_message", "error"].iter().find_map(|key| map.get(*key).and_then(message_of));
            match (found, map.get("loc").and_then(Value::as_array)) {
                (Some(text), Some(path)) => {
                    let path: Vec<String> = path.iter().map(|part| text_of(Some(part))).collect();
                    Some(format!("{}: {text}", path.join(".")))
                }
                (found, _) => found,
            }
        }
        Value::Array(list) => {
            let all: Vec<String> = list.iter().take(3).filter_map(message_of).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => String::new(),
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// The number in "maximum context length is 8192 tokens".
fn window_in(message: &str) -> Option<u64> {
    let lower = message.to_ascii_lowercase();
    let rest = lower.split("maximum context length is ").nth(1)?;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|n| *n > 0)
}

/// HTML as words: enough to tell "502 Bad Gateway".
pub(super) fn without_tags(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars().take(20_000) {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                out.push(' ');
            }
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}
