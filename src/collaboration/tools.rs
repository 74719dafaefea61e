//! Tools that a protocol offers: their description, the check of arguments, and the same calls written as text by
//! models that have no tools.

use super::ArgValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A tool that belongs to a protocol. The runtime turns it into whatever a model port wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProtocolTool {
    /// `^[a-z_]+$`.
    pub name: &'static str,
    /// What it does and when to use it.
    pub description: &'static str,
    /// Its arguments.
    pub params: &'static [Param],
}

/// One argument of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What it means.
    pub description: &'static str,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// Text; a number or a boolean is taken as its text.
    Text,
    /// A finite number; text that reads as one is taken.
    Number,
    /// A list of texts; a single text is a list of one.
    TextList,
    /// A list of objects with these fields; a text is an object with only the first field.
    Records(&'static [Param]),
    /// An object with any fields.
    Object,
}

impl Param {
    /// An argument that must be given.
    pub const fn required(name: &'static str, kind: ParamKind, description: &'static str) -> Self {
        Self { name, kind, required: true, description }
    }

    /// An argument that may be left out.
    pub const fn optional(name: &'static str, kind: ParamKind, description: &'static str) -> Self {
        Self { name, kind, required: false, description }
    }
}

/// `route_to{agent, instruction}`: the supervisor sends work to a member.
pub const ROUTE_TO: ProtocolTool = ProtocolTool {
    name: "route_to",
    description: "Choose the member that acts next. Call it once, then end your turn.",
    params: &[
        Param::required("agent", ParamKind::Text, "the member's exact name"),
        Param::optional("instruction", ParamKind::Text, "what it shall do"),
    ],
};

/// `finish{answer}`: the supervisor ends the run.
pub const FINISH: ProtocolTool = ProtocolTool {
    name: "finish",
    description: "End the run with the final answer. Counts only after a member has acted. Call it once, then end your turn.",
    params: &[Param::optional("answer", ParamKind::Text, "the final answer for the person")],
};

/// A call whose arguments fit the tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    args: BTreeMap<String, ArgValue>,
}

impl Call {
    /// A text argument, trimmed; empty when it was not given.
    pub fn text(&self, name: &str) -> &str {
        self.args.get(name).and_then(ArgValue::as_text).map_or("", str::trim)
    }

    /// A number, if it was given.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.args.get(name).and_then(ArgValue::as_number)
    }

    /// A list; empty when it was not given.
    pub fn list(&self, name: &str) -> &[ArgValue] {
        self.args.get(name).and_then(ArgValue::as_list).unwrap_or_default()
    }

    /// An object's fields; empty when it was not given.
    pub fn object(&self, name: &str) -> Vec<(&str, &ArgValue)> {
        match self.args.get(name) {
            Some(ArgValue::Map(map)) => map.iter().map(|(key, value)| (key.as_str(), value)).collect(),
            Some(ArgValue::Null | ArgValue::Bool(_) | ArgValue::Number(_) | ArgValue::Text(_) | ArgValue::List(_)) | None => Vec::new(),
        }
    }
}

impl ProtocolTool {
    /// Checks arguments; the error names the fault and what the tool takes.
    pub fn check(&self, arguments: Vec<(String, ArgValue)>) -> Result<Call, String> {
        let mut given: BTreeMap<String, ArgValue> = arguments.into_iter().collect();
        given.retain(|_, value| *value != ArgValue::Null);
        if let Some(odd) = given.keys().find(|key| !self.params.iter().any(|param| param.name == *key)) {
            return Err(format!("{} takes no argument {odd:?}; it takes {}", self.name, self.signature()));
        }
        for param in self.params {
            match given.remove(param.name) {
                Some(value) => {
                    let value = fit(value, param.kind).map_err(|want| format!("{}: {} must be {want}", self.name, param.name))?;
                    given.insert(param.name.to_owned(), value);
                }
                None if param.required => return Err(format!("{}: {} is missing; it takes {}", self.name, param.name, self.signature())),
                None => {}
            }
        }
        Ok(Call { tool: self.name.to_owned(), args: given })
    }

    fn signature(&self) -> String {
        let mark = |param: &Param| if param.required { param.name.to_owned() } else { format!("{}?", param.name) };
        format!("{{{}}}", self.params.iter().map(mark).collect::<Vec<_>>().join(", "))
    }

    fn example(&self) -> String {
        let fields: Vec<String> = self.params.iter().map(|param| format!("\"{}\": {}", param.name, sample(param.kind))).collect();
        format!("@{} {{{}}}", self.name, fields.join(", "))
    }
}

fn sample(kind: ParamKind) -> String {
    match kind {
        ParamKind::Text => "\"…\"".into(),
        ParamKind::Number => "80".into(),
        ParamKind::TextList => "[\"…\"]".into(),
        ParamKind::Object => "{\"key\": \"value\"}".into(),
        ParamKind::Records(fields) => {
            let inner: Vec<String> = fields.iter().map(|param| format!("\"{}\": {}", param.name, sample(param.kind))).collect();
            format!("[{{{}}}]", inner.join(", "))
        }
    }
}

