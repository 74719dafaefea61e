//! The keymap: one table that keys, footer, help and palette read. The defaults are embedded; a user's file overrides
//! them field by field.

use super::action::Action;
use super::msg::Key;
use crate::domain::names::nearest;
use serde::Deserialize;
use std::collections::BTreeMap;

const DEFAULTS: &str = include_str!("../../assets/keymap.toml");

/// Where a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// Everywhere but in prompts.
    Global,
    Roster,
    Approvals,
    Board,
    Inbox,
    Activity,
    /// Something is open in full.
    Detail,
    /// Text is being written.
    Prompt,
}

impl Context {
    /// All of them, in the order of the help.
    pub const ALL: [Self; 8] =
        [Self::Global, Self::Roster, Self::Approvals, Self::Board, Self::Inbox, Self::Activity, Self::Detail, Self::Prompt];

    /// The section's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Roster => "roster",
            Self::Approvals => "approvals",
            Self::Board => "board",
            Self::Inbox => "inbox",
            Self::Activity => "activity",
            Self::Detail => "detail",
            Self::Prompt => "prompt",
        }
    }
}

/// Why a keymap cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// Not TOML, or a field of the wrong type.
    #[error("{origin}: {reason}")]
    Syntax { origin: String, reason: String },
    /// A section that does not exist.
    #[error("{origin}:{line}: there is no context [{name}]; {hint}")]
    Context { origin: String, line: usize, name: String, hint: String },
    /// An action that does not exist in this context.
    #[error("{origin}:{line}: there is no action {name:?} in [{context}]; {hint}")]
    Action { origin: String, line: usize, context: &'static str, name: String, hint: String },
    /// Not a key.
    #[error("{origin}:{line}: {context}.{action}: {reason}")]
    Key { origin: String, line: usize, context: &'static str, action: &'static str, reason: String },
    /// One key for two actions of a context.
    #[error("{origin}: [{context}] binds {key} to both {first} and {second}: give one of them another key")]
    Conflict { origin: String, context: &'static str, key: String, first: &'static str, second: &'static str },
}

/// One action with its keys and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// What runs.
    pub action: Action,
    /// Where.
    pub context: Context,
    /// By which keys; may be none (palette only).
    pub keys: Vec<Key>,
    /// One sentence.
    pub desc: String,
    /// One or two words for the footer.
    pub hint: Option<String>,
    /// Its place in the footer; none = not there.
    pub rank: Option<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    keys: Option<Vec<String>>,
    desc: Option<String>,
    hint: Option<String>,
    rank: Option<u8>,
}

/// All bindings, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

impl Default for Keymap {
    /// The embedded keymap; a test proves that it reads.
    fn default() -> Self {
        Self { bindings: Vec::new() }.merged(DEFAULTS, "assets/keymap.toml", Unknown::Added).unwrap_or(Self { bindings: Vec::new() })
    }
}

/// What happens to an action that the table does not have yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Added,
    Refused,
}

impl Keymap {
    /// The defaults with a user's changes. `origin` is the file's name, for errors.
    pub fn with_overrides(text: &str, origin: &str) -> Result<Self, KeymapError> {
        Self::default().merged(text, origin, Unknown::Refused)
    }

    fn merged(mut self, text: &str, origin: &str, unknown: Unknown) -> Result<Self, KeymapError> {
        let file: BTreeMap<String, BTreeMap<String, Fields>> =
            toml::from_str(text).map_err(|e| KeymapError::Syntax { origin: origin.into(), reason: e.to_string().trim_end().to_owned() })?;
        for (section, actions) in file {
            let Some(context) = Context::ALL.into_iter().find(|c| c.name() == section) else {
                return Err(unknown_context(text, origin, &section));
            };
            for (name, fields) in actions {
                let binding = self.entry(context, &name, unknown).ok_or_else(|| unknown_action(text, origin, context, &name))?;
                apply(binding, fields).map_err(|reason| KeymapError::Key {
                    origin: origin.into(),
                    line: line_of(text, &name),
                    context: context.name(),
                    action: binding.action.name(),
                    reason,
                })?;
            }
        }
        self.bindings.sort_by_key(|b| (b.context, b.rank.unwrap_or(u8::MAX), b.action));
        self.check_conflicts(origin)?;
        Ok(self)
    }

