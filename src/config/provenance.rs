//! Where each value comes from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    #[default]
    Default,
    /// A line of the user's file.
    User { path: PathBuf, line: usize },
    /// A line of the workspace's file.
    Workspace { path: PathBuf, line: usize },
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.pad("default"),
            Self::User { path, line } | Self::Workspace { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) | Self::Flag(name) => f.pad(name),
        }
    }
}

/// The origin of every key that is not at its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance(BTreeMap<Vec<String>, Origin>);

impl Provenance {
    /// Where the key's value comes from.
    pub fn of<S: AsRef<str>>(&self, path: &[S]) -> Origin {
        let path: Vec<String> = path.iter().map(|part| part.as_ref().to_owned()).collect();
        self.0.get(&path).cloned().unwrap_or_default()
    }

    pub(super) fn set(&mut self, path: Vec<String>, origin: Origin) {
        self.0.insert(path, origin);
    }
}
