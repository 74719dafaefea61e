//! Types that a key can have: how each is read from TOML, written back, and described when a file has something else.

use super::values::{AsciiMode, Headers};
use crate::collaboration::{Choice, Edge, Node};
use crate::domain::request::PlanReviewer;
use crate::domain::settings::{Access, PlanMode};
use crate::llm::settings::{SendReasoning, SystemRole};
use std::path::{Path, PathBuf};
use toml::Value;

/// A type that a key can have.
pub(super) trait Setting: Sized {
    /// What fits, in words: "a whole number from 0 up".
    const EXPECTED: &'static str;
    /// The value, if it fits. Relative paths start at `base`.
    fn read(value: &Value, base: &Path) -> Option<Self>;
    /// What is wrong inside of a value that has the right shape outside.
    fn fault(_value: &Value) -> Option<String> {
        None
    }
    /// As TOML.
    fn write(&self) -> Value;
}

impl Setting for bool {
    const EXPECTED: &'static str = "true or false";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        value.as_bool()
    }
    fn write(&self) -> Value {
        (*self).into()
    }
}

macro_rules! whole {
    ($($type:ty)*) => { $(
        impl Setting for $type {
            const EXPECTED: &'static str = "a whole number from 0 up";
            fn read(value: &Value, _: &Path) -> Option<Self> {
                value.as_integer().and_then(|number| number.try_into().ok())
            }
            fn write(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )* };
}
whole!(u32 u64 usize);

impl Setting for f64 {
    const EXPECTED: &'static str = "a number from 0 up";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as Self))?;
        (number.is_finite() && number >= 0.0).then_some(number)
    }
    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Setting for Option<f64> {
    const EXPECTED: &'static str = f64::EXPECTED;
    fn read(value: &Value, base: &Path) -> Option<Self> {
        f64::read(value, base).map(Some)
    }
    fn write(&self) -> Value {
        self.map_or_else(|| "".into(), Value::from)
    }
}

impl Setting for String {
    const EXPECTED: &'static str = "a text in quotes";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        value.as_str().map(Into::into)
    }
    fn write(&self) -> Value {
        self.as_str().into()
    }
}

impl Setting for Option<PathBuf> {
    const EXPECTED: &'static str = "a path in quotes (\"\" for none)";
    fn read(value: &Value, base: &Path) -> Option<Self> {
        value.as_str().map(|text| (!text.is_empty()).then(|| base.join(text)))
    }
    fn write(&self) -> Value {
        self.as_ref().map(|path| path.display().to_string()).unwrap_or_default().into()
    }
}

impl Setting for Vec<String> {
    const EXPECTED: &'static str = "a list of texts";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        value.as_array()?.iter().map(|item| item.as_str().map(Into::into)).collect()
    }
    fn write(&self) -> Value {
        self.clone().into()
    }
}

impl Setting for Headers {
    const EXPECTED: &'static str = "a table of texts: { \"X-Title\" = \"signoff\", api-key = \"$AZURE_KEY\" }";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        let texts = value.as_table()?.iter().map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
        texts.collect::<Option<_>>().map(Self)
    }
    fn write(&self) -> Value {
        // The name of a variable is no secret; anything else may be one.
        let shown = |text: &String| if text.starts_with('$') { text.clone() } else { "(set)".into() };
        Value::Table(self.0.iter().map(|(name, text)| (name.clone(), shown(text).into())).collect())
    }
}

impl Setting for toml::Table {
    const EXPECTED: &'static str = "a table: { temperature = 0.2 }";
    fn read(value: &Value, _: &Path) -> Option<Self> {
        value.as_table().filter(|_| Self::fault(value).is_none()).cloned()
    }
    fn fault(value: &Value) -> Option<String> {
        let own = ["model", "messages", "stream", "tools"].into_iter().find(|own| value.get(own).is_some())?;
        Some(format!("{own:?}, which is not for settings to say"))
    }
    fn write(&self) -> Value {
        Value::Table(self.clone())
    }
}

macro_rules! tables {
    ($($type:ty: $words:literal),* $(,)?) => { $(
        impl Setting for Vec<$type> {
            const EXPECTED: &'static str = $words;
            fn read(value: &Value, _: &Path) -> Option<Self> {
                value.clone().try_into().ok()
            }
            fn fault(value: &Value) -> Option<String> {
                let items = value.as_array()?.iter().enumerate();
                let wrong = |(at, item): (usize, &Value)| {
                    let error = item.clone().try_into::<$type>().err()?;
                    Some(format!("number {}: {}", at + 1, error.message()))
                };
                items.filter_map(wrong).next()
            }
            fn write(&self) -> Value {
                Value::try_from(self).unwrap_or_else(|_| Value::Array(Vec::new()))
            }
        }
    )* };
}
tables! {
    Node: "a list of nodes: id, kind (start, member, fork, join, choice, end) and, where it differs from the id, member",
    Edge: "a list of edges: from, to and, after a choice, when",
}

macro_rules! choice {
    ($($type:ty: $words:literal),* $(,)?) => { $(
        impl Setting for $type {
            const EXPECTED: &'static str = concat!("one of ", $words);
            fn read(value: &Value, _: &Path) -> Option<Self> {
                value.clone().try_into().ok()
            }
            fn write(&self) -> Value {
                Value::try_from(self).unwrap_or_else(|_| "".into())
            }
        }
    )* };
}
choice! {
    Access: "allow, ask, deny",
    PlanMode: "ask, auto, deny",
    PlanReviewer: "human, lead",
    AsciiMode: "auto, always, never",
    SendReasoning: "auto, always, never",
    SystemRole: "system, developer, user",
    Choice: "lead, roi, budget",
}