    fn entry(&mut self, context: Context, name: &str, unknown: Unknown) -> Option<&mut Binding> {
        let action = Action::parse(name)?;
        let at = match self.bindings.iter().position(|b| b.context == context && b.action == action) {
            Some(at) => at,
            None if unknown == Unknown::Refused => return None,
            None => {
                self.bindings.push(Binding { action, context, keys: Vec::new(), desc: String::new(), hint: None, rank: None });
                self.bindings.len() - 1
            }
        };
        self.bindings.get_mut(at)
    }

    fn check_conflicts(&self, origin: &str) -> Result<(), KeymapError> {
        let mut seen: BTreeMap<(Context, String), Action> = BTreeMap::new();
        for binding in &self.bindings {
            for key in &binding.keys {
                if let Some(first) = seen.insert((binding.context, key.to_string()), binding.action) {
                    return Err(KeymapError::Conflict {
                        origin: origin.into(),
                        context: binding.context.name(),
                        key: key.to_string(),
                        first: first.name(),
                        second: binding.action.name(),
                    });
                }
            }
        }
        Ok(())
    }

    /// What `key` does in `context`, without falling back to another one.
    pub fn action_in(&self, context: Context, key: Key) -> Option<Action> {
        let key = key.normal();
        self.bindings.iter().find(|b| b.context == context && b.keys.contains(&key)).map(|b| b.action)
    }

    /// What `key` does in `context`, the pane's own keys before the global ones. Prompts do not fall back.
    pub fn action(&self, context: Context, key: Key) -> Option<Action> {
        let own = self.action_in(context, key);
        if context == Context::Prompt { own } else { own.or_else(|| self.action_in(Context::Global, key)) }
    }

    /// All bindings: by context, then by their place in the footer.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The binding of an action.
    pub fn binding(&self, action: Action) -> Option<&Binding> {
        self.bindings.iter().find(|b| b.action == action)
    }

    /// The first key of an action as text, for hints; `:` with its name when it has none.
    pub fn key_name(&self, action: Action) -> String {
        let key = self.binding(action).and_then(|b| b.keys.first());
        key.map_or_else(|| format!(":{}", action.name()), ToString::to_string)
    }
}

fn apply(binding: &mut Binding, fields: Fields) -> Result<(), String> {
    if let Some(keys) = fields.keys {
        binding.keys = keys.iter().map(|key| Key::parse(key)).collect::<Result<_, _>>()?;
    }
    if let Some(desc) = fields.desc {
        binding.desc = crate::domain::text::one_line(&desc, 200);
    }
    if let Some(hint) = fields.hint {
        binding.hint = Some(crate::domain::text::one_line(&hint, 24));
    }
    binding.rank = fields.rank.or(binding.rank);
    Ok(())
}

fn unknown_context(text: &str, origin: &str, name: &str) -> KeymapError {
    let names = Context::ALL.map(Context::name);
    let hint = did_you_mean(nearest(name, names), &names.join(", "));
    KeymapError::Context { origin: origin.into(), line: line_of(text, name), name: name.into(), hint }
}

fn unknown_action(text: &str, origin: &str, context: Context, name: &str) -> KeymapError {
    let known: Vec<&str> = Keymap::default().bindings.iter().filter(|b| b.context == context).map(|b| b.action.name()).collect();
    let elsewhere = Action::parse(name).and_then(|a| Keymap::default().binding(a).map(|b| b.context.name()));
    let hint = match elsewhere {
        Some(other) => format!("it belongs into [{other}]"),
        None => did_you_mean(nearest(name, Action::ALL.iter().map(|a| a.name())), &known.join(", ")),
    };
    KeymapError::Action { origin: origin.into(), line: line_of(text, name), context: context.name(), name: name.into(), hint }
}

fn did_you_mean(nearest: Option<&str>, all: &str) -> String {
    nearest.map_or_else(|| format!("there are: {all}"), |name| format!("did you mean {name}?"))
}

/// The first line that names `word`; good enough for a pointer into a file that a person wrote.
fn line_of(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.contains(word)).map_or(1, |at| at + 1)
}
