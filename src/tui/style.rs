//! Roles and how they look. Themes are data; without colours only weight, underline and reverse remain.

use crate::app::ColorMode;
use crate::app::rich::Ink;
use ratatui::style::{Color, Modifier, Style as Look};
use serde::Deserialize;
use std::collections::BTreeMap;

const DARK: &str = include_str!("../../assets/themes/dark.toml");
const LIGHT: &str = include_str!("../../assets/themes/light.toml");
const MONO: &str = include_str!("../../assets/themes/mono.toml");

macro_rules! roles {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// What a piece of the screen is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Role { $(#[doc = concat!("`", $name, "`")] $variant),* }

        impl Role {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name in theme files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

roles! {
    Text = "text",
    Dim = "dim",
    Strong = "strong",
    Emphasis = "emphasis",
    Heading = "heading",
    Code = "code",
    Link = "link",
    Accent = "accent",
    Attention = "attention",
    Error = "error",
    Success = "success",
    Added = "added",
    Removed = "removed",
    Border = "border",
    BorderFocused = "border_focused",
    Title = "title",
    TitleFocused = "title_focused",
    Selection = "selection",
    SelectionQuiet = "selection_quiet",
}

impl From<Ink> for Role {
    fn from(ink: Ink) -> Self {
        match ink {
            Ink::Text => Self::Text,
            Ink::Dim => Self::Dim,
            Ink::Strong => Self::Strong,
            Ink::Emphasis => Self::Emphasis,
            Ink::Heading => Self::Heading,
            Ink::Code => Self::Code,
            Ink::Link => Self::Link,
            Ink::Accent => Self::Accent,
            Ink::Attention => Self::Attention,
            Ink::Error => Self::Error,
            Ink::Success => Self::Success,
            Ink::Added => Self::Added,
            Ink::Removed => Self::Removed,
        }
    }
}

/// Why a theme cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// Not TOML, or a field of the wrong type.
    #[error("{origin}: {reason}")]
    Syntax { origin: String, reason: String },
    /// A role that does not exist.
    #[error("{origin}: there is no role {name:?}; {hint}")]
    Role { origin: String, name: String, hint: String },
    /// Not a colour.
    #[error("{origin}: {role}: {color:?} is no colour: use a name like light_blue, an index 0 to 255, or #rrggbb")]
    Color { origin: String, role: &'static str, color: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    roles: BTreeMap<String, Fields>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    fg: Option<String>,
    bg: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
    reversed: bool,
}

/// How everything looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    looks: Vec<Look>,
    /// Draw with ASCII signs only.
    pub ascii: bool,
}

impl Style {
    /// A bundled theme by name (`dark`, `light`, `mono`; others are `dark`). Without colours it is always `mono`.
    pub fn new(theme: &str, color: ColorMode, ascii: bool) -> Self {
        let text = match (color, theme) {
            (ColorMode::Mono, _) | (_, "mono") => MONO,
            (ColorMode::Themed, "light") => LIGHT,
            (ColorMode::Themed, _) => DARK,
        };
        let plain = Self { looks: vec![Look::new(); Role::ALL.len()], ascii };
        plain.clone().patched(text, theme).unwrap_or(plain)
    }

    /// The `dark` theme with a user's changes, role by role. `origin` is the file's name, for errors.
    pub fn from_theme(text: &str, origin: &str, color: ColorMode, ascii: bool) -> Result<Self, ThemeError> {
        let patched = Self::new("dark", color, ascii).patched(text, origin)?;
        Ok(match color {
            ColorMode::Themed => patched,
            ColorMode::Mono => Self::new("mono", color, ascii),
        })
    }

    fn patched(mut self, text: &str, origin: &str) -> Result<Self, ThemeError> {
        let file: File =
            toml::from_str(text).map_err(|e| ThemeError::Syntax { origin: origin.into(), reason: e.to_string().trim_end().to_owned() })?;
        for (name, fields) in file.roles {
            let Some(role) = Role::ALL.iter().find(|role| role.name() == name) else {
                let names = Role::ALL.iter().map(|role| role.name());
                let hint = crate::domain::names::nearest(&name, names.clone());
                let hint =
                    hint.map_or_else(|| format!("there are: {}", names.collect::<Vec<_>>().join(", ")), |n| format!("did you mean {n}?"));
                return Err(ThemeError::Role { origin: origin.into(), name, hint });
            };
            let look = look(&fields).map_err(|color| ThemeError::Color { origin: origin.into(), role: role.name(), color })?;
            if let Some(place) = self.looks.get_mut(*role as usize) {
                *place = look;
            }
        }
        Ok(self)
    }

    /// How a role looks.
    pub fn of(&self, role: Role) -> Look {
        self.looks.get(role as usize).copied().unwrap_or_default()
    }
}

fn look(fields: &Fields) -> Result<Look, String> {
    let mut look = Look::new();
    let color = |text: &String| text.parse::<Color>().map_err(|_| text.clone());
    if let Some(fg) = &fields.fg {
        look = look.fg(color(fg)?);
    }
    if let Some(bg) = &fields.bg {
        look = look.bg(color(bg)?);
    }
    let modifiers = [
        (fields.bold, Modifier::BOLD),
        (fields.dim, Modifier::DIM),
        (fields.italic, Modifier::ITALIC),
        (fields.underlined, Modifier::UNDERLINED),
        (fields.reversed, Modifier::REVERSED),
    ];
    Ok(modifiers.into_iter().filter(|(on, _)| *on).fold(look, |look, (_, modifier)| look.add_modifier(modifier)))
}
