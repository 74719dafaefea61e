//! A hundred paths that lead out of the workspace or to what nobody may write, by every tool that takes one; names that are
//! no names; folders that are swapped for links while a tool runs.

use super::fake::Room;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use signoff::domain::{MemberName, RequestId};
use signoff::tool::Audience;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// In every file that may not be read through a path that leads out.
const OUTSIDE: &str = "OUTSIDE";
/// What is tried to be written.
const STOLEN: &str = "STOLEN";

struct Yard {
    room: Room,
    outside: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), OUTSIDE).unwrap();
        std::fs::create_dir(outside.path().join("deep")).unwrap();
        std::fs::write(outside.path().join("deep/secret"), OUTSIDE).unwrap();
        let room = Room::new(Audience::Teammate);
        for name in
            [".git/config", ".git/hooks/pre-commit", "sub/.git/config", ".tasks/task_1.json", "team/config.json", ".signoff/config.toml"]
        {
            room.write(name, "ours");
        }
        room.write("src/a.txt", "inside\n");
        let work = room.folder.path();
        let away = outside.path();
        for (link, target) in [
            ("out", away.to_path_buf()),
            ("file", away.join("secret")),
            ("src/up", away.join("deep")),
            ("root", PathBuf::from("/")),
            ("home", std::env::home_dir().unwrap_or_default()),
            ("proc", "/proc".into()),
            ("me", "/proc/self".into()),
            ("cwd", "/proc/self/cwd".into()),
            ("null", "/dev/null".into()),
            ("zero", "/dev/zero".into()),
            ("loop", "loop".into()),
            ("a", "b".into()),
            ("b", "a".into()),
            ("parent", "..".into()),
            ("relative", format!("../{}/secret", away.file_name().unwrap().to_string_lossy()).into()),
            ("chain", "chain2".into()),
            ("chain2", "out".into()),
            ("dangling", away.join("new")),
            ("hooks", ".git/hooks".into()),
            ("board", ".tasks".into()),
            ("crew", "team".into()),
            ("settings", ".signoff/config.toml".into()),
            ("gitlink", ".git".into()),
        ] {
            symlink(target, work.join(link)).unwrap();
        }
        Self { room, outside }
    }

    /// Paths; `@` stands for the folder outside, `%` for the workspace.
    fn paths(&self) -> Vec<String> {
        let away = self.outside.path().to_str().unwrap();
        let work = self.room.context.workspace.to_str().unwrap();
        let name = self.outside.path().file_name().unwrap().to_str().unwrap();
        PATHS
            .iter()
            .map(|path| path.replace('@', away).replace('%', work).replace('^', name))
            .chain(["x/".repeat(3_000), "n".repeat(300)])
            .collect()
    }

    /// Everything outside and everything of ours, by path.
    fn kept(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        let work = self.room.folder.path();
        for root in [
            self.outside.path().to_owned(),
            work.join(".git"),
            work.join(".tasks"),
            work.join("team"),
            work.join(".signoff"),
            work.join("sub"),
        ] {
            gather(&root, &mut all);
        }
        all
    }
}

fn gather(folder: &Path, all: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            gather(&entry.path(), all);
        } else {
            all.insert(entry.path(), std::fs::read_to_string(entry.path()).unwrap_or_default());
        }
    }
}

