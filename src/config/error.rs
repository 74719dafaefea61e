//! What can be wrong with settings: each error names the file, the line, the key, and what to write instead.

use std::path::PathBuf;

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// A link, a device or a FIFO where a file belongs, or a file that is far too long.
    #[error("{} is {what}: refused", path.display())]
    NotPlain { path: PathBuf, what: &'static str },
    /// Not TOML.
    #[error("{}:{line}: {reason}", path.display())]
    Syntax { path: PathBuf, line: usize, reason: String },
    /// A key that does not exist.
    #[error("{}:{line}: there is no key `{key}`; {hint}", path.display())]
    UnknownKey { path: PathBuf, line: usize, key: String, hint: String },
    /// A value of another type, or out of range.
    #[error("{place}: `{key}` must be {expected}, but it is {found}")]
    Value { place: String, key: String, expected: String, found: String },
    /// A key of a provider in a file.
    #[error(
        "{}:{line}: `{key}`: keys do not belong into files; put it into an environment variable and name that in `api_key_env`, or let `api_key_cmd` print it",
        path.display()
    )]
    KeyInFile { path: PathBuf, line: usize, key: String },
    /// The command that should print a key did not.
    #[error("providers.{provider}.api_key_cmd: {reason}; run it in a shell to see why, or set {variable}")]
    KeyCommand { provider: String, variable: String, reason: String },
    /// A key that cannot be sent.
    #[error("the key of {provider} (from {source_name}) has {what}: it cannot be sent; set it again without")]
    BadKey { provider: String, source_name: String, what: &'static str },
    /// The platform names no home for settings.
    #[error("this platform names no directory for {what}: set HOME, or name a file with --config")]
    NoHome { what: &'static str },
    /// More than one of them, in the order of the file.
    #[error("{}", lines(.0))]
    Several(Vec<ConfigError>),
    /// The list of trusted workspaces does not parse.
    #[error("{} does not parse ({reason}): mend it, or remove it to ask again for each workspace", path.display())]
    TrustBook { path: PathBuf, reason: String },
}

/// Opens a file's error.
pub(super) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> ConfigError {
    let path = path.to_owned();
    move |source| ConfigError::Io { action, path, source }
}

impl ConfigError {
    /// All faults of a file as one, in the order of its lines; none is well.
    pub(super) fn all(mut faults: Vec<(usize, Self)>) -> Result<(), Self> {
        faults.sort_by_key(|(line, _)| *line);
        let mut faults: Vec<Self> = faults.into_iter().map(|(_, fault)| fault).collect();
        match faults.len() {
            0 => Ok(()),
            1 => Err(faults.remove(0)),
            _ => Err(Self::Several(faults)),
        }
    }
}

/// Faults that are told at once; a file that is something else has more.
const TOLD_MAX: usize = 10;

fn lines(faults: &[ConfigError]) -> String {
    let mut lines: Vec<String> = faults.iter().take(TOLD_MAX).map(ToString::to_string).collect();
    let more = faults.len().saturating_sub(TOLD_MAX);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.join("\n")
}
