//! The house: a room imports only rooms below it, no file passes 500 lines, libraries stay in their rooms.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rooms with what they may import. `main.rs` and `cli` are the composition root: everything.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("domain", &[]),
    ("store", &["domain"]),
    ("llm", &["domain"]),
    ("tool", &["domain"]),
    ("collaboration", &["domain"]),
    ("protocol", &["domain", "collaboration", "tool::policy"]),
    ("runtime", &["domain", "store", "llm", "tool", "collaboration", "protocol"]),
    ("app", &["domain", "protocol"]),
    ("config", &["domain", "store", "llm", "tool", "collaboration", "protocol", "app"]),
    ("tui", &["domain", "protocol", "runtime", "app", "config"]),
];

/// Libraries with the places that may name them.
const LIBRARIES: [(&str, &[&str]); 8] = [
    ("ratatui", &["tui/"]),
    ("crossterm", &["tui/", "cli/doctor"]),
    ("async_openai", &["llm/openai", "cli/log"]),
    ("notify::", &["store/"]),
    ("clap", &["cli/", "main.rs"]),
    ("directories::", &["config/", "cli/"]),
    ("tracing_appender", &["cli/"]),
    ("tree_sitter", &["tool/policy/"]),
];

const FILE_MAX: usize = 500;
/// A protocol is read as a whole: so many lines in its room.
const PROTOCOL_MAX: usize = 300;

fn sources() -> Vec<(String, String)> {
    files("src")
}

/// The Rust files below a folder of the project, with their texts.
fn files(folder: &str) -> Vec<(String, String)> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    walk(&root, &mut files);
    let relative = |p: &PathBuf| p.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
    files.iter().map(|p| (relative(p), std::fs::read_to_string(p).unwrap())).collect()
}

/// Code without comments, so that a doc link is no import.
fn code(text: &str) -> String {
    text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_room_imports_only_rooms_below_it() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into();
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some(room) = file.split('/').next().filter(|_| file.contains('/')) else { continue };
        let Some(may) = allowed.get(room) else { continue };
        for (at, _) in code(&text).match_indices("crate::") {
            let rest: String = code(&text)[at + 7..].chars().take(40).collect();
            let target: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let fits = target == room || target.is_empty() || may.iter().any(|m| rest.starts_with(m));
            if !fits {
                wrong.push(format!("{file} imports crate::{}", rest.lines().next().unwrap_or_default()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports that run up or sideways:\n{}", wrong.join("\n"));
}

#[test]
fn libraries_stay_in_their_rooms() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let code = code(&text);
        for (library, places) in LIBRARIES {
            let named = code.lines().any(|l| {
                l.contains(&format!("use {library}")) || l.contains(&format!(" {library}::")) || l.contains(&format!("({library}::"))
            });
            if named && !places.iter().any(|place| file.starts_with(place)) {
                wrong.push(format!("{file} names {library}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_pure_rooms_name_no_clock_no_channel_and_no_file() {
    let pure: [(&str, &[&str]); 4] = [
        ("domain/", &["tokio", "std::fs", "std::net", "Instant::now", "SystemTime"]),
        ("protocol/", &["tokio", "std::fs", "std::net", "Instant::now", "SystemTime", "uuid"]),
        ("collaboration/", &["tokio", "serde_json", "std::fs", "std::net", "Instant::now", "SystemTime", "ratatui"]),
        ("app/", &["tokio", "std::fs", "std::net", "Instant::now", "SystemTime", "ratatui", "crossterm"]),
    ];
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for (room, words) in pure {
            let code = code(&text);
            wrong.extend(words.iter().filter(|w| file.starts_with(room) && code.contains(**w)).map(|w| format!("{file} names {w}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_passes_500_lines() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(f, t)| (f, t.lines().count()))
        .filter(|(f, n)| *n > if f.contains("collaboration/") { PROTOCOL_MAX } else { FILE_MAX })
        .map(|(f, n)| format!("{f}: {n}"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    let silent: Vec<String> = sources().into_iter().filter(|(_, t)| !t.starts_with("//!")).map(|(f, _)| f).collect();
    assert!(silent.is_empty(), "without module docs: {}", silent.join(", "));
}

/// A file that no `mod` names is not compiled, and its tests do not run.
#[test]
fn every_file_is_compiled() {
    for folder in ["src", "tests/it"] {
        let all = files(folder);
        let code_of = |path: &str| all.iter().find(|(other, _)| other == path).map(|(_, text)| code(text));
        for (path, _) in all.iter().filter(|(path, _)| !matches!(path.as_str(), "main.rs" | "lib.rs")) {
            let module = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap();
            let (parent, name) = module.rsplit_once('/').unwrap_or(("", module));
            let candidates = match parent {
                "" => vec!["lib.rs".to_owned(), "main.rs".to_owned()],
                parent => vec![format!("{parent}.rs"), format!("{parent}/mod.rs")],
            };
            let named = candidates.iter().filter_map(|candidate| code_of(candidate)).any(|text| text.contains(&format!("mod {name};")));
            assert!(named, "{folder}/{path} is named by no module: {candidates:?}");
        }
    }
}