const PATHS: &[&str] = &[
    "..",
    "../",
    "../secret",
    "../^/secret",
    "../../etc/passwd",
    "../../../../../../../../etc/passwd",
    "src/../../^/secret",
    "./../^/secret",
    "src/./.././../^/secret",
    ".//..//^//secret",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/etc/../etc/passwd",
    "@/secret",
    "@/deep/../secret",
    "@//secret",
    "%/../^/secret",
    "%/./../^/secret",
    "%/src/../../^/secret",
    "%x/secret",
    "/proc/self/environ",
    "/proc/self/cwd/../^/secret",
    "/proc/self/root/etc/passwd",
    "/proc/1/environ",
    "/dev/null",
    "/dev/zero",
    "/dev/tty",
    "/dev/stdin",
    "/dev/fd/0",
    "/sys/kernel/notes",
    "~",
    "~/secret",
    "~root/.bashrc",
    "$HOME/.bashrc",
    "${HOME}/.bashrc",
    "out",
    "out/secret",
    "out/deep/secret",
    "out/new",
    "out/deep/new",
    "out/../^/secret",
    "file",
    "src/up/secret",
    "src/up/new",
    "src/up/../secret",
    "root/etc/passwd",
    "root@/secret",
    "home/.bashrc",
    "proc/self/environ",
    "me/environ",
    "me/root/etc/passwd",
    "cwd/Cargo.toml",
    "null",
    "zero",
    "loop",
    "loop/x",
    "a",
    "b/x",
    "parent",
    "parent/^/secret",
    "parent/^/new",
    "relative",
    "chain/secret",
    "chain/new",
    "chain2/deep/secret",
    "dangling",
    "dangling/x",
    "src/a.txt/../../../^/secret",
    "src/a.txt/..",
    "src/a.txt/x",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    ".Git/hooks/x",
    "sub/.git/config",
    "sub/.git/hooks/new",
    "./.git/config",
    "src/../.git/config",
    ".git/",
    ".git",
    "hooks/pre-commit",
    "hooks/new",
    "gitlink/config",
    ".tasks/task_1.json",
    ".tasks/task_2.json",
    ".TASKS/x",
    "board/task_1.json",
    "board/new",
    "team/config.json",
    "team/inbox/lead.jsonl",
    "team/new",
    "crew/config.json",
    "crew/new",
    ".signoff/config.toml",
    ".signoff/new",
    "settings",
    ".Signoff/x",
    "%/team/config.json",
    "%/.git/config",
    "a\u{0}b",
    "out\u{0}",
    "..\u{0}/x",
    "%2e%2e/^/secret",
    "..%2f^%2fsecret",
    "..\\^\\secret",
    "\\\\host\\share",
    "C:\\x",
    "file:///etc/passwd",
    "..;/^/secret",
    "\u{2025}/^/secret",
    "．．/^/secret",
    "..\u{200b}/x",
    " ../^/secret",
    "../^/secret ",
    "\n../^/secret",
    "..\n/^/secret",
    "-",
    "--",
    "",
    ".",
    "./",
    "src",
    "src/",
    "src//a.txt/",
];

