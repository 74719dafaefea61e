//! File tools on real files.

use super::fake::Room;
use serde_json::json;
use signoff::tool::{Audience, ToolOutcome};
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn room() -> Room {
    Room::new(Audience::Teammate)
}

async fn read(room: &Room, path: &str) -> ToolOutcome {
    room.call("read_file", json!({ "path": path })).await
}

async fn write(room: &Room, path: &str, content: &str) -> ToolOutcome {
    room.call("write_file", json!({ "path": path, "content": content })).await
}

#[tokio::test]
async fn a_file_is_read_with_line_numbers_and_by_pages() {
    let room = room();
    room.write("a.txt", "one\r\ntwo\nthree");
    assert_eq!(read(&room, "a.txt").await, ToolOutcome::ok("     1\tone\n     2\ttwo\n     3\tthree\n"));
    let outcome = room.call("read_file", json!({ "path": "a.txt", "offset": 2, "limit": 1 })).await;
    assert_eq!(outcome.content, "     2\ttwo\n(more follows: go on with offset=3)");
    let outcome = room.call("read_file", json!({ "path": "a.txt", "offset": 3, "limit": 5 })).await;
    assert_eq!(outcome.content, "     3\tthree\n");
    assert_eq!(room.call("read_file", json!({ "path": "a.txt", "offset": 9 })).await.content, "(the file has 3 lines only)");
    room.write("empty", "");
    assert_eq!(read(&room, "empty").await.content, "(the file is empty)");
}

#[tokio::test]
async fn long_files_and_long_lines_are_bounded() {
    let room = room();
    room.write("many", "line\n".repeat(100_000));
    let outcome = read(&room, "many").await;
    assert!(
        outcome.content.chars().count() <= 2_100 && outcome.content.contains("(more follows: go on with offset="),
        "{}",
        outcome.content.len()
    );
    room.write("wide", "x".repeat(5_000_000));
    let outcome = read(&room, "wide").await;
    assert!(outcome.ok && outcome.content.chars().count() <= 2_200, "{}", outcome.content.len());
}

#[tokio::test]
async fn what_is_no_text_file_is_refused_and_hangs_nothing() {
    let room = room();
    room.write("binary", b"\x7fELF\0\0");
    room.write("latin", b"caf\xe9\n");
    let fifo = std::process::Command::new("mkfifo").arg(room.folder.path().join("fifo")).status().unwrap();
    assert!(fifo.success());
    assert!(read(&room, "binary").await.content.contains("binary file of 6 bytes"));
    assert_eq!(read(&room, "latin").await.content, "     1\tcaf\u{fffd}\n");
    assert!(read(&room, "fifo").await.content.contains("not a plain file"));
    assert!(read(&room, ".").await.content.contains("use list_files"));
    assert!(read(&room, "none").await.content.contains("cannot open none"));
    assert!(!write(&room, "fifo", "x").await.ok);
    let edit = room.call("edit_file", json!({ "path": "latin", "old_text": "caf", "new_text": "x" })).await;
    assert!(edit.content.contains("not UTF-8"), "{}", edit.content);
}

#[tokio::test]
async fn no_path_and_no_link_leads_out_of_the_workspace() {
    let room = room();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s").unwrap();
    let place = room.folder.path();
    symlink(outside.path().join("secret"), place.join("file")).unwrap();
    symlink(outside.path(), place.join("folder")).unwrap();
    symlink("/proc/self/root", place.join("magic")).unwrap();
    let secret = outside.path().join("secret").display().to_string();
    for path in ["../secret", "file", "folder/secret", "magic/etc/passwd", "/etc/passwd", secret.as_str(), "a/../../x"] {
        assert!(!read(&room, path).await.ok, "{path} was read");
        assert!(!write(&room, path, "x").await.ok, "{path} was written");
        assert!(!room.call("search", json!({ "pattern": "s", "path": path })).await.ok, "{path} was searched");
    }
    assert!(!write(&room, "folder/new", "x").await.ok);
    assert!(!room.call("list_files", json!({ "glob": "folder/*" })).await.ok);
    assert!(!room.call("list_files", json!({ "glob": "../*" })).await.ok);
    assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "s");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn links_inside_the_workspace_are_followed_for_reading_and_folders() {
    let room = room();
    room.write("real/a", "text");
    symlink("real", room.folder.path().join("way")).unwrap();
    symlink("a", room.folder.path().join("real/b")).unwrap();
    assert!(read(&room, "way/b").await.ok);
    assert!(write(&room, "way/a", "new").await.ok);
    let outcome = write(&room, "real/b", "x").await;
    assert!(outcome.content.contains("write to what it points to (a)"), "{}", outcome.content);
    assert_eq!(room.text("real/a"), "new");
}