fn fit(value: ArgValue, kind: ParamKind) -> Result<ArgValue, &'static str> {
    match (kind, value) {
        (ParamKind::Text, ArgValue::Text(text)) => Ok(ArgValue::Text(text)),
        (ParamKind::Text, value @ (ArgValue::Number(_) | ArgValue::Bool(_))) => Ok(ArgValue::Text(value.to_string())),
        (ParamKind::Text, _) => Err("text"),
        (ParamKind::Number, value) => value.as_number().map(ArgValue::Number).ok_or("a number"),
        (ParamKind::Object, value @ ArgValue::Map(_)) => Ok(value),
        (ParamKind::Object, ArgValue::Text(text)) => object_in(&text).ok_or("an object"),
        (ParamKind::Object, _) => Err("an object"),
        (ParamKind::TextList, ArgValue::List(list)) => {
            Ok(ArgValue::List(list.iter().map(|item| item.to_string().as_str().into()).collect()))
        }
        (ParamKind::TextList, value @ (ArgValue::Text(_) | ArgValue::Number(_))) => {
            Ok(ArgValue::List(vec![value.to_string().as_str().into()]))
        }
        (ParamKind::TextList, _) => Err("a list of texts"),
        (ParamKind::Records(fields), ArgValue::List(list)) => {
            list.into_iter().map(|item| record(item, fields)).collect::<Result<_, _>>().map(ArgValue::List)
        }
        (ParamKind::Records(fields), value) => record(value, fields).map(|value| ArgValue::List(vec![value])),
    }
}

fn object_in(text: &str) -> Option<ArgValue> {
    ArgValue::read_json(text).map(|(value, _)| value).filter(|value| matches!(value, ArgValue::Map(_)))
}

fn record(value: ArgValue, fields: &[Param]) -> Result<ArgValue, &'static str> {
    match value {
        value @ ArgValue::Map(_) => Ok(value),
        ArgValue::Text(text) => {
            let first = fields.first().map_or("value", |param| param.name);
            Ok(ArgValue::Map(BTreeMap::from([(first.to_owned(), ArgValue::Text(text))])))
        }
        ArgValue::Null | ArgValue::Bool(_) | ArgValue::Number(_) | ArgValue::List(_) => Err("a list of objects"),
    }
}

/// How to call `tools` by text, for a model that has none. Empty when there are no tools.
pub fn text_form(tools: &[ProtocolTool]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let mut out = String::from("\nIf you cannot call tools, write the call on a line of its own, exactly like this:\n");
    for tool in tools {
        let _ = writeln!(out, "{}   ({})", tool.example(), tool.description);
    }
    out
}

/// A call found in text: the tool, and its arguments or why they cannot be read.
pub type TextCall = (ProtocolTool, Result<Vec<(String, ArgValue)>, String>);

/// At most this many calls are read from one text, so that odd text stays cheap.
const CALLS_MAX: usize = 64;

/// Calls that a model wrote as text, each at the beginning of a line, and the text without them.
pub fn text_calls(text: &str, tools: &[ProtocolTool]) -> (Vec<TextCall>, String) {
    let mut calls = Vec::new();
    let mut rest = String::new();
    let mut at = 0;
    while at < text.len() {
        if calls.len() == CALLS_MAX {
            rest.push_str(&text[at..]);
            break;
        }
        let end = text[at..].find('\n').map_or(text.len(), |offset| at + offset + 1);
        match call_at(&text[at..], &text[at..end], tools) {
            Some((call, length)) => {
                calls.push(call);
                at += length.max(1);
                let tail = text[at..].find('\n').map_or(text.len(), |offset| at + offset + 1);
                // What follows the call on its line is kept only if it says something beyond closing marks.
                at = if text[at..tail].chars().all(|c| c.is_whitespace() || ")`*;.".contains(c)) { tail } else { at };
            }
            None => {
                rest.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    (calls, rest.trim().to_owned())
}

fn call_at(text: &str, line: &str, tools: &[ProtocolTool]) -> Option<(TextCall, usize)> {
    let body = line.trim_start_matches(|c: char| c.is_whitespace() || "`*->".contains(c));
    let marked = body.strip_prefix('@');
    let head = marked.unwrap_or(body);
    let word = head.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or("");
    let tool = tools.iter().find(|tool| tool.name == word)?;
    let before = line.len() - head.len() + word.len();
    let gap = text[before..].find(|c: char| !(c.is_whitespace() || "(:".contains(c))).unwrap_or(text.len() - before);
    let start = before + gap;
    if text[start..].starts_with('{') {
        return Some(match ArgValue::read_json(&text[start..]) {
            Some((ArgValue::Map(map), length)) => ((*tool, Ok(map.into_iter().collect())), start + length),
            Some(_) | None => ((*tool, Err(format!("{}: what follows is no JSON object", tool.name))), line.len()),
        });
    }
    marked?;
    // `@finish some words`: the words are the first text argument.
    let words = line[before..].trim_matches(|c: char| c.is_whitespace() || "(:)`".contains(c));
    Some(((*tool, Ok(spoken(tool, words))), line.len()))
}

/// `@finish all done`: the words are the first argument. `@route_to bob do it`: the name, then what to say to it.
fn spoken(tool: &ProtocolTool, words: &str) -> Vec<(String, ArgValue)> {
    let Some(first) = tool.params.first().filter(|_| !words.is_empty()) else { return Vec::new() };
    let message = tool.params.iter().find(|param| ["instruction", "memo"].contains(&param.name));
    match (message, words.split_once(char::is_whitespace)) {
        (Some(message), Some((name, rest))) => vec![(first.name.to_owned(), name.into()), (message.name.to_owned(), rest.into())],
        (Some(_) | None, _) => vec![(first.name.to_owned(), words.into())],
    }
}
