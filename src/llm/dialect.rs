//! Tool calls written as text, by models or servers without a parser for them.
//!
//! Pure. Text is a call only when *all* of it is one or more calls of tools that were offered; a call in the middle of
//! prose is prose (see [`looks_like_call`] for telling the model so). Known: `<tool_call>` with JSON or with
//! `<function=…>`, `<invoke name=…>`, fenced or bare JSON, `[TOOL_CALLS]`, `<|python_tag|>`.

use super::names::NameMap;
use crate::domain::ToolSpec;
use serde_json::{Map, Value};

/// A call found in text: the tool's name as offered and its arguments as JSON text.
pub type TextCall = (String, String);

/// Tags around a list of calls; they say nothing themselves.
const WRAPPERS: [&str; 6] = ["<function_calls>", "</function_calls>", "<tool_calls>", "</tool_calls>", "<|python_tag|>", "[TOOL_CALLS]"];

/// The calls that `text` consists of; `None` when any of it is something else.
pub fn read_calls(text: &str, tools: &[ToolSpec], names: &NameMap) -> Option<Vec<TextCall>> {
    let reader = Reader { tools, names };
    let mut rest = unfenced(text.trim());
    let mut found = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = WRAPPERS.iter().find_map(|tag| rest.strip_prefix(tag)) {
            rest = after.trim_start();
            continue;
        }
        rest = reader.next(rest, &mut found)?.trim_start();
    }
    (!found.is_empty()).then_some(found)
}

/// Whether `text` holds something that was meant as a tool call but is none: worth telling the model.
pub fn looks_like_call(text: &str) -> bool {
    ["<tool_call>", "<invoke name=", "<function=", "[TOOL_CALLS]", "<function_calls>", "<|python_tag|>"]
        .iter()
        .any(|tag| text.contains(tag))
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).filter(|inner| !inner.contains("```"));
    let Some((word, body)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    if matches!(word.trim(), "" | "json" | "tool_call" | "tool_code" | "xml") { body.trim() } else { text }
}

struct Reader<'a> {
    tools: &'a [ToolSpec],
    names: &'a NameMap,
}

impl Reader<'_> {
    fn next<'t>(&self, text: &'t str, found: &mut Vec<TextCall>) -> Option<&'t str> {
        if let Some(rest) = text.strip_prefix("<tool_call>") {
            // The closing tag is a stop word for some servers and never arrives.
            let (inner, after) = rest.split_once("</tool_call>").unwrap_or((rest, ""));
            let inner = inner.trim();
            let tail = if inner.starts_with('{') { self.json(inner, Naming::Tagged, found)? } else { self.next(inner, found)? };
            return tail.trim().is_empty().then_some(after);
        }
        if let Some(rest) = text.strip_prefix("<function=") {
            let (head, rest) = rest.split_once('>')?;
            let (body, after) = rest.split_once("</function>").unwrap_or((rest, ""));
            return self.tagged(head, body, "<parameter=", found).map(|()| after);
        }
        if let Some(rest) = text.strip_prefix("<invoke name=") {
            let (head, rest) = rest.split_once('>')?;
            let (body, after) = rest.split_once("</invoke>")?;
            return self.tagged(head, body, "<parameter name=", found).map(|()| after);
        }
        if text.starts_with(['{', '[']) { self.json(text, Naming::Bare, found) } else { None }
    }

    fn json<'t>(&self, text: &'t str, naming: Naming, found: &mut Vec<TextCall>) -> Option<&'t str> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next()?.ok()? {
            Value::Array(list) => list.iter().try_for_each(|value| self.object(value, naming, found))?,
            value => self.object(&value, naming, found)?,
        }
        text.get(values.byte_offset()..)
    }

    fn object(&self, value: &Value, naming: Naming, found: &mut Vec<TextCall>) -> Option<()> {
        let map = value.get("function").filter(|f| f.is_object()).unwrap_or(value).as_object()?;
        if !map.keys().all(|key| matches!(key.as_str(), "name" | "arguments" | "parameters" | "id" | "type")) {
            return None;
        }
        let arguments = match map.get("arguments").or_else(|| map.get("parameters")) {
            Some(Value::String(text)) => text.clone(),
            Some(value @ Value::Object(_)) => value.to_string(),
            None if naming == Naming::Tagged => "{}".to_owned(),
            Some(_) | None => return None,
        };
        self.add(map.get("name")?.as_str()?, arguments, found)
    }

    fn tagged(&self, head: &str, body: &str, open: &str, found: &mut Vec<TextCall>) -> Option<()> {
        let name = unquoted(head);
        if body.trim().starts_with('{') {
            let arguments: Map<String, Value> = serde_json::from_str(body.trim()).ok()?;
            return self.add(name, Value::Object(arguments).to_string(), found);
        }
        let mut arguments = Map::new();
        let mut rest = body.trim();
        while !rest.is_empty() {
            let (key, after) = rest.strip_prefix(open)?.split_once('>')?;
            let (value, after) = after.split_once("</parameter>")?;
            let key = unquoted(key);
            arguments.insert(key.to_owned(), self.typed(name, key, value));
            rest = after.trim_start();
        }
        self.add(name, Value::Object(arguments).to_string(), found)
    }

    /// A value as the tool's schema wants it: text unless another type is asked for.
    fn typed(&self, tool: &str, key: &str, text: &str) -> Value {
        let offered = self.names.offered(tool);
        let schema = self.tools.iter().find(|spec| spec.name == offered).map(|spec| &spec.parameters);
        let kind = schema.and_then(|schema| schema.get("properties")?.get(key)?.get("type")?.as_str());
        let value = text.strip_prefix('\n').unwrap_or(text);
        let value = value.strip_suffix('\n').unwrap_or(value);
        match kind {
            Some("string") | None => Value::String(value.to_owned()),
            Some(_) => serde_json::from_str(value.trim()).unwrap_or_else(|_| Value::String(value.to_owned())),
        }
    }

    fn add(&self, name: &str, arguments: String, found: &mut Vec<TextCall>) -> Option<()> {
        self.names.knows(name).then(|| found.push((self.names.offered(name), arguments)))
    }
}

/// Whether a tag already says that this is a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Tagged,
    Bare,
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}
