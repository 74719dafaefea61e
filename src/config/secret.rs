//! The key of a provider: from the environment, or printed by a command of the person. Never from a file, never kept.

use super::error::ConfigError;
use super::values::ProviderConfig;
use super::{Env, env_var};
use secrecy::SecretString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long the command may take: a password manager may ask the person first.
pub const COMMAND_TIME: Duration = Duration::from_secs(60);
/// No key is longer than this, in bytes.
const KEY_MAX: u64 = 64 * 1024;

/// Where a key comes from, without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// This variable.
    Variable(String),
    /// The provider's `api_key_cmd`.
    Command,
}

impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => f.pad(name),
            Self::Command => f.pad("api_key_cmd"),
        }
    }
}

/// Where the provider's key would come from, without asking for it.
pub fn source(provider: &ProviderConfig, env: &Env) -> Option<KeySource> {
    let set = !provider.api_key_env.is_empty() && env_var(env, &provider.api_key_env).is_some();
    if set {
        return Some(KeySource::Variable(provider.api_key_env.clone()));
    }
    (!provider.api_key_cmd.is_empty()).then_some(KeySource::Command)
}

/// The provider's key; `None` when none is configured. Blocks while the command runs, at most `patience`.
///
/// # Errors
/// When the command fails, or what it printed cannot be a key.
pub fn resolve(name: &str, provider: &ProviderConfig, env: &Env, patience: Duration) -> Result<Option<SecretString>, ConfigError> {
    let Some(source) = source(provider, env) else { return Ok(None) };
    let text = match &source {
        KeySource::Variable(variable) => env_var(env, variable).unwrap_or_default().to_owned(),
        KeySource::Command => run(&provider.api_key_cmd, patience).map_err(|reason| ConfigError::KeyCommand {
            provider: name.to_owned(),
            variable: if provider.api_key_env.is_empty() { "api_key_env".into() } else { provider.api_key_env.clone() },
            reason,
        })?,
    };
    let key = text.trim();
    let bad = |what| Err(ConfigError::BadKey { provider: name.to_owned(), source_name: source.to_string(), what });
    if key.is_empty() {
        return bad("no visible character");
    }
    if key.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return bad("a line break, a space or a control character in the middle");
    }
    Ok(Some(SecretString::from(key.to_owned())))
}

/// Runs `sh -c command` in its own process group and returns what it printed.
fn run(command: &str, patience: Duration) -> Result<String, String> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot start it: {error}"))?;
    let group = rustix::process::Pid::from_child(&child);
    let (told, ended) = mpsc::channel();
    // Reading ends when the last holder of the pipe does, which may be a grandchild: so it is not waited for here.
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = child.stdout.take().map_or(Ok(0), |pipe| pipe.take(KEY_MAX).read_to_end(&mut text));
        let _ = told.send(read.and_then(|_| child.wait()).map(|status| (status, text)));
    });
    let Ok(outcome) = ended.recv_timeout(patience) else {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        return Err(format!("no answer within {} s", patience.as_secs()));
    };
    let (status, bytes) = outcome.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    String::from_utf8(bytes).map_err(|_| "it printed something that is not text".into())
}
