//! Tool names on the wire: servers take `^[A-Za-z0-9_-]{1,64}$` only, names of other programs' tools hold dots and are long.

use crate::domain::{Digest, ToolSpec};
use std::collections::HashMap;

/// Longest name that servers take.
pub const NAME_MAX: usize = 64;

/// Names as offered and as sent, both ways.
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    to_wire: HashMap<String, String>,
    from_wire: HashMap<String, String>,
}

impl NameMap {
    /// The names of `tools`; two that would be sent alike are told apart.
    pub fn new(tools: &[ToolSpec]) -> Self {
        let mut map = Self::default();
        // Names that need no change keep it, whatever comes before them.
        let (clean, odd): (Vec<_>, Vec<_>) = tools.iter().map(|tool| tool.name.as_str()).partition(|name| wire_name(name) == *name);
        for name in clean.into_iter().chain(odd) {
            let mut wire = wire_name(name);
            if map.from_wire.contains_key(&wire) {
                wire = with_digest(&wire, name);
            }
            map.to_wire.insert(name.to_owned(), wire.clone());
            map.from_wire.insert(wire, name.to_owned());
        }
        map
    }

    /// As it is sent.
    pub fn wire(&self, name: &str) -> String {
        self.to_wire.get(name).cloned().unwrap_or_else(|| wire_name(name))
    }

    /// As it was offered; a name that was not offered stays.
    pub fn offered(&self, wire: &str) -> String {
        let wire = wire.trim();
        self.from_wire.get(wire).map_or_else(|| wire.to_owned(), Clone::clone)
    }

    /// Whether a tool of this name was offered, under either name.
    pub fn knows(&self, name: &str) -> bool {
        self.from_wire.contains_key(name) || self.to_wire.contains_key(name)
    }
}

fn wire_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect();
    match plain.len() {
        0 => "unnamed".to_owned(),
        len if len > NAME_MAX => with_digest(&plain, name),
        _ => plain,
    }
}

/// `plain` is ASCII: cutting it at any byte is safe.
fn with_digest(plain: &str, original: &str) -> String {
    let digest = Digest::of(original);
    let head = &plain[..plain.len().min(NAME_MAX - 9)];
    format!("{head}_{}", &digest.as_str()[..8])
}
