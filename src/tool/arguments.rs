//! What a model wrote as arguments: read, unwrapped, and faults named with a bounded preview.

use super::output::{bound, clean};
use serde_json::{Map, Value};

/// Longest argument text that is looked at, in bytes.
const ARGUMENTS_MAX: usize = 4 * 1024 * 1024;
/// Characters of bad arguments that are shown to the model again, so that a fault costs little context.
const PREVIEW_MAX: usize = 700;
/// Some servers encode the object once or twice more as a text.
const WRAPS_MAX: usize = 3;

/// The arguments as an object. Nothing at all and `null` mean no arguments.
pub(super) fn parse(raw: &str) -> Result<Value, String> {
    if raw.len() > ARGUMENTS_MAX {
        return Err(format!(
            "the arguments are {} bytes long, and at most {ARGUMENTS_MAX} are read: write large files in pieces",
            raw.len()
        ));
    }
    let mut text = raw.to_owned();
    for _ in 0..WRAPS_MAX {
        if text.trim().is_empty() {
            return Ok(Value::Object(Map::new()));
        }
        match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => return Ok(Value::Object(object)),
            Ok(Value::Null) => return Ok(Value::Object(Map::new())),
            Ok(Value::String(inner)) => text = inner,
            Ok(other) => return Err(format!("the arguments must be a JSON object, not {}", kind(&other))),
            Err(fault) => return Err(explain(&fault, &text)),
        }
    }
    Err("the arguments are a text within a text within a text: send a JSON object".into())
}

fn explain(fault: &serde_json::Error, text: &str) -> String {
    let cut = if fault.is_eof() { " (they end in the middle)" } else { "" };
    let preview = bound(&clean(text.as_bytes()), PREVIEW_MAX);
    format!("the arguments are not valid JSON: {fault}{cut}. They were: {preview}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
