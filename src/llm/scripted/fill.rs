//! Placeholders: `{name}`, `{task_id}`, `{task:Fix the totals}` …
//!
//! Scripts carry shell and awk, so braces are taken sparingly: `${name}` is never one, and in arguments a word that is
//! no placeholder stays as it is. In `say` and `think` it is a fault of the script.

use crate::domain::names::nearest;
use serde_json::Value;

/// What a script may ask for, beside `task:SUBJECT` and `task:#K` (the K-th task created).
pub(super) const NAMES: [&str; 16] = [
    "by",
    "description",
    "feedback",
    "from",
    "goal",
    "mail",
    "name",
    "note",
    "plan",
    "plans",
    "request_id",
    "result",
    "shutdown_request_id",
    "task",
    "task_id",
    "text",
];

/// Looks a placeholder up.
pub(super) type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The next `{…}` at or after `from`: start, end (after the brace), and what is inside.
fn next(text: &str, from: usize) -> Option<(usize, usize, &str)> {
    let mut at = from;
    loop {
        let open = at + text.get(at..)?.find('{')?;
        let rest = &text[open + 1..];
        let stop = rest.find(['{', '}', '\n']);
        let dollar = text[..open].ends_with('$');
        match stop {
            Some(len) if rest.as_bytes()[len] == b'}' && !dollar => return Some((open, open + len + 2, &rest[..len])),
            _ => at = open + 1,
        }
    }
}

fn is_known(inside: &str) -> bool {
    NAMES.contains(&inside) || inside.strip_prefix("task:").is_some_and(|subject| !subject.trim().is_empty())
}

/// Whether every `{word}` of a text is a placeholder.
pub(super) fn check(text: &str) -> Result<(), String> {
    let mut at = 0;
    while let Some((_, end, inside)) = next(text, at) {
        let word = !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        if word && !is_known(inside) {
            let hint = nearest(inside, NAMES).map(|right| format!("; did you mean {{{right}}}?")).unwrap_or_default();
            return Err(format!("there is no placeholder {{{inside}}}{hint}"));
        }
        at = end;
    }
    Ok(())
}

/// The text with its placeholders filled in. What is not known (yet) stays as it is.
pub(super) fn fill(text: &str, lookup: &Lookup<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, end, inside)) = next(text, at) {
        let value = if is_known(inside) { lookup(inside) } else { None };
        out.push_str(&text[at..start]);
        match value {
            Some(value) => out.push_str(&value),
            None => out.push_str(&text[start..end]),
        }
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

/// The same for every text inside arguments. A text that is nothing but the id of a task becomes a number.
pub(super) fn fill_value(value: &Value, lookup: &Lookup<'_>) -> Value {
    match value {
        Value::String(text) => {
            let filled = fill(text, lookup);
            let is_id = text == "{task_id}" || (text.starts_with("{task:") && next(text, 0).is_some_and(|(_, end, _)| end == text.len()));
            match filled.parse::<u64>() {
                Ok(number) if is_id => number.into(),
                _ => filled.into(),
            }
        }
        Value::Array(all) => all.iter().map(|v| fill_value(v, lookup)).collect(),
        Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), fill_value(v, lookup))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
