//! What the names in a command or a path lead to on this machine, for the person who is asked: the file of each program,
//! and where links lead.
//!
//! Looks at file names only. What it says is a help for reading, never a ground for a decision: it may change before the
//! command runs.

use super::policy::{Part, Word, split};
use std::path::{Path, PathBuf};

/// Most lines.
const LINES_MAX: usize = 24;
/// Most words that are looked up.
const WORDS_MAX: usize = 400;

/// For a command that runs in `workspace`.
pub(super) fn of_command(command: &str, workspace: &Path) -> Vec<String> {
    let parts = match split(command) {
        Ok(parts) => parts,
        Err(unsure) => return vec![format!("not read to its end: it holds {unsure}")],
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut lines = Vec::new();
    let mut add = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    let mut left = WORDS_MAX;
    for (program, rest) in parts.iter().filter_map(program) {
        if left == 0 {
            break;
        }
        add(format!("runs {}", of_program(&program, &folders, workspace)));
        for word in rest.iter().filter_map(Word::known).take(left) {
            of_path(Path::new(&word), workspace).into_iter().for_each(&mut add);
        }
        left = left.saturating_sub(rest.len() + 1);
    }
    for target in parts.iter().flat_map(|part| &part.writes).take(WORDS_MAX) {
        let real = real(&workspace.join(target));
        add(format!("writes {}", real.display()));
    }
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// For a file below `workspace` that is to be written.
pub(super) fn of_file(relative: &Path, workspace: &Path) -> Vec<String> {
    vec![format!("writes {}", real(&workspace.join(relative)).display())]
}

/// The program of a part after the variables that are set for it, and the words after it.
fn program(part: &Part) -> Option<(String, &[Word])> {
    let is_set = |word: &Word| word.known().is_none_or(|text| text.split_once('=').is_some_and(|(name, _)| !name.contains('/')));
    let at = part.words.iter().position(|word| !is_set(word))?;
    Some((part.words[at].known()?, &part.words[at + 1..]))
}

fn of_program(name: &str, folders: &[PathBuf], workspace: &Path) -> String {
    let found = if name.contains('/') {
        Some(workspace.join(name)).filter(|path| path.is_file())
    } else {
        folders.iter().map(|folder| workspace.join(folder).join(name)).find(|path| path.is_file())
    };
    match found {
        Some(path) => format!("{name} → {}", real(&path).display()),
        None => format!("{name}: no program file of that name (a part of the shell, a function, or missing)"),
    }
}

/// Said only where a name leads somewhere else than it says.
fn of_path(path: &Path, workspace: &Path) -> Option<String> {
    let meant = workspace.join(path);
    let real = meant.canonicalize().ok()?;
    let plain = real.strip_prefix(workspace).is_ok_and(|inside| inside == path) || real == meant || path == Path::new(".");
    (!plain).then(|| format!("{} → {}", path.display(), real.display()))
}

/// Where a path leads, with what does not exist yet as it is written.
fn real(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let Ok(real) = there.canonicalize() {
            let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn programs_and_links_are_told_with_what_they_lead_to() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().canonicalize().unwrap();
        std::fs::create_dir(work.join("src")).unwrap();
        std::fs::write(work.join("src/a"), "").unwrap();
        symlink("/etc/passwd", work.join("notes")).unwrap();
        symlink("/etc", work.join("out")).unwrap();
        let said = of_command("A=1 sh -c 'cat notes src/a' && nosuchprogram > out/x", &work).join("\n");
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        for line in [&format!("runs sh → {}", shell.display()), "notes → /etc/passwd", "writes /etc/x", "runs nosuchprogram: no program"]
        {
            assert!(said.contains(line), "{line}: {said}");
        }
        assert!(!said.contains("src/a →"), "{said}");
        assert_eq!(of_file(Path::new("out/new/x"), &work), ["writes /etc/new/x"]);
        assert!(of_command("eval x", &work)[0].contains("not read to its end"));
    }
}
