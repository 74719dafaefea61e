//! Where this platform keeps settings, state and logs.

use super::error::ConfigError;
use std::path::PathBuf;

/// The directories of this user. Nothing is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Holds `config.toml` and `AGENTS.md`.
    pub config_dir: PathBuf,
    /// Holds `trust.json` and `logs/`.
    pub state_dir: PathBuf,
}

impl Places {
    /// As the platform has them (`XDG_CONFIG_HOME` and the like are honoured).
    ///
    /// # Errors
    /// When the user has no home.
    pub fn of_platform() -> Result<Self, ConfigError> {
        let dirs = directories::ProjectDirs::from("", "", "signoff").ok_or(ConfigError::NoHome { what: "settings" })?;
        let state_dir = dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_owned();
        Ok(Self { config_dir: dirs.config_dir().to_owned(), state_dir })
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The trusted workspaces.
    pub fn trust_file(&self) -> PathBuf {
        self.state_dir.join("trust.json")
    }

    /// The logs.
    pub fn log_dir(&self) -> PathBuf {
        self.state_dir.join("logs")
    }
}
