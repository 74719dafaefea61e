//! JSON Schema of a protocol's tool arguments.

use crate::collaboration::{Param, ParamKind};
use serde_json::{Map, Value, json};

/// An object with these parameters.
pub(super) fn object(params: &[Param]) -> Value {
    let properties: Map<String, Value> = params.iter().map(|p| (p.name.to_owned(), with_words(kind(p.kind), p.description))).collect();
    let required: Vec<&str> = params.iter().filter(|p| p.required).map(|p| p.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn kind(kind: ParamKind) -> Value {
    match kind {
        ParamKind::Text => json!({ "type": "string" }),
        ParamKind::Number => json!({ "type": "number" }),
        ParamKind::TextList => json!({ "type": "array", "items": { "type": "string" } }),
        ParamKind::Records(fields) => json!({ "type": "array", "items": object(fields) }),
        ParamKind::Object => json!({ "type": "object" }),
    }
}

fn with_words(mut schema: Value, words: &str) -> Value {
    if let Value::Object(map) = &mut schema {
        map.insert("description".into(), words.into());
    }
    schema
}
