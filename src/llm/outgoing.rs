//! From a conversation to the body of a request.
//!
//! Pure. What a server rejects is left out or said otherwise (see `compat`). Neither form of the token limit is sent
//! unless the settings ask for one.

use super::ChatRequest;
use super::arguments::history_arguments;
use super::compat::{Compat, ReasoningRule};
use super::names::NameMap;
use super::settings::{OpenAiSettings, SendReasoning, SystemRole};
use super::wire::REASONING_FIELDS;
use crate::domain::{ChatMessage, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

/// The body of a streaming request.
pub(super) fn body(request: &ChatRequest, settings: &OpenAiSettings, compat: &Compat) -> Value {
    let writer = Writer { settings, compat, names: NameMap::new(&request.tools), role: compat.system_role.unwrap_or(settings.system_role) };
    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    body.insert("messages".into(), writer.messages(request).into());
    body.insert("stream".into(), true.into());
    let usage = ("stream_options".to_owned(), json!({ "include_usage": true }));
    for (name, value) in std::iter::once(usage).chain(settings.extra_body.clone()) {
        if let Some(sent) = compat.field(&name) {
            body.insert(sent.to_owned(), value);
        }
    }
    if !request.tools.is_empty() && !compat.tools_by_text {
        body.insert("tools".into(), request.tools.iter().map(|tool| writer.tool(tool)).collect());
    }
    Value::Object(body)
}

struct Writer<'a> {
    settings: &'a OpenAiSettings,
    compat: &'a Compat,
    names: NameMap,
    role: SystemRole,
}

impl Writer<'_> {
    fn tool(&self, tool: &ToolSpec) -> Value {
        let parameters = if tool.parameters.is_object() { tool.parameters.clone() } else { json!({ "type": "object", "properties": {} }) };
        let function = json!({ "name": self.names.wire(&tool.name), "description": tool.description, "parameters": parameters });
        json!({ "type": "function", "function": function })
    }

    fn messages(&self, request: &ChatRequest) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::with_capacity(request.messages.len());
        let guide = (self.compat.tools_by_text && !request.tools.is_empty()).then(|| self.guide(&request.tools));
        let system = self.role.as_str();
        if let (Some(guide), false) = (&guide, matches!(request.messages.first(), Some(ChatMessage::System { .. }))) {
            out.push(plain(system, guide));
        }
        for (at, message) in request.messages.iter().enumerate() {
            match message {
                ChatMessage::System { text } => match guide.as_ref().filter(|_| at == 0) {
                    Some(guide) => out.push(plain(system, &format!("{text}\n\n{guide}"))),
                    None => out.push(plain(system, text)),
                },
                ChatMessage::User { text } => out.push(plain("user", text)),
                ChatMessage::Assistant { text, reasoning, calls } => out.extend(self.assistant(text, reasoning.as_deref(), calls)),
                ChatMessage::Tool { call_id, name, content, ok: _ } if self.compat.tools_by_text => {
                    let text = format!("<tool_response name=\"{name}\" id=\"{call_id}\">\n{content}\n</tool_response>");
                    out.push(plain("user", &text));
                }
                ChatMessage::Tool { call_id, content, name: _, ok: _ } => {
                    out.push(json!({ "role": "tool", "tool_call_id": call_id, "content": content }));
                }
            }
        }
        if self.compat.alternate || self.role == SystemRole::User || self.compat.tools_by_text { merged(out) } else { out }
    }

    /// An answer with neither text nor calls says nothing, and many servers reject it.
    fn assistant(&self, text: &str, reasoning: Option<&str>, calls: &[ToolCall]) -> Option<Value> {
        if calls.is_empty() {
            return (!text.is_empty()).then(|| plain("assistant", text));
        }
        if self.compat.tools_by_text {
            let calls = calls.iter().map(|call| {
                let arguments: Value = serde_json::from_str(&history_arguments(&call.arguments)).unwrap_or_default();
                format!("<tool_call>\n{}\n</tool_call>", json!({ "name": call.name, "arguments": arguments }))
            });
            let parts: Vec<String> = Some(text.to_owned()).filter(|t| !t.is_empty()).into_iter().chain(calls).collect();
            return Some(plain("assistant", &parts.join("\n")));
        }
        let calls: Vec<Value> = calls.iter().map(|call| self.call(call)).collect();
        let content = if text.is_empty() { Value::Null } else { text.into() };
        let mut message = json!({ "role": "assistant", "content": content, "tool_calls": calls });
        if let (Some(text), Some(map)) = (self.reasoning(reasoning), message.as_object_mut()) {
            map.insert(self.compat.reasoning_field.unwrap_or(REASONING_FIELDS[0]).into(), text.into());
        }
        Some(message)
    }

    fn call(&self, call: &ToolCall) -> Value {
        let function = json!({ "name": self.names.wire(&call.name), "arguments": history_arguments(&call.arguments) });
        json!({ "id": call.id, "type": "function", "function": function })
    }

    fn reasoning(&self, received: Option<&str>) -> Option<String> {
        let owned = received.map(str::to_owned);
        match (self.settings.send_reasoning, self.compat.reasoning) {
            (SendReasoning::Never, _) | (SendReasoning::Auto, ReasoningRule::Rejected) => None,
            (SendReasoning::Always, _) | (SendReasoning::Auto, ReasoningRule::Required) => Some(owned.unwrap_or_default()),
            // Reasoning that came inside the text has no field that this server would know.
            (SendReasoning::Auto, ReasoningRule::Unknown) => owned.filter(|_| self.compat.reasoning_field.is_some()),
        }
    }

    /// Tools for a server that takes none.
    fn guide(&self, tools: &[ToolSpec]) -> String {
        let list: Vec<String> = tools
            .iter()
            .map(|tool| {
                json!({ "name": self.names.wire(&tool.name), "description": tool.description, "parameters": tool.parameters }).to_string()
            })
            .collect();
        format!(
            "You have tools. To call one, answer with nothing but\n<tool_call>\n{{\"name\": \"TOOL\", \"arguments\": {{…}}}}\n</tool_call>\n\
             and wait: the result comes as <tool_response>. Several calls may follow each other. The tools, one a line:\n{}",
            list.join("\n")
        )
    }
}

fn plain(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

/// User messages that follow each other as one.
fn merged(messages: Vec<Value>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::with_capacity(messages.len());
    for message in messages {
        let both_user = |last: &&mut Value| last["role"] == "user" && message["role"] == "user";
        match out.last_mut().filter(both_user) {
            Some(last) => {
                let text =
                    format!("{}\n\n{}", last["content"].as_str().unwrap_or_default(), message["content"].as_str().unwrap_or_default());
                last["content"] = text.into();
            }
            None => out.push(message),
        }
    }
    out
}
