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
    /// The list of trusted workspaces does not parse.
    #[error("{} does not parse ({reason}): mend it, or remove it to ask again for each workspace", path.display())]
    TrustBook { path: PathBuf, reason: String },
}

/// Opens a file's error.
pub(super) fn io(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> ConfigError {
    let path = path.to_owned();
    move |source| ConfigError::Io { action, path, source }
}
