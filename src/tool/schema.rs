//! A small checker for the subset of JSON Schema that tools use, forgiving where a model's meaning is plain.
//!
//! Known: `type`, `properties`, `required`, `items`, `enum`, `minimum`, `maximum`, `minLength`. Forgiven: numbers and
//! booleans as text, `"#3"` for a number, one value where a list belongs, a list as JSON text, `taskId` for `task_id`,
//! `inProgress` for `in_progress`, `null` for an optional argument. Unknown arguments are dropped, and named only
//! when the call fails anyway, or when the tool takes nothing that it does not know.

use serde_json::{Map, Value};

/// At most this many faults are named: enough to mend a call at once, too few to flood a conversation.
const FAULTS_MAX: usize = 5;

/// `value` in the form that `schema` asks for, or every fault in words.
pub fn fit(schema: &Value, value: Value) -> Result<Value, String> {
    let mut faults = Faults::default();
    let fitted = fit_value(schema, value, "", &mut faults);
    faults.finish(fitted)
}

/// The same, where an unknown argument is a fault, too.
pub fn fit_exactly(schema: &Value, value: Value) -> Result<Value, String> {
    let mut faults = Faults::default();
    let fitted = fit_value(schema, value, "", &mut faults);
    if !faults.unknown.is_empty() {
        faults.add("it takes only the arguments that it knows".into());
    }
    faults.finish(fitted)
}

#[derive(Default)]
struct Faults {
    faults: Vec<String>,
    unknown: Vec<String>,
}

impl Faults {
    fn add(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }

    fn finish(mut self, fitted: Value) -> Result<Value, String> {
        if self.faults.is_empty() {
            return Ok(fitted);
        }
        if !self.unknown.is_empty() {
            self.unknown.truncate(FAULTS_MAX);
            self.faults.push(format!("there is no argument {}", self.unknown.join(", ")));
        }
        Err(self.faults.join("; "))
    }
}

/// Letters and digits only, lower case: `taskId`, `task_id` and `task-id` are one.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn fit_value(schema: &Value, value: Value, path: &str, faults: &mut Faults) -> Value {
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let fitted = match wanted {
        "object" => fit_object(schema, value, path, faults),
        "array" => fit_array(schema, value, path, faults),
        "" => Some(value),
        scalar => {
            let found = describe(&value);
            let fitted = coerce(scalar, value);
            if fitted.is_none() {
                faults.add(format!("`{path}` must be {}, not {found}", article(scalar)));
            }
            fitted
        }
    };
    match fitted {
        Some(fitted) => check_limits(schema, fitted, path, faults),
        None => Value::Null,
    }
}

fn fit_object(schema: &Value, value: Value, path: &str, faults: &mut Faults) -> Option<Value> {
    let Value::Object(given) = value else {
        faults.add(format!("{} must be an object, not {}", name_of(path), describe(&value)));
        return None;
    };
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fitted = Map::new();
    for (key, value) in rename(given, properties, faults) {
        let optional = !required.contains(&key.as_str());
        if let Some(property) = properties.get(&key).filter(|_| !(value.is_null() && optional)) {
            let value = fit_value(property, value, &join(path, &key), faults);
            fitted.insert(key, value);
        }
    }
    for missing in required.iter().filter(|key| !fitted.contains_key(**key)) {
        faults.add(format!("`{}` is missing", join(path, missing)));
    }
    Some(Value::Object(fitted))
}

/// Gives keys in another spelling the schema's, unless that one is there too; names the rest as unknown.
fn rename(given: Map<String, Value>, properties: &Map<String, Value>, faults: &mut Faults) -> Map<String, Value> {
    let (mut known, odd): (Map<_, _>, Map<_, _>) = given.into_iter().partition(|(key, _)| properties.contains_key(key));
    for (key, value) in odd {
        match properties.keys().find(|property| plain(property) == plain(&key)) {
            Some(property) if !known.contains_key(property) => {
                known.insert(property.clone(), value);
            }
            Some(_) | None => faults.unknown.push(format!("`{}`", crate::domain::text::one_line(&key, 40))),
        }
    }
    known
}

fn fit_array(schema: &Value, value: Value, path: &str, faults: &mut Faults) -> Option<Value> {
    let items = schema.get("items").unwrap_or(&Value::Null);
    let list = match value {
        Value::Array(list) => list,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(list)) => list,
            Ok(_) | Err(_) => vec![Value::String(text)],
        },
        Value::Null | Value::Object(_) => {
            faults.add(format!("`{path}` must be a list, not {}", describe(&value)));
            return None;
        }
        one @ (Value::Bool(_) | Value::Number(_)) => vec![one],
    };
    let fit = |(at, value)| fit_value(items, value, &format!("{path}[{at}]"), faults);
    Some(Value::Array(list.into_iter().enumerate().map(fit).collect()))
}

fn coerce(wanted: &str, value: Value) -> Option<Value> {
    match (wanted, &value) {
        ("string", Value::String(_)) | ("boolean", Value::Bool(_)) | ("number", Value::Number(_)) => Some(value),
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(value.to_string())),
        ("integer", Value::Number(number)) => match number.as_f64() {
            _ if number.is_i64() || number.is_u64() => Some(value),
            // Exactly representable whole numbers only.
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => Some(Value::from(float as i64)),
            Some(_) | None => None,
        },
        ("integer", Value::String(text)) => {
            let digits = text.trim().trim_start_matches('#');
            digits.parse::<i64>().ok().map(Value::from)
        }
        ("number", Value::String(text)) => text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(Value::Bool(true)),
            "false" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

fn check_limits(schema: &Value, value: Value, path: &str, faults: &mut Faults) -> Value {
    if let (Some(minimum), Some(number)) = (schema.get("minimum").and_then(Value::as_f64), value.as_f64())
        && number < minimum
    {
        faults.add(format!("`{path}` must be at least {minimum}, not {number}"));
    }
    if let (Some(maximum), Some(number)) = (schema.get("maximum").and_then(Value::as_f64), value.as_f64())
        && number > maximum
    {
        faults.add(format!("`{path}` must be at most {maximum}, not {number}"));
    }
    if schema.get("minLength").and_then(Value::as_u64).is_some_and(|least| least > 0) && value.as_str() == Some("") {
        faults.add(format!("`{path}` must not be empty"));
    }
    match schema.get("enum").and_then(Value::as_array) {
        Some(allowed) if !allowed.contains(&value) => fit_word(allowed, value, path, faults),
        Some(_) | None => value,
    }
}

fn fit_word(allowed: &[Value], value: Value, path: &str, faults: &mut Faults) -> Value {
    let word = plain(value.as_str().unwrap_or_default());
    if let Some(meant) = allowed.iter().find(|one| one.as_str().is_some_and(|text| plain(text) == word)) {
        return meant.clone();
    }
    let words: Vec<String> = allowed.iter().map(Value::to_string).collect();
    faults.add(format!("`{path}` must be one of {}, not {}", words.join(", "), describe(&value)));
    value
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {:?}", crate::domain::text::one_line(text, 60)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn article(kind: &str) -> &'static str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "of another type",
    }
}

fn name_of(path: &str) -> String {
    if path.is_empty() { "the arguments".into() } else { format!("`{path}`") }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
