//! The team as `team/config.json` keeps it; both upstream shapes are read, ours is written.
//!
//! Others write this file, too: an entry that is no member is kept as it is beside the good ones, reported, and written
//! back, so that one slip of the pen costs nobody the roster.

use super::{Extra, Member};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The team's name, protocol and members.
#[derive(Clone, Debug, PartialEq)]
pub struct TeamConfig {
    /// `teamName` upstream.
    pub team_name: String,
    /// The collaboration protocol.
    pub protocol: String,
    /// `teammates` upstream.
    pub members: Vec<Member>,
    /// Entries of the members' list that cannot be read. They are nobody, and stay in the file until somebody mends them.
    pub unread: Vec<Value>,
    /// Fields of other programs.
    pub extra: Extra,
}

impl Default for TeamConfig {
    fn default() -> Self {
        Self { team_name: "default".into(), protocol: "autonomous".into(), members: Vec::new(), unread: Vec::new(), extra: Extra::new() }
    }
}

impl TeamConfig {
    /// What is wrong with each entry that cannot be read: whose it is, as far as it says so, and why. Not sanitised.
    pub fn unread_reasons(&self) -> impl Iterator<Item = String> {
        self.unread.iter().map(|entry| {
            let whose = name_of(entry).map_or_else(|| "a member without a name".to_owned(), |name| format!("the member {name:?}"));
            let why = serde_json::from_value::<Member>(entry.clone()).err().map(|error| error.to_string()).unwrap_or_default();
            format!("{whose} cannot be read ({why}); its entry is left as it is, mend or remove it")
        })
    }

    /// Whether an entry that cannot be read bears this name, ignoring case.
    pub fn is_unread(&self, name: &str) -> bool {
        self.unread.iter().filter_map(name_of).any(|unread| unread.eq_ignore_ascii_case(name))
    }
}

fn name_of(entry: &Value) -> Option<&str> {
    entry.get("name").and_then(Value::as_str)
}

#[derive(Serialize)]
struct Wire<'t> {
    team_name: &'t str,
    protocol: &'t str,
    members: Vec<Entry<'t>>,
    #[serde(flatten)]
    extra: &'t Extra,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'t> {
    Member(&'t Member),
    Unread(&'t Value),
}

impl Serialize for TeamConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let members = self.members.iter().map(Entry::Member).chain(self.unread.iter().map(Entry::Unread)).collect();
        Wire { team_name: &self.team_name, protocol: &self.protocol, members, extra: &self.extra }.serialize(s)
    }
}

impl<'de> Deserialize<'de> for TeamConfig {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut fields = Extra::deserialize(d)?;
        let mut team = Self::default();
        if let Some(name) = take_text(&mut fields, &["team_name", "teamName"]).map_err(D::Error::custom)? {
            team.team_name = name;
        }
        if let Some(protocol) = take_text(&mut fields, &["protocol"]).map_err(D::Error::custom)? {
            team.protocol = protocol;
        }
        let list = match take(&mut fields, &["members", "teammates"]) {
            None | Some((_, Value::Null)) => Vec::new(),
            Some((_, Value::Array(list))) => list,
            Some((key, _)) => return Err(D::Error::custom(format!("`{key}` is no list"))),
        };
        for entry in list {
            match Member::deserialize(&entry) {
                Ok(member) => team.members.push(member),
                Err(_) => team.unread.push(entry),
            }
        }
        team.extra = fields;
        Ok(team)
    }
}

/// The first of these keys that is there; the others stay.
fn take(fields: &mut Extra, keys: &[&'static str]) -> Option<(&'static str, Value)> {
    keys.iter().find_map(|key| fields.remove(*key).map(|value| (*key, value)))
}

fn take_text(fields: &mut Extra, keys: &[&'static str]) -> Result<Option<String>, String> {
    match take(fields, keys) {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text)),
        Some((key, _)) => Err(format!("`{key}` is no text")),
    }
}