#[tokio::test]
async fn our_own_files_are_read_but_not_written_not_even_through_a_link() {
    let room = room();
    room.write(".tasks/task_1.json", "{}");
    room.write("team/config.json", "{}");
    room.write(".git/hooks/x", "");
    symlink(".git/hooks", room.folder.path().join("innocent")).unwrap();
    assert!(read(&room, ".tasks/task_1.json").await.ok && read(&room, "team/config.json").await.ok);
    for path in [".tasks/task_1.json", "team/new", ".git/config", ".signoff/config.toml", "innocent/post-commit", "./team/../team/x"] {
        let outcome = write(&room, path, "x").await;
        assert!(outcome.content.contains("may not be written"), "{path}: {}", outcome.content);
    }
    assert_eq!(std::fs::read_dir(room.folder.path().join(".git/hooks")).unwrap().count(), 1);
}

#[tokio::test]
async fn writing_makes_folders_keeps_the_mode_and_tells_the_difference() {
    let room = room();
    assert_eq!(write(&room, "a/b/c.txt", "1\n2\n3\n").await, ToolOutcome::ok("wrote a/b/c.txt (3 lines)"));
    let path = room.folder.path().join("a/b/c.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(write(&room, "a/b/c.txt", "1\n2b\n3\n4\n").await.content, "wrote a/b/c.txt (4 lines, +2 −1 lines)");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o750);
    assert_eq!(write(&room, "a/b/c.txt", "1\n2b\n3\n4\n").await.content, "a/b/c.txt is unchanged (4 lines)");
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    assert!(!write(&room, "a/b", "x").await.ok);
    assert!(!write(&room, "a/b/c.txt/d", "x").await.ok);
    assert!(!write(&room, "", "x").await.ok);
}

#[tokio::test]
async fn a_text_is_replaced_in_place() {
    let room = room();
    room.write("f", "a\r\nb\r\nc\r\n");
    let outcome = room.call("edit_file", json!({ "path": "f", "old_text": "a\nb", "new_text": "x\ny\nz" })).await;
    assert_eq!(outcome, ToolOutcome::ok("edited f (+3 −2 lines)"));
    assert_eq!(room.text("f"), "x\r\ny\r\nz\r\nc\r\n");
    room.write("g", "n n\n");
    let outcome = room.call("edit_file", json!({ "path": "g", "old_text": "n", "new_text": "m" })).await;
    assert!(!outcome.ok && outcome.content.contains("2 times"));
    let outcome = room.call("edit_file", json!({ "path": "g", "old_text": "n", "new_text": "m", "replace_all": true })).await;
    assert_eq!(outcome.content, "edited g (2 places, +1 −1 lines)");
    assert_eq!(room.text("g"), "m m\n");
    assert!(!room.call("edit_file", json!({ "path": "none", "old_text": "n", "new_text": "m" })).await.ok);
}

#[tokio::test]
async fn files_are_listed_as_git_sees_them() {
    let room = room();
    for path in
        ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt", "target/x.rs", ".hidden/e.rs", ".git/f.rs", "team/g.rs", "node (1)/[x].rs"]
    {
        room.write(path, "x");
    }
    room.write(".gitignore", "target/\n");
    let list = async |glob: &str| room.call("list_files", json!({ "glob": glob })).await.content;
    assert_eq!(list("*.rs").await, ".hidden/e.rs\na.rs\nnode (1)/[x].rs\nsrc/b.rs\nsrc/deep/c.rs");
    assert_eq!(list("**/*.rs").await, list("*.rs").await);
    assert_eq!(list("src/*").await, "src/b.rs\nsrc/d.txt");
    assert_eq!(list("src/**/*.rs").await, "src/b.rs\nsrc/deep/c.rs");
    assert_eq!(list("src").await, "src/b.rs\nsrc/d.txt\nsrc/deep/c.rs");
    assert_eq!(list("src/*.{rs,txt}").await, "src/b.rs\nsrc/d.txt");
    assert_eq!(list("c.rs").await, "src/deep/c.rs");
    assert_eq!(list("node (1)").await, "node (1)/[x].rs");
    assert_eq!(list("team").await, "team/g.rs");
    assert_eq!(list("*.py").await, "no file matches *.py");
    assert!(list("a[").await.contains("does not parse"));
    assert!(list(".").await.contains("a.rs"));
}

#[tokio::test]
async fn a_line_break_in_a_name_makes_no_second_line() {
    let room = room();
    room.write("a\nsafe.rs:1: fn trusted() {}", "needle\n");
    let listed = room.call("list_files", json!({ "glob": "*" })).await.content;
    assert_eq!(listed, "a⟨U+000A⟩safe.rs:1: fn trusted() {}");
    let found = room.call("search", json!({ "pattern": "needle" })).await.content;
    assert_eq!(found, "a⟨U+000A⟩safe.rs:1: fn trusted() {}:1: needle");
}

#[tokio::test]
async fn lists_and_hits_are_bounded() {
    let room = room();
    for number in 0..600 {
        room.write(&format!("f{number:03}"), "needle needle\n".repeat(3));
    }
    let outcome = room.call("list_files", json!({ "glob": "f*" })).await;
    assert!(outcome.content.chars().count() <= 2_100 && outcome.content.contains("more: use a narrower glob"), "{}", outcome.content);
    let outcome = room.call("search", json!({ "pattern": "needle" })).await;
    assert!(outcome.content.chars().count() <= 2_100 && outcome.content.contains("there are more matches"), "{}", outcome.content);
}

#[tokio::test]
async fn lines_are_found_by_regular_expression() {
    let room = room();
    room.write("a.rs", "fn one() {}\nfn two() {}\n");
    room.write("b/c.rs", format!("{}TWO{}\n", "x".repeat(1_000), "y".repeat(1_000)));
    room.write("bin", b"two\0");
    room.write(".gitignore", "ignored\n");
    room.write("ignored", "two\n");
    let search = async |arguments| room.call("search", arguments).await.content;
    assert_eq!(search(json!({ "pattern": r"fn t\w+" })).await, "a.rs:2: fn two() {}");
    let wide = search(json!({ "pattern": "(?i)TWO", "path": "b" })).await;
    assert!(wide.starts_with("b/c.rs:1: …xxx") && wide.contains("TWO") && wide.len() < 330, "{wide}");
    assert_eq!(search(json!({ "pattern": "one", "path": "a.rs" })).await, "a.rs:1: fn one() {}");
    assert_eq!(search(json!({ "pattern": "nowhere" })).await, "no line matches nowhere");
    assert!(search(json!({ "pattern": "(" })).await.contains("does not parse"));
    assert!(search(json!({ "pattern": "(a{1000}){1000}" })).await.contains("does not parse"));
}

#[tokio::test]
async fn a_cancelled_call_returns() {
    let room = room();
    room.write("a", "x");
    room.context.cancel.cancel();
    assert!(!room.call("search", json!({ "pattern": "x" })).await.ok);
}
