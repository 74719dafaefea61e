//! `signoff demo`: the bundled sample project, written to a directory of its own, and the scripted model.

use super::error::CliError;
use crate::config::Config;
use crate::domain::settings::Access;
use crate::llm::scripted::demo::{PROJECT, ProjectFile};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Writes the sample project into `wanted`, which must be new or empty, or into a new temporary directory (which stays).
/// Returns the directory.
///
/// # Errors
/// When the directory holds something, or cannot be written.
pub fn prepare(wanted: Option<&Path>) -> Result<PathBuf, CliError> {
    let dir = match wanted {
        Some(dir) => empty(dir)?,
        None => {
            let made = tempfile::Builder::new().prefix("signoff-demo-").tempdir();
            made.map_err(CliError::io("make a temporary directory"))?.keep()
        }
    };
    PROJECT.iter().try_for_each(|file| write(&dir, file))?;
    Ok(dir)
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
