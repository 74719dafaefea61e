//! Which workspaces may set what spends, sends, runs or decides. A workspace's file comes with the code that somebody
//! else wrote; the person trusts it once, as it is: a changed file asks again.

use super::error::{ConfigError, io};
use crate::domain::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What an untrusted workspace wanted to set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedNotice {
    /// Its file.
    pub file: PathBuf,
    /// The keys that were left out.
    pub keys: Vec<String>,
    /// The file as it is now.
    pub digest: Digest,
}

/// The trusted files, in the platform's state directory.
#[derive(Clone, Debug, Default)]
pub struct TrustBook {
    /// Where the book is kept; `None` keeps it in memory only.
    file: Option<PathBuf>,
    trusted: BTreeMap<String, Digest>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    trusted: BTreeMap<String, Digest>,
}

impl TrustBook {
    /// Reads the book; a missing one is empty.
    ///
    /// # Errors
    /// When it cannot be read or does not parse: it is never replaced by an empty one.
    pub fn open(file: PathBuf) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self { file: Some(file), trusted: BTreeMap::new() }),
            Err(error) => return Err(io("read", &file)(error)),
        };
        match serde_json::from_str::<Kept>(&text) {
            Ok(kept) => Ok(Self { file: Some(file), trusted: kept.trusted }),
            Err(error) => Err(ConfigError::TrustBook { path: file, reason: error.to_string() }),
        }
    }

    /// Whether the person trusted this file with exactly this text.
    pub fn trusts(&self, file: &Path, digest: &Digest) -> bool {
        self.trusted.get(&name_of(file)) == Some(digest)
    }

    /// Remembers that the person trusts this file as it was shown: the digest is the notice's, not one of what the file has become.
    ///
    /// # Errors
    /// When the book cannot be written.
    pub fn trust(&mut self, notice: &UntrustedNotice) -> Result<(), ConfigError> {
        self.trusted.insert(name_of(&notice.file), notice.digest.clone());
        let Some(file) = &self.file else { return Ok(()) };
        let dir = file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(io("create", dir))?;
        let kept = Kept { version: 1, trusted: self.trusted.clone() };
        let text = serde_json::to_string_pretty(&kept).map_err(|error| io("write", file)(error.into()))?;
        // A temporary file is readable by its owner alone, and so is what it becomes.
        let mut temporary = tempfile::NamedTempFile::new_in(dir).map_err(io("write", file))?;
        temporary.write_all(text.as_bytes()).and_then(|()| temporary.as_file().sync_all()).map_err(io("write", file))?;
        temporary.persist(file).map_err(|error| io("write", file)(error.error))?;
        Ok(())
    }
}

fn name_of(file: &Path) -> String {
    std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()).display().to_string()
}
