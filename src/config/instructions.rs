//! `AGENTS.md`: standing instructions of a project and of the person, given to every member.
//!
//! The nearest file wins, from the workspace upward to the root of the repository; the person's own comes after it.
//! Without a repository only the workspace itself is looked at: what lies above may be anybody's.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The file's name.
pub const NAME: &str = "AGENTS.md";
/// A longer file is cut here, in bytes; what a member reads at each start must stay short.
pub const LENGTH_MAX: usize = 32 * 1024;

/// Instructions with their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// The file.
    pub origin: PathBuf,
    /// Its text, at most [`LENGTH_MAX`] bytes.
    pub text: String,
    /// How many bytes were left out.
    pub cut: u64,
}

/// The project's instructions and the person's, in this order. A file that is missing, empty or not plain is passed over.
pub fn find(workspace: &Path, config_dir: Option<&Path>) -> Vec<Instructions> {
    let root = workspace.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(workspace);
    let within = workspace.ancestors().take_while(|dir| dir.starts_with(root));
    let project = within.into_iter().find_map(|dir| read(&dir.join(NAME), Some(root)));
    let own = config_dir.and_then(|dir| read(&dir.join(NAME), None));
    project.into_iter().chain(own).collect()
}

/// All of them as one text for the members, each under its origin; `None` when there are none.
pub fn joined(all: &[Instructions]) -> Option<String> {
    let part = |one: &Instructions| {
        let cut = if one.cut > 0 { format!("\n[{} bytes more were left out]", one.cut) } else { String::new() };
        format!("From {}:\n{}{cut}", one.origin.display(), one.text.trim())
    };
    (!all.is_empty()).then(|| all.iter().map(part).collect::<Vec<_>>().join("\n\n"))
}

/// Reads a plain file, or a link to one that does not leave `root`.
fn read(path: &Path, root: Option<&Path>) -> Option<Instructions> {
    let real = std::fs::canonicalize(path).ok()?;
    if let Some(root) = root.and_then(|root| std::fs::canonicalize(root).ok())
        && !real.starts_with(root)
    {
        return None;
    }
    let meta = std::fs::metadata(&real).ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    std::fs::File::open(&real).ok()?.take(LENGTH_MAX as u64).read_to_end(&mut bytes).ok()?;
    let cut = meta.len().saturating_sub(bytes.len() as u64);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        // The cut may lie within a character.
        Err(error) if cut > 0 && error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned()
        }
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    (!text.trim().is_empty()).then(|| Instructions { origin: path.to_owned(), text, cut })
}
