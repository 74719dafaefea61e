//! Which path is meant, and whether it may be written. Lexical; links are looked at when the file is opened.

use crate::tool::ToolError;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The path below `workspace` that a model means by `text`: relative to it, or absolute and inside it. Without `.` and
/// `..`; empty = the workspace itself.
pub fn locate(text: &str, workspace: &Path) -> Result<PathBuf, ToolError> {
    let bad = |reason| ToolError::BadPath { path: text.chars().take(200).collect(), reason };
    if text.contains('\0') {
        return Err(bad("it holds a NUL character"));
    }
    if text == "~" || text.starts_with("~/") {
        return Err(bad("`~` is not expanded; give a path below the workspace"));
    }
    let path = Path::new(text);
    if !path.is_absolute() {
        return normal(path).ok_or_else(|| outside(text));
    }
    let inside = normal_absolute(path).and_then(|path| path.strip_prefix(workspace).map(Path::to_owned).ok());
    inside.or_else(|| through_links(path, workspace)).ok_or_else(|| outside(text))
}

fn outside(text: &str) -> ToolError {
    ToolError::Outside { path: text.chars().take(200).collect() }
}

/// A relative path without `.` and `..`; `None` when it climbs out.
pub(in crate::tool) fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

fn normal_absolute(path: &Path) -> Option<PathBuf> {
    Some(Path::new("/").join(normal(path.strip_prefix("/").ok()?)?))
}

/// An absolute path that reaches the workspace by another way (`/tmp` is a link on some systems).
fn through_links(path: &Path, workspace: &Path) -> Option<PathBuf> {
    let path = normal_absolute(path)?;
    let existing = path.ancestors().find(|ancestor| ancestor.exists())?;
    let rest = path.strip_prefix(existing).ok()?;
    let real = existing.canonicalize().ok()?.join(rest);
    real.strip_prefix(workspace).ok().map(Path::to_owned)
}

/// Refuses paths that only the app itself, or git, writes.
pub fn check_write(relative: &Path) -> Result<(), ToolError> {
    let path = relative.to_string_lossy().into_owned();
    if relative.as_os_str().is_empty() {
        return Err(ToolError::BadPath { path: ".".into(), reason: "it is the workspace itself" });
    }
    match protected(relative) {
        Some(reason) => Err(ToolError::Protected { path, reason }),
        None => Ok(()),
    }
}

/// Why a path below the workspace may not be written, if so.
pub fn protected(relative: &Path) -> Option<&'static str> {
    let names = || relative.components().map(Component::as_os_str);
    if names().any(|name| is(name, ".git")) {
        return Some("git's own files are changed by git only");
    }
    match names().next() {
        Some(name) if is(name, ".tasks") => Some("the board is changed with the task tools"),
        Some(name) if is(name, "team") => Some("the team's files are kept by the app; use the message and team tools"),
        Some(name) if is(name, ".signoff") => Some("settings are changed by the person only"),
        Some(_) | None => None,
    }
}

/// Whether this is one of our own folders at the top of the workspace, or git's: left out when listing and searching.
pub(super) fn is_internal(relative: &Path) -> bool {
    protected(relative).is_some()
}

/// Names that only differ in case are one file on some systems; the dotted ones nobody uses for anything else.
fn is(name: &OsStr, ours: &str) -> bool {
    let ignore_case = ours.starts_with('.') || cfg!(not(target_os = "linux"));
    if ignore_case { name.eq_ignore_ascii_case(ours) } else { name == ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<String> {
        locate(text, Path::new("/w/space")).ok().map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn paths_are_relative_to_the_workspace_or_absolute_inside_it() {
        assert_eq!(at("src/./a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(at("src/../b").as_deref(), Some("b"));
        assert_eq!(at("/w/space/src/a").as_deref(), Some("src/a"));
        assert_eq!(at("").as_deref(), Some(""));
    }

    #[test]
    fn escapes_are_refused() {
        for path in ["..", "../x", "a/../../x", "/etc/passwd", "/w/spacex/a", "/w/space/../other", "~/x", "a\0b"] {
            assert_eq!(at(path), None, "{path}");
        }
    }

    #[test]
    fn our_own_files_and_gits_are_protected_and_nothing_else() {
        for path in [
            ".git/config",
            ".GIT/hooks/x",
            "sub/.git/hooks/pre-commit",
            ".tasks/task_1.json",
            "team/config.json",
            ".signoff/config.toml",
            "",
        ] {
            assert!(check_write(Path::new(path)).is_err(), "{path}");
        }
        for path in [".gitignore", "src/team/mod.rs", "teams/a", ".github/workflows/ci.yml", "tasks/a"] {
            assert!(check_write(Path::new(path)).is_ok(), "{path}");
        }
    }
}