fn calls(path: &str) -> [(&'static str, Value); 6] {
    [
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": STOLEN })),
        ("edit_file", json!({ "path": path, "old_text": OUTSIDE, "new_text": STOLEN })),
        ("edit_file", json!({ "path": path, "old_text": "ours", "new_text": STOLEN })),
        ("search", json!({ "pattern": OUTSIDE, "path": path })),
        ("list_files", json!({ "glob": path })),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_leads_out_of_the_workspace_or_to_what_nobody_may_write() {
    let yard = Yard::new();
    let before = yard.kept();
    let paths = yard.paths();
    assert!(paths.len() >= 100, "{}", paths.len());
    let mut escapes = Vec::new();
    for path in &paths {
        for (tool, arguments) in calls(path) {
            let outcome = tokio::time::timeout(std::time::Duration::from_secs(20), yard.room.call(tool, arguments)).await;
            let Ok(outcome) = outcome else {
                escapes.push(format!("{tool} {path:?} hung"));
                continue;
            };
            let told = outcome.content.replace(&format!("{OUTSIDE:?}"), "").replace(path.as_str(), "");
            let read = tool == "read_file" && (told.contains(OUTSIDE) || told.contains("root:x:") || told.contains("PATH="));
            let found = tool == "search" && told.contains(&format!(":{OUTSIDE}"));
            let work = &yard.room.context.workspace;
            let leads_out = |line: &str| work.join(line).canonicalize().is_ok_and(|real| !real.starts_with(work));
            // The whole workspace is listed with names that we made ourselves, one of them with a line break in it.
            let listed = tool == "list_files" && outcome.ok && ![".", "./"].contains(&path.as_str()) && told.lines().any(leads_out);
            if read || found || listed {
                escapes.push(format!("{tool} {path:?}: {}", outcome.content.chars().take(200).collect::<String>()));
            }
        }
        if yard.kept() != before {
            escapes.push(format!("{path:?} changed a file outside or of ours"));
            break;
        }
    }
    println!("{} paths by {} calls, {} escapes", paths.len(), calls("").len(), escapes.len());
    assert!(escapes.is_empty(), "{}", escapes.join("\n"));
}

#[test]
fn no_name_of_a_member_and_no_id_of_a_request_is_a_path() {
    let names: Vec<String> = [
        "",
        " ",
        ".",
        "..",
        "...",
        "../x",
        "../../etc/passwd",
        "/",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a/../b",
        "./a",
        "~",
        "~root",
        "$HOME",
        "${x}",
        "$(id)",
        "`id`",
        "a;b",
        "a|b",
        "a&b",
        "a b",
        " a",
        "a ",
        "a\tb",
        "a\nb",
        "a\rb",
        "a\0b",
        "a\u{1b}[2J",
        "a\u{7f}",
        "a\u{202e}b",
        "a\u{200b}",
        "a\u{200d}b",
        "\u{feff}a",
        "аlice",
        "alice\u{301}",
        "ａlice",
        "名前",
        "é",
        "a.",
        ".a",
        "a.json",
        "a.jsonl",
        "-a",
        "--all",
        "_a",
        "a%2fb",
        "a:b",
        "a*",
        "a?",
        "[a]",
        "{a}",
        "<a>",
        "\"a\"",
        "'a'",
        "#a",
        "@a",
        "!a",
        "human",
        "HUMAN",
        "system",
        "all",
        "a=b",
        "a,b",
        "a+b",
    ]
    .map(String::from)
    .into_iter()
    .chain(["x".repeat(4_000)])
    .collect();
    assert!(names.len() >= 60, "{}", names.len());
    for name in &names {
        assert!(MemberName::parse(name).is_err(), "{name:?} is no name");
        assert!(MemberName::parse_teammate(name).is_err() && RequestId::parse(name).is_none(), "{name:?}");
    }
    for name in ["CON", "nul", "a", "A-1_b"] {
        assert!(MemberName::parse(name).is_ok_and(|name| !name.as_str().contains(['/', '.', '\\'])), "{name}");
    }
}

/// While a folder of the workspace and a link to one outside change places as fast as they can, no tool reads or writes
/// through the link.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_a_link_while_a_tool_runs_leads_nowhere() {
    let tries = if std::env::var_os("SIGNOFF_FULL").is_some() { 1_000_000 } else { 20_000 };
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("file"), OUTSIDE).unwrap();
    let room = Room::new(Audience::Teammate);
    room.write("real/file", "inside\n");
    let work = room.folder.path().to_owned();
    symlink(outside.path(), work.join("link")).unwrap();
    symlink(outside.path().join("file"), work.join("filelink")).unwrap();
    room.write("plain", "inside\n");
    let over = Arc::new(AtomicBool::new(false));
    let swapper = std::thread::spawn({
        let (over, work) = (Arc::clone(&over), work.clone());
        move || {
            let mut swaps = 0_u64;
            while !over.load(Ordering::Relaxed) {
                for (one, other) in [("real", "link"), ("plain", "filelink")] {
                    swaps += u64::from(renameat_with(CWD, work.join(one), CWD, work.join(other), RenameFlags::EXCHANGE).is_ok());
                }
            }
            swaps
        }
    });
    let (mut inside, mut refused) = (0, 0);
    for at in 0..tries {
        let path = ["real/file", "link/file", "plain", "filelink"][at % 4];
        let (tool, arguments) = match at / 4 % 5 {
            0 | 1 => ("read_file", json!({ "path": path })),
            2 => ("write_file", json!({ "path": path, "content": "inside\n" })),
            3 => ("edit_file", json!({ "path": path, "old_text": "i", "new_text": "i" })),
            _ => ("search", json!({ "pattern": "SIDE", "path": path })),
        };
        let outcome = room.call(tool, arguments).await;
        assert!(!outcome.content.contains(OUTSIDE), "{tool} {path}: {}", outcome.content);
        if outcome.ok { inside += 1 } else { refused += 1 }
    }
    over.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    println!("{tries} tries during {swaps} swaps: {inside} went inside, {refused} were refused");
    let mut left: Vec<_> = std::fs::read_dir(outside.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["file"]);
    assert_eq!(std::fs::read_to_string(outside.path().join("file")).unwrap(), OUTSIDE);
    assert!(swaps > 1_000 && inside > 100 && refused > 100, "{swaps} swaps, {inside} inside, {refused} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_file_is_refused_and_what_is_huge_is_bounded() {
    let room = Room::new(Audience::Teammate);
    let work = room.folder.path();
    assert!(std::process::Command::new("mkfifo").arg(work.join("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(work.join("socket")).unwrap();
    std::fs::create_dir(work.join("folder")).unwrap();
    let huge = std::fs::File::create(work.join("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let device =
        std::process::Command::new("mknod").arg(work.join("device")).args(["c", "1", "5"]).status().is_ok_and(|status| status.success());
    let names = ["fifo", "socket", "folder", "huge"].into_iter().chain(device.then_some("device"));
    for name in names {
        for (tool, arguments) in [
            ("read_file", json!({ "path": name })),
            ("edit_file", json!({ "path": name, "old_text": "a", "new_text": "b" })),
            ("search", json!({ "pattern": "a", "path": name })),
            ("write_file", json!({ "path": name, "content": "x" })),
        ] {
            let outcome =
                tokio::time::timeout(std::time::Duration::from_secs(20), room.call(tool, arguments)).await.expect("it does not hang");
            let harmless = (name == "huge" && tool == "write_file") || tool == "search";
            assert!(!outcome.ok || harmless, "{tool} {name}: {}", outcome.content);
            assert!(outcome.content.len() < 10_000, "{tool} {name}");
        }
    }
    assert!(work.join("fifo").metadata().is_ok_and(|kind| !kind.is_file()), "the FIFO is still one");
}
