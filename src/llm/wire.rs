//! Chunks of an answer, read tolerantly: every field may be missing, null or of another type than the specification says.
//!
//! Pure. A whole completion (`message` in place of `delta`) reads as one chunk.

use super::fault::ErrorBody;
use crate::domain::TokenUsage;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The fields under which servers send reasoning, the most common first.
pub const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// What one chunk adds to the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Visible text.
    pub text: String,
    /// Reasoning, and the field it came in.
    pub reasoning: Option<(&'static str, String)>,
    /// Fragments of tool calls.
    pub calls: Vec<CallDelta>,
    /// Why it ended; never blank.
    pub finish: Option<String>,
    /// Tokens so far, where told.
    pub usage: Option<TokenUsage>,
    /// An error instead of an answer.
    pub error: Option<ErrorBody>,
    /// The chunk carries a whole message, not a piece of one.
    pub whole: bool,
}

/// A fragment of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDelta {
    /// Which call; servers number from 0, from 1, or not at all.
    pub index: Option<u64>,
    /// Blank where the server gave none.
    pub id: String,
    /// A name, or a piece of one.
    pub name: String,
    /// A piece of the arguments' JSON text.
    pub arguments: String,
}

impl<'de> Deserialize<'de> for Chunk {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::from_value(&Value::deserialize(d)?))
    }
}

impl Chunk {
    /// Reads a document. Anything unknown is nothing.
    pub fn from_value(value: &Value) -> Self {
        let mut chunk = Self { usage: usage(value), ..Self::default() };
        let choices = value.get("choices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // Several choices were not asked for: only the first one is the answer.
        let choice = choices.iter().find(|c| c.get("index").and_then(Value::as_u64).unwrap_or(0) == 0);
        if let Some(choice) = choice {
            chunk.read_choice(choice);
        }
        let error = value.get("error").or_else(|| choice.and_then(|c| c.get("error"))).filter(|e| is_something(e));
        let bare = value.get("object").and_then(Value::as_str) == Some("error");
        let failed = chunk.finish.as_deref() == Some("error");
        if error.is_some() || bare || failed {
            let body = error.map_or_else(|| ErrorBody::from_value(value), ErrorBody::from_value);
            let message = if body.message.is_empty() { "no reason given".to_owned() } else { body.message };
            chunk.error = Some(ErrorBody { message, ..body });
        }
        chunk
    }

    fn read_choice(&mut self, choice: &Value) {
        self.finish = choice.get("finish_reason").and_then(Value::as_str).map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned);
        let delta = choice.get("delta").filter(|d| d.is_object());
        let Some(part) = delta.or_else(|| choice.get("message").filter(|m| m.is_object())) else {
            self.text = choice.get("text").map(text_of).unwrap_or_default();
            return;
        };
        self.whole = delta.is_none();
        let (text, thought) = content(part.get("content"));
        self.text = text;
        if self.text.is_empty() {
            self.text = part.get("refusal").map(text_of).unwrap_or_default();
        }
        let field =
            REASONING_FIELDS.iter().find_map(|field| Some((*field, text_of(part.get(*field)?))).filter(|(_, text)| !text.is_empty()));
        self.reasoning = field.or_else(|| (!thought.is_empty()).then(|| (REASONING_FIELDS[0], thought)));
        self.calls = part.get("tool_calls").map(calls).unwrap_or_default();
        // llama-cpp-python sends the old form beside the new one.
        if let Some(old) = part.get("function_call").filter(|f| f.is_object() && self.calls.is_empty()) {
            self.calls.push(CallDelta { index: Some(0), ..call(&serde_json::json!({ "function": old })) });
        }
    }
}

fn is_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(map) => map.get("text").or_else(|| map.get("content")).map(text_of).unwrap_or_default(),
        Value::Array(list) => list.iter().map(text_of).collect(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

/// Text and reasoning of a `content`, which is text or a list of typed parts.
fn content(value: Option<&Value>) -> (String, String) {
    let Some(Value::Array(parts)) = value else { return (value.map(text_of).unwrap_or_default(), String::new()) };
    let (mut text, mut thought) = (String::new(), String::new());
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning") => {
                let inner = ["thinking", "reasoning", "text"].iter().find_map(|key| part.get(*key));
                thought.push_str(&inner.map(text_of).unwrap_or_default());
            }
            _ => text.push_str(&text_of(part)),
        }
    }
    (text, thought)
}

fn calls(value: &Value) -> Vec<CallDelta> {
    match value {
        Value::Array(list) => list.iter().filter(|item| item.is_object()).map(call).collect(),
        Value::Object(_) => vec![call(value)],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn call(value: &Value) -> CallDelta {
    let function = value.get("function").filter(|f| f.is_object()).unwrap_or(value);
    let arguments = match function.get("arguments").or_else(|| function.get("parameters")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(object) => object.to_string(),
    };
    CallDelta {
        index: value.get("index").and_then(number),
        id: value.get("id").map(text_of).unwrap_or_default().trim().to_owned(),
        name: function.get("name").map(text_of).unwrap_or_default(),
        arguments,
    }
}

fn number(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64);
    value.as_u64().or_else(float).or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()))
}

fn usage(value: &Value) -> Option<TokenUsage> {
    let told = value.get("usage").or_else(|| value.pointer("/x_groq/usage")).filter(|u| u.is_object());
    let read = |paths: &[&str], from: &Value| paths.iter().find_map(|path| from.pointer(path).and_then(number)).unwrap_or(0);
    let usage = match told {
        Some(told) => {
            let input = read(&["/prompt_tokens", "/input_tokens"], told);
            let reasoning = read(&["/completion_tokens_details/reasoning_tokens", "/output_tokens_details/reasoning_tokens"], told);
            let output = read(&["/completion_tokens", "/output_tokens"], told);
            // Some servers count reasoning beside the completion; their total tells.
            let beside = reasoning > 0 && read(&["/total_tokens"], told) == input.saturating_add(output).saturating_add(reasoning);
            TokenUsage {
                input,
                output: if beside { output.saturating_add(reasoning) } else { output },
                cached: read(
                    &["/prompt_tokens_details/cached_tokens", "/input_tokens_details/cached_tokens", "/prompt_cache_hit_tokens"],
                    told,
                ),
                reasoning,
            }
        }
        None => {
            let timings = value.get("timings").filter(|t| t.is_object())?;
            let cached = read(&["/cache_n"], timings);
            let input = cached.saturating_add(read(&["/prompt_n"], timings));
            TokenUsage { input, output: read(&["/predicted_n"], timings), cached, reasoning: 0 }
        }
    };
    (!usage.is_empty()).then_some(usage)
}
