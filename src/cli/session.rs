//! What every command starts from: the workspace, the settings, the files.

use super::args::Global;
use super::error::CliError;
use super::out::Out;
use crate::collaboration::registry;
use crate::config::{ConfigError, Env, Flags, LoadInput, Loaded, Places, TrustBook, UserFile, load};
use crate::domain::TeamSettings;
use crate::domain::names::nearest;
use crate::domain::text::one_line;
use crate::store::TeamStore;
use crate::store::files::{Durability, FileBackend};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest name that a team takes from its directory, in characters.
const NAME_MAX: usize = 64;

/// A command's surroundings.
pub struct Session {
    /// The directory the team works in, canonical.
    pub workspace: PathBuf,
    /// The settings with their origins.
    pub loaded: Loaded,
    /// Where this platform keeps settings and state; `None` where it does not say.
    pub places: Option<Places>,
    /// The environment.
    pub env: Env,
    /// The settings file that `--config` names.
    pub config_flag: Option<PathBuf>,
    /// Whether commands are put behind the sandbox.
    pub walls: Walls,
}

/// Whether commands are put behind the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walls {
    /// Behind the strongest that works here.
    Wanted,
    /// The person wants none: `--unsafe-no-sandbox`.
    Declined,
    /// As [`Walls::Wanted`], and where the full one does not work nothing asks: every command is our own.
    Bundled,
}

/// The environment of this process; what is not text is left out.
pub fn environment() -> Env {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

impl Session {
    /// Finds the workspace and loads the settings.
    ///
    /// # Errors
    /// When the workspace is no directory, or the settings are wrong.
    pub fn open(global: &Global, directory: Option<&Path>) -> Result<Self, CliError> {
        Self::open_with(global, directory, UserFile::Named)
    }

    /// The same where the file that `--config` names may still have to be made.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_for_new_settings(global: &Global) -> Result<Self, CliError> {
        Self::open_with(global, None, UserFile::Usual)
    }

    fn open_with(global: &Global, directory: Option<&Path>, named: fn(PathBuf) -> UserFile) -> Result<Self, CliError> {
        let workspace = workspace(global.workspace.as_deref().or(directory))?;
        let env = environment();
        let places = Places::of_platform().ok();
        let user_file = match (&global.config, &places) {
            (Some(file), _) => named(file.clone()),
            (None, Some(places)) => UserFile::Usual(places.config_file()),
            (None, None) => UserFile::None,
        };
        let trust = trust_book(places.as_ref())?;
        let flags = Flags {
            provider: global.provider.clone(),
            model: global.model.clone(),
            script: global.script.clone(),
            protocol: global.protocol.clone(),
            plain: global.plain,
            no_color: global.no_color,
        };
        let protocols: Vec<&str> = registry::names().collect();
        let loaded = load(LoadInput { user_file, workspace: &workspace, env: &env, flags, trust: &trust, protocols: &protocols })?;
        Ok(Self {
            workspace,
            loaded,
            places,
            env,
            config_flag: global.config.clone(),
            walls: if global.unsafe_no_sandbox { Walls::Declined } else { Walls::Wanted },
        })
    }

    /// Tells which keys of an untrusted workspace were left out.
    pub fn mention_untrusted(&self, out: &mut Out) {
        if let Some(text) = self.untrusted() {
            out.say(&format!("note: {text}"));
        }
    }

    /// What of an untrusted workspace's settings does not count, and what to do.
    pub fn untrusted(&self) -> Option<String> {
        let notice = self.loaded.untrusted.as_ref()?;
        let (file, keys) = (notice.file.display(), notice.keys.join(", "));
        Some(format!("{file} is not trusted, so these of its keys do not count: {keys}. Read it, then run `signoff config trust`."))
    }

    /// Rules and limits of the team; a new one bears its directory's name, where nobody gave it another.
    pub fn team_settings(&self) -> TeamSettings {
        let mut settings = self.loaded.config.team.clone();
        if settings.name.is_empty() {
            settings.name = self.workspace.file_name().map(|name| one_line(&name.to_string_lossy(), NAME_MAX)).unwrap_or_default();
        }
        settings
    }

    /// The files of the team.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn store(&self) -> Result<TeamStore, CliError> {
        let durability = if self.loaded.config.fsync { Durability::Synced } else { Durability::Buffered };
        let backend = FileBackend::open(&self.workspace, durability)?;
        Ok(TeamStore::new(Arc::new(backend)))
    }
}

/// The trusted workspaces.
///
/// # Errors
/// When the book cannot be read.
pub fn trust_book(places: Option<&Places>) -> Result<TrustBook, ConfigError> {
    places.map_or_else(|| Ok(TrustBook::default()), |places| TrustBook::open(places.trust_file()))
}

/// The workspace's canonical path.
fn workspace(wanted: Option<&Path>) -> Result<PathBuf, CliError> {
    let wanted = wanted.unwrap_or(Path::new("."));
    let found = std::fs::canonicalize(wanted).map_err(|error| {
        let hint = command_like(wanted).map(|name| format!("; did you mean the command `signoff {name}`?")).unwrap_or_default();
        CliError::Usage(format!("cannot open the workspace {}: {error}{hint}", wanted.display()))
    })?;
    if !found.is_dir() {
        return Err(CliError::Usage(format!("the workspace {} is not a directory", wanted.display())));
    }
    Ok(found)
}

fn command_like(path: &Path) -> Option<String> {
    use clap::CommandFactory as _;
    let text = path.to_str().filter(|text| !text.contains('/'))?;
    let command = super::args::Cli::command();
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    nearest(text, names.iter().map(String::as_str)).map(str::to_owned)
}
