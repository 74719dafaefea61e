//! Names of keys: `q`, `C-p`, `A-Enter`, `S-Tab`, `PgUp`. Read from the keymap, written into footer and help.

use super::msg::{Key, KeyCode};
use crate::domain::names::nearest;

/// Keys that have a name of their own.
const NAMED: [(&str, KeyCode); 18] = [
    ("Enter", KeyCode::Enter),
    ("Esc", KeyCode::Esc),
    ("Tab", KeyCode::Tab),
    ("S-Tab", KeyCode::BackTab),
    ("Backspace", KeyCode::Backspace),
    ("Delete", KeyCode::Delete),
    ("Insert", KeyCode::Insert),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Space", KeyCode::Char(' ')),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
];

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    /// A character without modifiers.
    pub const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A character with control.
    pub const fn ctrl(c: char) -> Self {
        Self { code: KeyCode::Char(c), ctrl: true, alt: false, shift: false }
    }

    /// The one form that bindings are compared in: letters carry their case and not shift, shift with Tab is back-tab,
    /// and a control letter is lower case (terminals differ in all three).
    #[must_use]
    pub fn normal(self) -> Self {
        let code = match self.code {
            KeyCode::Tab if self.shift => KeyCode::BackTab,
            KeyCode::Char(c) if self.ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            code => code,
        };
        let shift = self.shift && !matches!(code, KeyCode::Char(_) | KeyCode::BackTab);
        Self { code, shift, ..self }
    }

    /// The character that this key types: none with control or alt.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }

    /// Reads a key's name; the error says what is wrong and what was perhaps meant.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut key = Self::plain(KeyCode::Esc);
        let mut rest = text;
        while let Some((modifier, tail)) = rest.split_at_checked(2).filter(|(_, tail)| !tail.is_empty()) {
            match modifier {
                "C-" => key.ctrl = true,
                "A-" => key.alt = true,
                "S-" => key.shift = true,
                _ => break,
            }
            rest = tail;
        }
        key.code = code(rest).ok_or_else(|| unknown(text, rest))?;
        Ok(key.normal())
    }
}

fn code(text: &str) -> Option<KeyCode> {
    let mut chars = text.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(KeyCode::Char(c));
    }
    if let Some(number) = text.strip_prefix('F').and_then(|n| n.parse().ok()).filter(|n| (1..=24).contains(n)) {
        return Some(KeyCode::F(number));
    }
    NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, code)| *code)
}

fn unknown(text: &str, rest: &str) -> String {
    let hint = nearest(rest, NAMED.iter().map(|(name, _)| *name));
    let hint = hint.map_or_else(|| "keys are written like q, C-p, A-Enter, S-Tab, PgUp, F1".into(), |name| format!("did you mean {name}?"));
    format!("{text:?} is no key; {hint}")
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (on, name) in [(self.ctrl, "C-"), (self.alt, "A-"), (self.shift, "S-")] {
            if on {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}
