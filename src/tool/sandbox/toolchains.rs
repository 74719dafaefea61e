//! Which folders of the person a build needs for reading: compilers, interpreters, package caches.
//!
//! Found by the variables that name them, by the usual places below the home folder, and by `PATH`. Folders that also
//! hold secrets are let through in parts: cargo's without its credentials, Maven's without its settings. Deliberately
//! absent: Gradle's folder (secrets and caches lie side by side), the settings of git, npm and pip (they may hold tokens).

use super::Surroundings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Variables that name a folder that is let through whole.
const WHOLE: [&str; 16] = [
    "RUSTUP_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_DIR",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "SDKMAN_DIR",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "RBENV_ROOT",
    "BUN_INSTALL",
    "DENO_INSTALL",
];
/// Below the home folder, let through whole.
const AT_HOME: [&str; 24] = [
    ".rustup",
    ".pyenv",
    ".nvm",
    ".fnm",
    ".volta",
    ".asdf",
    ".sdkman",
    ".rbenv",
    ".bun/bin",
    ".deno/bin",
    ".nodenv",
    ".ghcup",
    ".opam",
    ".juliaup",
    ".dotnet",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".local/share/pipx",
    ".local/share/mise",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".m2/repository",
    ".nix-profile",
];
/// Parts of cargo's folder: all but its credentials.
const CARGO: [&str; 5] = ["bin", "registry", "git", "config.toml", "env"];
/// Parts of a Go workspace outside the project.
const GO: [&str; 2] = ["bin", "pkg"];
/// Folders with these names are no toolchains, whatever program lies in their `bin`.
const NEVER_WHOLE: [&str; 5] = [".cargo", ".local", ".config", "go", ".m2"];
/// A folder with one of these in it is somebody's home.
const MARKS_OF_A_HOME: [&str; 4] = [".ssh", ".gnupg", ".bashrc", ".profile"];

/// Existing folders and files to read, as the person names them, without double ones.
pub(super) fn folders(surroundings: &Surroundings) -> Vec<PathBuf> {
    let variable = |name: &str| surroundings.variables.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = surroundings.home.as_deref();
    let mut found: Vec<PathBuf> = WHOLE.iter().filter_map(|name| variable(name)).filter(|path| !is_wide(path, home)).collect();
    found.extend(home.into_iter().flat_map(|home| AT_HOME.iter().map(|name| home.join(name))));
    let cargo = variable("CARGO_HOME").or_else(|| home.map(|home| home.join(".cargo")));
    found.extend(cargo.into_iter().flat_map(|cargo| CARGO.map(|part| cargo.join(part))));
    let go = variable("GOPATH").or_else(|| home.map(|home| home.join("go")));
    found.extend(go.into_iter().flat_map(|go| GO.map(|part| go.join(part))));
    let path = surroundings.variables.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    found.extend(std::env::split_paths(&path).filter(|entry| entry.is_absolute()).filter_map(|entry| of_path_entry(&entry, home)));
    without_nested(found)
}

/// A folder of programs, with what lies beside it when it is the `bin` of a toolchain.
fn of_path_entry(entry: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let parent = entry.parent()?;
    let is_bin = entry.file_name().is_some_and(|name| name == "bin");
    let named = parent.file_name().is_some_and(|name| NEVER_WHOLE.iter().any(|never| name == *never));
    if is_bin && !named && !is_wide(parent, home) {
        return Some(parent.to_owned());
    }
    (!is_wide(entry, home)).then(|| entry.to_owned())
}

/// Whether more than a toolchain lies there: the top of the file system, a home, or what holds one.
fn is_wide(path: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(path))
        || path.components().count() < 3
        || MARKS_OF_A_HOME.iter().any(|mark| path.join(mark).exists())
}

fn without_nested(mut found: Vec<PathBuf>) -> Vec<PathBuf> {
    found.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in found {
        let covered = kept.iter().any(|wider| path.starts_with(wider)) || path.starts_with("/usr") || path.starts_with("/opt");
        if !covered && path.exists() {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::Tier;
    use super::*;

    fn seen(home: &Path, variables: &[(&str, &str)]) -> Vec<PathBuf> {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), value.replace('~', home.to_str().unwrap()).into()));
        folders(&Surroundings {
            home: Some(home.to_owned()),
            variables: variables.collect(),
            again: Vec::new(),
            bubblewrap: Vec::new(),
            strongest: Tier::Full,
        })
    }

    #[test]
    fn toolchains_are_let_through_and_keys_are_not() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".ssh", ".cargo/bin", ".cargo/registry", ".local/bin", ".local/share/keyrings", "conda/bin", ".nvm/v20/bin", "bin"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        std::fs::write(home.path().join(".cargo/credentials.toml"), "token").unwrap();
        let seen = seen(
            home.path(),
            &[("PATH", "~/.cargo/bin:~/.local/bin:~/conda/bin:~/.nvm/v20/bin:~/bin:~:/usr/bin:relative"), ("NVM_DIR", "~")],
        );
        let names: Vec<&str> = seen.iter().map(|path| path.strip_prefix(home.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, [".cargo/bin", ".cargo/registry", ".local/bin", ".nvm", "bin", "conda"]);
    }
}
