//! Arguments of tool calls: raw text from a model, which may not parse. What goes back into history always does.

use crate::domain::text::one_line;
use serde_json::{Map, Value};

/// Longest preview of arguments that do not parse, in characters: enough to see the fault, too short to fill a context.
pub const PREVIEW_MAX: usize = 800;

/// The arguments as an object, or a sentence for the model that names the fault, where it is, how long the text was
/// and how it began. Nothing at all counts as `{}`.
pub fn parse_arguments(raw: &str) -> Result<Map<String, Value>, String> {
    let text = raw.trim();
    if text.is_empty() {
        return Ok(Map::new());
    }
    let fault = match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => return Ok(map),
        Ok(Value::String(inner)) => match serde_json::from_str::<Value>(&inner) {
            Ok(Value::Object(map)) => return Ok(map),
            Ok(_) | Err(_) => "it is a string, not an object".to_owned(),
        },
        Ok(Value::Null) => "it is null, not an object".to_owned(),
        Ok(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => "it is not an object".to_owned(),
        Err(error) => error.to_string(),
    };
    let count = raw.chars().count();
    Err(format!("the arguments are not a JSON object: {fault}. They have {count} characters and begin: {}", one_line(text, PREVIEW_MAX)))
}

/// The arguments as they may stand in history: the text itself when it is a JSON object, else an object that holds a
/// preview of it. Servers refuse a whole conversation for one call with broken arguments.
pub fn history_arguments(raw: &str) -> String {
    let text = raw.trim();
    match parse_arguments(raw) {
        Ok(map) if text.is_empty() || !text.starts_with('{') => Value::Object(map).to_string(),
        Ok(_) => text.to_owned(),
        Err(_) => serde_json::json!({ "unreadable_arguments": one_line(text, PREVIEW_MAX) }).to_string(),
    }
}
