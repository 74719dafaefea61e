//! A settings file: read with care, and taken apart into keys with the line each stands on.

use super::error::{ConfigError, io};
use super::fields::{FIELDS, Field, dotted, find};
use crate::domain::names::nearest;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toml::Value;
use toml::de::{DeTable, DeValue};

/// A settings file longer than this is none, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// Whose file it is; a stranger's file may be anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The person's own: may be a link, as dotfile managers make them.
    User,
    /// The workspace's: a plain file, or it is refused.
    Workspace,
}

/// A key that a file sets.
pub(super) struct Entry {
    pub field: &'static Field,
    pub path: Vec<String>,
    pub names: Vec<String>,
    pub value: Value,
    pub line: usize,
}

/// A file's text; `None` when there is none.
pub(super) fn read(path: &Path, owner: Owner) -> Result<Option<String>, ConfigError> {
    let meta = match owner {
        Owner::User => std::fs::metadata(path),
        Owner::Workspace => std::fs::symlink_metadata(path),
    };
    let meta = match meta {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(io("read", path)(error)),
    };
    let refused = |what| Err(ConfigError::NotPlain { path: path.to_owned(), what });
    if !meta.is_file() {
        return refused("not a plain file");
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io("read", path))?;
    file.take(FILE_MAX + 1).read_to_end(&mut bytes).map_err(io("read", path))?;
    if bytes.len() as u64 > FILE_MAX {
        return refused("longer than 1 MiB");
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
        ConfigError::Syntax { path: path.to_owned(), line, reason: "not UTF-8 text".into() }
    })?;
    Ok(Some(text))
}

/// What a file says: the keys that it sets, in the order of the file, and what is wrong with others, with the line.
#[derive(Default)]
pub(super) struct Keys {
    pub found: Vec<Entry>,
    pub faults: Vec<(usize, ConfigError)>,
}

/// Takes a file apart. Fails only where it is no TOML at all.
pub(super) fn entries(text: &str, path: &Path) -> Result<Keys, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_of(text.as_bytes(), error.span().map_or(0, |span| span.start)),
        reason: error.message().to_owned(),
    })?;
    let mut walk = Walk { text, file: path, at: Vec::new(), keys: Keys::default() };
    walk.table(document.get_ref());
    walk.keys.found.sort_by_key(|entry| entry.line);
    Ok(walk.keys)
}

struct Walk<'t> {
    text: &'t str,
    file: &'t Path,
    at: Vec<String>,
    keys: Keys,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let line = line_of(self.text.as_bytes(), key.span().start);
            self.at.push(key.get_ref().to_string());
            if let Err(fault) = self.item(value.get_ref(), line) {
                self.keys.faults.push((line, fault));
            }
            self.at.pop();
        }
    }

    fn item(&mut self, value: &DeValue<'_>, line: usize) -> Result<(), ConfigError> {
        if let Some((field, names)) = find(&self.at) {
            let value = convert(value);
            self.keys.found.push(Entry { field, path: self.at.clone(), names, value, line });
            return Ok(());
        }
        if self.at.last().is_some_and(|last| matches!(last.as_str(), "api_key" | "apikey" | "key" | "token" | "secret")) {
            return Err(ConfigError::KeyInFile { path: self.file.to_owned(), line, key: dotted(&self.at) });
        }
        if !FIELDS.iter().any(|field| field.is_below(&self.at)) {
            let (path, key, hint) = (self.file.to_owned(), dotted(&self.at), hint(&self.at));
            return Err(ConfigError::UnknownKey { path, line, key, hint });
        }
        let Some(table) = value.as_table() else {
            let (place, found) = (format!("{}:{line}", self.file.display()), describe(&convert(value)));
            return Err(ConfigError::Value { place, key: dotted(&self.at), expected: "a table".into(), found });
        };
        self.table(table);
        Ok(())
    }
}

/// The nearest key that exists, or those beside the wrong one.
fn hint(path: &[String]) -> String {
    let own = path.last().map_or("", String::as_str);
    let above = &path[..path.len().saturating_sub(1)];
    let below: Vec<&Field> = FIELDS.iter().filter(|field| field.is_below(above)).collect();
    let mut beside: Vec<&str> = below.iter().map(|field| field.path[above.len()]).filter(|part| *part != "*").collect();
    beside.dedup();
    let whole = |last: &str| dotted(&above.iter().map(String::as_str).chain([last]).collect::<Vec<_>>());
    if let Some(near) = nearest(own, beside.iter().copied()) {
        return format!("did you mean `{}`?", whole(near));
    }
    let elsewhere = FIELDS.iter().find(|field| field.path.last() == Some(&own));
    if let Some(field) = elsewhere {
        return format!("did you mean `{}`?", dotted(field.path));
    }
    let joined = dotted(path);
    let all: Vec<String> = FIELDS.iter().map(|field| dotted(field.path)).collect();
    if let Some(near) = nearest(&joined, all.iter().map(String::as_str)) {
        return format!("did you mean `{near}`?");
    }
    let place = if above.is_empty() { "the file".to_owned() } else { format!("[{}]", dotted(above)) };
    format!("{place} knows {}", beside.join(", "))
}

fn convert(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or_else(|_| Value::String(number.to_string()), Value::Integer)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(yes) => Value::Boolean(*yes),
        DeValue::Datetime(time) => Value::Datetime(*time),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| convert(item.get_ref())).collect()),
        DeValue::Table(table) => {
            Value::Table(table.iter().map(|(key, value)| (key.get_ref().to_string(), convert(value.get_ref()))).collect())
        }
    }
}

/// A value as an error shows it: its type and, if short, itself.
pub(super) fn describe(value: &Value) -> String {
    let short = |text: String| crate::domain::text::one_line(&text, 40);
    match value {
        Value::String(text) => format!("the text {}", short(format!("{text:?}"))),
        Value::Integer(_) | Value::Float(_) | Value::Datetime(_) => format!("the number {}", short(value.to_string())),
        Value::Boolean(yes) => yes.to_string(),
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
    }
}

fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

/// The directory that relative paths of a file start at.
pub(super) fn base(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}
