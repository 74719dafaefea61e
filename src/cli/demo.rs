//! `signoff demo`: the bundled sample project, written to a directory of its own, and the scripted model. A directory that a
//! demonstration has made is opened again as it is.

use super::error::CliError;
use crate::config::Config;
use crate::domain::settings::Access;
use crate::llm::scripted::demo::{PROJECT, ProjectFile};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Stands in a directory that a demonstration has made.
const MARK: &str = ".signoff/demo";
/// What it says to who finds it.
const MARK_TEXT: &str = "made by `signoff demo`; `signoff demo --dir DIR` goes on with it\n";

/// Where a demonstration plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The directory.
    pub dir: PathBuf,
    /// Whether it was made just now, so that its team has still to be told what to do.
    pub is_new: bool,
}

/// Writes the sample project into `wanted`, which must be new or empty, or into a new temporary directory (which stays). A
/// directory that a demonstration has made is left as it is.
///
/// # Errors
/// When the directory holds something else, or cannot be written.
pub fn prepare(wanted: Option<&Path>) -> Result<Prepared, CliError> {
    let dir = match wanted {
        Some(dir) if is_made_by_us(dir) => return Ok(Prepared { dir: dir.to_owned(), is_new: false }),
        Some(dir) => empty(dir)?,
        None => {
            let made = tempfile::Builder::new().prefix("signoff-demo-").tempdir();
            made.map_err(CliError::io("make a temporary directory"))?.keep()
        }
    };
    PROJECT.iter().try_for_each(|file| write(&dir, file))?;
    write(&dir, &ProjectFile { path: MARK, text: MARK_TEXT })?;
    Ok(Prepared { dir, is_new: true })
}

/// Whether a demonstration has made this directory.
pub fn is_made_by_us(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(MARK)).is_ok_and(|found| found.is_file())
}

/// Nothing that is somebody else's is written over.
fn empty(dir: &Path) -> Result<PathBuf, CliError> {
    std::fs::create_dir_all(dir).map_err(CliError::io(format!("make {}", dir.display())))?;
    let mut there = std::fs::read_dir(dir).map_err(CliError::io(format!("read {}", dir.display())))?;
    if there.next().is_some() {
        return Err(CliError::Usage(format!(
            "{} is not empty: name a new directory with --dir, so that nothing is overwritten",
            dir.display()
        )));
    }
    Ok(dir.to_owned())
}

fn write(dir: &Path, file: &ProjectFile) -> Result<(), CliError> {
    let path = dir.join(file.path);
    let failed = || CliError::io(format!("write {}", path.display()));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed())?;
    }
    std::fs::write(&path, file.text).map_err(failed())?;
    if file.is_program() {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(failed())?;
    }
    Ok(())
}

/// The settings of the demonstration: the script answers, and the commands that stand in it may run. Keys and other providers do not
/// count: nothing of the person's is spent.
pub fn configure(config: &mut Config) {
    super::compose::SCRIPTED.clone_into(&mut config.provider);
    config.model.clear();
    config.script = None;
    config.team.protocol = "autonomous".into();
    config.team.permissions.commands = Access::Allow;
    if config.team.name.is_empty() {
        config.team.name = "demo".into();
    }
    // A copy that is thrown away needs no wait for the disk.
    config.fsync = false;
}
