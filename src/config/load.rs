//! Loading: each layer in turn, each value with its origin.

use super::error::ConfigError;
use super::fields::{Trust, dotted, find};
use super::file::{self, Entry, Keys, Owner};
use super::provenance::{Origin, Provenance};
use super::trust::{TrustBook, UntrustedNotice};
use super::values::Config;
use super::{Env, WORKSPACE_FILE, env_var, validate};
use crate::domain::Digest;
use std::path::{Path, PathBuf};
use toml::Value;

/// The user's settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserFile {
    /// None.
    None,
    /// The usual one: may be missing.
    Usual(PathBuf),
    /// Named by the person: must exist.
    Named(PathBuf),
}

/// What the command line sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--provider`
    pub provider: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--script`
    pub script: Option<PathBuf>,
    /// `--protocol`
    pub protocol: Option<String>,
    /// `--plain`
    pub plain: bool,
    /// `--no-color`
    pub no_color: bool,
}

/// What loading needs.
pub struct LoadInput<'a> {
    /// The user's file.
    pub user_file: UserFile,
    /// The directory the team works in.
    pub workspace: &'a Path,
    /// The environment.
    pub env: &'a Env,
    /// The command line.
    pub flags: Flags,
    /// Which workspaces are trusted.
    pub trust: &'a TrustBook,
    /// Names of the collaboration protocols.
    pub protocols: &'a [&'a str],
}

/// Settings with their origins.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Where each comes from.
    pub provenance: Provenance,
    /// Keys of the workspace's file that were left out until the person trusts it.
    pub untrusted: Option<UntrustedNotice>,
}

/// Loads all layers.
///
/// # Errors
/// Everything that is wrong with the first file that is: file, line, key and what to write instead.
pub fn load(input: LoadInput<'_>) -> Result<Loaded, ConfigError> {
    let mut layers = Layers { config: Config::default(), provenance: Provenance::default() };
    match &input.user_file {
        UserFile::None => {}
        UserFile::Usual(path) => {
            if let Some(text) = file::read(path, Owner::User)? {
                layers.file(file::entries(&text, path)?, path, &file::base(path), user)?;
            }
        }
        UserFile::Named(path) => {
            let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
            let text = file::read(path, Owner::User)?.ok_or_else(|| super::error::io("read", path)(missing()))?;
            layers.file(file::entries(&text, path)?, path, &file::base(path), user)?;
        }
    }
    let untrusted = layers.workspace(input.workspace, input.trust)?;
    layers.environment(input.env)?;
    layers.flags(input.flags)?;
    validate::check(&layers.config, &layers.provenance, input.protocols)?;
    Ok(Loaded { config: layers.config, provenance: layers.provenance, untrusted })
}

fn user(path: PathBuf, line: usize) -> Origin {
    Origin::User { path, line }
}

fn workspace(path: PathBuf, line: usize) -> Origin {
    Origin::Workspace { path, line }
}

struct Layers {
    config: Config,
    provenance: Provenance,
}

impl Layers {
    /// Takes a file's keys over, or tells everything that is wrong with it.
    fn file(&mut self, keys: Keys, path: &Path, base: &Path, origin: fn(PathBuf, usize) -> Origin) -> Result<(), ConfigError> {
        self.layer(|layers| {
            let Keys { found, mut faults } = keys;
            for Entry { field, path: key, names, value, line } in found {
                if field.set(&mut layers.config, &names, &value, base).is_some() {
                    layers.provenance.set(key, origin(path.to_owned(), line));
                    continue;
                }
                let (place, found) = (format!("{}:{line}", path.display()), field.fault(&value).unwrap_or_else(|| file::describe(&value)));
                faults.push((line, ConfigError::Value { place, key: dotted(&key), expected: field.expected.into(), found }));
            }
            ConfigError::all(faults)
        })
    }

    /// A provider chosen by a later layer does not get the model that an earlier one chose for another provider.
    fn layer(&mut self, apply: impl FnOnce(&mut Self) -> Result<(), ConfigError>) -> Result<(), ConfigError> {
        let name = ["model", "name"];
        let (provider, origin) = (self.config.provider.clone(), self.provenance.of(&name));
        apply(self)?;
        let another = !provider.is_empty() && provider != self.config.provider;
        if another && self.provenance.of(&name) == origin && origin != Origin::Default {
            self.config.model.clear();
            let chosen = self.provenance.of(&["model", "provider"]);
            self.provenance.set(name.map(Into::into).into(), chosen);
        }
        Ok(())
    }

    fn workspace(&mut self, dir: &Path, trust: &TrustBook) -> Result<Option<UntrustedNotice>, ConfigError> {
        let path = dir.join(WORKSPACE_FILE);
        let Some(text) = file::read(&path, Owner::Workspace)? else { return Ok(None) };
        let digest = Digest::of(&text);
        let Keys { found, faults } = file::entries(&text, &path)?;
        let trusted = trust.trusts(&path, &digest);
        let (taken, left): (Vec<Entry>, Vec<Entry>) = found.into_iter().partition(|entry| trusted || entry.field.trust == Trust::Open);
        self.file(Keys { found: taken, faults }, &path, dir, workspace)?;
        let keys: Vec<String> = left.iter().map(|entry| dotted(&entry.path)).collect();
        Ok((!keys.is_empty()).then_some(UntrustedNotice { file: path, keys, digest }))
    }

    fn environment(&mut self, env: &Env) -> Result<(), ConfigError> {
        self.layer(|layers| {
            if let Some(url) = env_var(env, "OPENAI_BASE_URL") {
                layers.set(&["providers", "openai", "base_url"], url.into(), Origin::Environment("OPENAI_BASE_URL"))?;
            }
            if let Some(model) = env_var(env, "SIGNOFF_MODEL") {
                layers.set(&["model", "name"], model.into(), Origin::Environment("SIGNOFF_MODEL"))?;
            }
            if let Some(level) = env_var(env, "SIGNOFF_LOG") {
                layers.set(&["log", "level"], level.into(), Origin::Environment("SIGNOFF_LOG"))?;
            }
            if env_var(env, "NO_COLOR").is_some() {
                layers.set(&["screen", "color"], false.into(), Origin::Environment("NO_COLOR"))?;
            }
            if env_var(env, "ACCESSIBLE").is_some_and(|value| value != "0") {
                layers.set(&["screen", "plain"], true.into(), Origin::Environment("ACCESSIBLE"))?;
            }
            Ok(())
        })
    }

    fn flags(&mut self, flags: Flags) -> Result<(), ConfigError> {
        self.layer(|layers| {
            let scripted = flags.script.is_some() && flags.provider.is_none();
            let provider = flags.provider.or_else(|| scripted.then(|| "scripted".into()));
            let texts = [
                (["model", "provider"], provider, if scripted { "--script" } else { "--provider" }),
                (["model", "name"], flags.model, "--model"),
                (["model", "script"], flags.script.map(|path| path.display().to_string()), "--script"),
                (["team", "protocol"], flags.protocol, "--protocol"),
            ];
            for (key, value, flag) in texts {
                if let Some(value) = value {
                    layers.set(&key, value.into(), Origin::Flag(flag))?;
                }
            }
            if flags.plain {
                layers.set(&["screen", "plain"], true.into(), Origin::Flag("--plain"))?;
            }
            if flags.no_color {
                layers.set(&["screen", "color"], false.into(), Origin::Flag("--no-color"))?;
            }
            Ok(())
        })
    }

    fn set(&mut self, key: &[&str], value: Value, origin: Origin) -> Result<(), ConfigError> {
        let path: Vec<String> = key.iter().map(|part| (*part).to_owned()).collect();
        let fits = find(&path).and_then(|(field, names)| field.set(&mut self.config, &names, &value, Path::new("")));
        if fits.is_none() {
            let expected = find(&path).map_or("a key", |(field, _)| field.expected).into();
            return Err(ConfigError::Value { place: origin.to_string(), key: dotted(key), expected, found: file::describe(&value) });
        }
        self.provenance.set(path, origin);
        Ok(())
    }
}
