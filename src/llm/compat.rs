//! What was learnt about servers that reject a field or a role by name: tried once more without it, and remembered for
//! that provider and model as long as the process lives.
//!
//! Pure apart from the lock around the memory.

use super::fault::Fault;
use super::settings::SystemRole;
use super::wire::REASONING_FIELDS;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// How requests to one model differ from the plain form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compat {
    /// Fields of the request's body that are left out.
    pub dropped: BTreeSet<String>,
    /// The field for the answer's token limit is sent under its other name.
    pub swap_limit: bool,
    /// The role of standing instructions, where another one was rejected.
    pub system_role: Option<SystemRole>,
    /// Tools are described in the instructions and called by text.
    pub tools_by_text: bool,
    /// User messages that follow each other are sent as one.
    pub alternate: bool,
    /// Whether reasoning goes back with tool calls.
    pub reasoning: ReasoningRule,
    /// The field in which this model sends reasoning.
    pub reasoning_field: Option<&'static str>,
}

/// What a server wants of reasoning in history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningRule {
    /// It said nothing: sent back where it was received.
    #[default]
    Unknown,
    /// It asked for it.
    Required,
    /// It rejected it.
    Rejected,
}

const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

impl Compat {
    /// What to change after `fault`, an answer to `body`, in words; `None` when the fault names nothing that we can change.
    pub fn learn(&mut self, fault: &Fault, body: &Value) -> Option<String> {
        let told = fault.body()?;
        let text = format!("{} {}", told.message, told.param);
        let status = fault.status().unwrap_or(400);
        if matches!(status, 400 | 404 | 422 | 500 | 501) && body.get("tools").is_some() && rejects_tools(&text) {
            self.tools_by_text = true;
            return Some("tools described as text: the server takes none for this model".into());
        }
        let refused = matches!(status, 400 | 422) || (status == 500 && text.contains("alternate"));
        if !refused {
            return None;
        }
        // A limit that is larger than the context is our field's fault, any other overflow is the conversation's.
        if told.is_context_overflow() && !text.contains("too large") {
            return None;
        }
        self.learn_reasoning(&text, body).or_else(|| self.learn_role(&text, body)).or_else(|| self.learn_field(&text, body))
    }

    fn learn_reasoning(&mut self, text: &str, body: &Value) -> Option<String> {
        let named = names(text, "reasoning_content") || (names(text, "reasoning") && text.contains("messages"));
        if !named {
            return None;
        }
        let sent = messages(body).any(|message| REASONING_FIELDS.iter().any(|field| message.get(*field).is_some()));
        let (rule, what) = if sent {
            (ReasoningRule::Rejected, "without reasoning sent back")
        } else {
            (ReasoningRule::Required, "with reasoning sent back")
        };
        (self.reasoning != rule).then(|| {
            self.reasoning = rule;
            what.to_owned()
        })
    }

    fn learn_role(&mut self, text: &str, body: &Value) -> Option<String> {
        let lower = text.to_ascii_lowercase();
        if lower.contains("alternate") && lower.contains("role") && !self.alternate {
            self.alternate = true;
            // Templates that insist on alternation know no system role either.
            self.system_role = Some(SystemRole::User);
            return Some("with user and assistant taking turns".into());
        }
        let role = messages(body).next()?.get("role")?.as_str()?.to_owned();
        if !(lower.contains("role") && names(&lower, &role)) {
            return None;
        }
        let next = match role.as_str() {
            "developer" => SystemRole::System,
            "system" => SystemRole::User,
            _ => return None,
        };
        self.system_role = Some(next);
        Some(format!("instructions as {} instead of {role}", next.as_str()))
    }

    fn learn_field(&mut self, text: &str, body: &Value) -> Option<String> {
        let fixed = ["model", "messages", "stream", "tools"];
        let keys = body.as_object()?.keys().filter(|key| !fixed.contains(&key.as_str()));
        let field = keys.filter(|key| names(text, key)).max_by_key(|key| key.len())?.clone();
        match LIMITS.iter().position(|limit| *limit == field) {
            Some(at) if !self.swap_limit && !text.contains("too large") => {
                self.swap_limit = true;
                Some(format!("{} instead of {field}", LIMITS[1 - at]))
            }
            Some(_) => {
                self.dropped.extend(LIMITS.map(str::to_owned));
                Some(format!("without {field}"))
            }
            None => {
                self.dropped.insert(field.clone());
                Some(format!("without {field}"))
            }
        }
    }

    /// The name under which a field of the body is sent; `None` when it is left out.
    pub fn field<'a>(&self, name: &'a str) -> Option<&'a str> {
        if self.dropped.contains(name) {
            return None;
        }
        match LIMITS.iter().position(|limit| *limit == name) {
            Some(at) if self.swap_limit => Some(LIMITS[1 - at]),
            Some(_) | None => Some(name),
        }
    }
}

fn messages(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("messages").and_then(Value::as_array).into_iter().flatten()
}

fn rejects_tools(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let known = [
        "does not support tools",
        "support tool use",
        "support tool calling",
        "does not support function",
        "requires --jinja",
        "enable-auto-tool-choice",
    ];
    let no = ["not supported", "unsupported", "unknown", "unrecognized", "not permitted", "not allowed", "does not support", "unexpected"];
    known.iter().any(|phrase| lower.contains(phrase))
        || (names(&lower, "tools") && !lower.contains("schema") && no.iter().any(|word| lower.contains(word)))
}

/// Whether `word` stands in `text` as a whole word.
fn names(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, found)| {
        let before = text[..at].chars().next_back().is_some_and(part);
        let after = text[at + found.len()..].chars().next().is_some_and(part);
        !before && !after
    })
}

/// What is known about a provider's models.
#[derive(Debug, Default)]
pub struct Book {
    models: Mutex<HashMap<String, Compat>>,
    windows: Mutex<HashMap<String, u64>>,
}

impl Book {
    /// How to send to `model`.
    pub fn get(&self, model: &str) -> Compat {
        self.models.lock().unwrap_or_else(PoisonError::into_inner).get(model).cloned().unwrap_or_default()
    }

    /// Learns from a fault; gives what changes, in words.
    pub fn learn(&self, model: &str, fault: &Fault, body: &Value) -> Option<String> {
        if let Some(window) = fault.body().and_then(|told| told.window) {
            self.set_window(model, window);
        }
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.entry(model.to_owned()).or_default().learn(fault, body)
    }

    /// Remembers the field in which a model sends reasoning.
    pub fn set_reasoning_field(&self, model: &str, field: &'static str) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.entry(model.to_owned()).or_default().reasoning_field = Some(field);
    }

    /// Remembers a context window in tokens.
    pub fn set_window(&self, model: &str, window: u64) {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned(), window);
    }

    /// A context window in tokens, where one was told.
    pub fn window(&self, model: &str) -> Option<u64> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    }
}
