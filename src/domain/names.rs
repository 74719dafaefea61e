//! Who: names of members, and the parties that send and decide.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The most characters a name may have.
pub const NAME_MAX: usize = 64;
/// Names that no teammate may take.
pub const RESERVED: [&str; 4] = ["lead", "human", "all", "system"];

/// Why a text is not a member's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`.
    #[error("{0:?} is not a name: use 1 to 64 letters, digits, `_` or `-`, starting with a letter or digit")]
    Form(String),
    /// One of the reserved names.
    #[error("{0:?} is reserved (lead, human, all, system): choose another name")]
    Reserved(String),
}

/// A checked member name. It fits `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`, so it is safe as a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MemberName(Arc<str>);

impl MemberName {
    /// Takes any well-formed name, `lead` included.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let mut bytes = text.bytes();
        let first = bytes.next().is_some_and(|b| b.is_ascii_alphanumeric());
        let rest = bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if !first || !rest || text.len() > NAME_MAX {
            return Err(NameError::Form(text.chars().take(80).collect()));
        }
        match text.to_ascii_lowercase().as_str() {
            "lead" => Ok(Self::lead()),
            "human" | "all" | "system" => Err(NameError::Reserved(text.to_owned())),
            _ => Ok(Self(text.into())),
        }
    }

    /// Takes a name that a new teammate may have: well-formed and not reserved.
    pub fn parse_teammate(text: &str) -> Result<Self, NameError> {
        let name = Self::parse(text)?;
        if name.is_lead() {
            return Err(NameError::Reserved(text.to_owned()));
        }
        Ok(name)
    }

    /// The lead.
    pub fn lead() -> Self {
        Self("lead".into())
    }

    /// Whether this is the lead.
    pub fn is_lead(&self) -> bool {
        &*self.0 == "lead"
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are the same name, ignoring case.
    pub fn same(&self, other: &str) -> bool {
        self.0.eq_ignore_ascii_case(other)
    }
}

impl fmt::Display for MemberName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for MemberName {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Who sends, decides or edits. Set by the runtime, never by the content of a message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// The person at the keyboard or the command line.
    Human,
    /// The runtime itself.
    System,
    /// A member of the team.
    Member(MemberName),
    /// A name in a file that some other program wrote and that is no member's name. Without any right.
    Outside(Arc<str>),
}

impl Party {
    /// Reads the `from` of a file: `human`, `system`, a member's name, or anything else as [`Party::Outside`].
    pub fn read(text: &str) -> Self {
        match text {
            "human" | "user" => Self::Human,
            "system" => Self::System,
            _ => MemberName::parse(text).map_or_else(|_| Self::Outside(text.into()), Self::Member),
        }
    }

    /// The lead.
    pub fn lead() -> Self {
        Self::Member(MemberName::lead())
    }

    /// The member, if it is one.
    pub fn member(&self) -> Option<&MemberName> {
        match self {
            Self::Member(name) => Some(name),
            Self::Human | Self::System | Self::Outside(_) => None,
        }
    }

    /// Whether this is the lead.
    pub fn is_lead(&self) -> bool {
        self.member().is_some_and(MemberName::is_lead)
    }

    /// The word that files and screens use.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Human => "human",
            Self::System => "system",
            Self::Member(name) => name.as_str(),
            Self::Outside(text) => text,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Party {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Party {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(Self::read(&String::deserialize(d)?))
    }
}

/// The name among `known` that is nearest to `wrong` (at most 3 edits and less than half of it), for "did you mean".
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    known
        .into_iter()
        .map(|name| (edit_distance(&wrong, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 3 && *distance * 2 <= name.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(NAME_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(NAME_MAX).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
