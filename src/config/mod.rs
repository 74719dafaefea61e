//! Settings: defaults ← the user's file ← the workspace's file ← the environment ← flags, with the origin of each value.
//!
//! Imports `domain`, `llm`'s settings and `collaboration`'s list of names; serde, toml, directories, tempfile. The environment comes in as a
//! map, so that nothing here depends on the process it runs in. Deliberately absent: the command line, the screen, keys
//! in files (a key comes from the environment or from a command, and is never kept).
//!
//! One table, [`fields`], says which keys exist: loading, errors, `config show`, the trust rule and the test of
//! `config.example.toml` all read it.

pub mod error;
pub mod fields;
mod file;
pub mod instructions;
pub mod load;
pub mod places;
mod plain;
pub mod provenance;
pub mod secret;
mod setting;
pub mod trust;
mod validate;
pub mod values;

pub use error::ConfigError;
pub use load::{Flags, LoadInput, Loaded, UserFile, load};
pub use places::Places;
pub use plain::read_plain;
pub use provenance::{Origin, Provenance};
pub use trust::{TrustBook, UntrustedNotice};
pub use values::{AsciiMode, Config, Headers, ProviderConfig, ScreenConfig};

/// The environment's variables. Tests give their own.
pub type Env = std::collections::BTreeMap<String, String>;

/// Where a workspace keeps its own settings.
pub const WORKSPACE_FILE: &str = ".signoff/config.toml";
/// Every key with its default and a comment; what `config init` writes.
pub const EXAMPLE: &str = include_str!("../../config.example.toml");

/// The variable, if it is set and not empty.
pub fn env_var<'e>(env: &'e Env, name: &str) -> Option<&'e str> {
    env.get(name).map(String::as_str).filter(|value| !value.is_empty())
}
