//! What a developer's commands need must work behind the wall.

use super::child;
use super::yard::{Yard, plant};
use signoff::tool::sandbox::{SandboxPolicy, Surroundings};

/// A yard with the person's real home, for the toolchains in it.
fn yard() -> Yard {
    let mut yard = Yard::new();
    yard.surroundings = Surroundings { again: child::again(), ..Surroundings::of_process() };
    yard
}

/// Scripts, and what they print at the end.
const ORDINARY: &[(&str, &str)] = &[
    ("/bin/sh -c 'echo $0'", "/bin/sh"),
    ("printf 'b\\na\\n' | sort | sed s/a/A/ | grep A | awk '{print $1\"!\"}'", "A!"),
    ("echo new > made && mkdir -p deep/er && mv made deep/er/ && cat deep/er/made && rm -r deep", "new"),
    ("echo one > src/a.txt && cat src/a.txt", "one"),
    ("git log --oneline | wc -l | tr -d ' '", "1"),
    ("echo two >> src/a.txt; git diff --stat | tail -1; git status --porcelain | grep a.txt", " M src/a.txt"),
    ("git show HEAD:src/a.txt; git blame src/a.txt | wc -l | tr -d ' '", "2"),
    ("t=$(mktemp) && echo tmp > $t && cat $t", "tmp"),
    ("cat <(echo substituted)", "substituted"),
    ("echo teed > >(tee copy); wait; cat copy", "teed"),
    ("(sleep 0.1; echo later) & wait; echo end", "end"),
    ("set -m; sleep 100 & kill -- -$!; wait $! 2>/dev/null; echo $? | cat", "143"),
    ("trap 'echo caught' TERM; kill -TERM $$; echo on", "on"),
    ("timeout 0.1 sleep 10; echo $?", "124"),
    ("printf '#!/bin/sh\\necho ran' > run.sh; chmod +x run.sh; ./run.sh", "ran"),
    ("echo out > /dev/stdout; echo err 2> /dev/null > /dev/stderr; echo end > /dev/null; head -c 4 /dev/urandom | wc -c | tr -d ' '", "4"),
    ("python3 -c 'import json,ssl,sqlite3,multiprocessing; print(json.dumps([1]))'", "[1]"),
    ("printf 'all:\\n\\t@echo made\\n' > Makefile; make -s", "made"),
    ("mkfifo f; (echo piped > f &) ; cat f", "piped"),
    ("locale >/dev/null; date +%Y | wc -c | tr -d ' '", "5"),
    ("id -un >/dev/null && getent hosts localhost | wc -l | tr -d ' '", "1"),
    ("hostname", "sandbox"),
    ("cd src && pwd | sed 's|.*/||'", "src"),
    ("nproc | grep -c '[0-9]'", "1"),
    ("tar cf a.tar src && tar tf a.tar | tail -1", "src/a.txt"),
    ("find . -name a.txt | head -1", "./src/a.txt"),
    ("diff <(echo a) <(echo b) | tail -1", "> b"),
    ("exit 7", ""),
];

#[test]
fn ordinary_commands_work() {
    let yard = yard();
    let Some(wall) = yard.usual() else { return };
    let mut broken = Vec::new();
    for (script, expected) in ORDINARY {
        let ran = yard.run(Some(&wall), &format!("exec 2>&1; {script}"), &[]);
        if ran.text.trim_end().lines().last().unwrap_or_default() != *expected {
            broken.push(format!("{script}: {ran:?}, not {expected:?}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert_eq!(yard.run(Some(&wall), "exit 7", &[]).code, Some(7));
    assert_eq!(yard.run(Some(&wall), "kill -KILL $$", &[]).code, Some(137));
}

#[test]
fn servers_and_clients_meet_on_a_loopback_of_their_own() {
    let yard = yard();
    let Some(wall) = yard.usual() else { return };
    let program = r#"
import socket, threading, multiprocessing, os, tempfile
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.create_server((host, 0), family=family)
    threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
    assert socket.create_connection(server.getsockname()[:2]).recv(5) == b"hello"
for name in ("\0own", tempfile.mkdtemp() + "/sock", "here.sock"):
    server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen()
    socket.socket(socket.AF_UNIX).connect(name)
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
assert multiprocessing.get_context("spawn").Queue() is not None
m, s = os.openpty(); os.write(s, b"x"); assert os.read(m, 1) == b"x"
print("met")"#;
    let ran = yard.run(Some(&wall), r#"python3 -c "$PROGRAM""#, &[("PROGRAM", program)]);
    assert!(ran.text.starts_with("met\n"), "{ran:?}");
}

#[test]
fn cargo_builds_and_tests_a_crate_offline() {
    let yard = yard();
    let Some(wall) = yard.usual() else { return };
    let test = "#[test]\nfn serves() {\n let s = std::net::TcpListener::bind(\"127.0.0.1:0\").unwrap();\n std::net::TcpStream::connect(s.local_addr().unwrap()).unwrap();\n std::fs::write(\"written\", \"x\").unwrap();\n std::fs::write(std::env::temp_dir().join(\"t\"), \"x\").unwrap();\n}\n";
    plant(
        &yard.workspace,
        &[("Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"), ("src/lib.rs", test)],
    );
    let ran = yard.run(Some(&wall), "cargo build --offline -q && cargo test --offline -q 2>&1 && cargo --version", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text.contains("1 passed") && yard.workspace.join("written").exists(), "{ran:?}");
}

#[test]
fn node_runs_where_it_is_installed() {
    let yard = yard();
    let Some(wall) = yard.usual() else { return };
    let script = r#"node -e 'const s=require("net").createServer(c=>c.end("hi")).listen(0,"127.0.0.1",()=>require("net").connect(s.address().port).on("data",d=>{console.log(String(d),require("os").cpus().length>0,require("child_process").execSync("echo sub")+"");s.close()}))'"#;
    if yard.run(None, "node --version", &[]).code != Some(0) {
        eprintln!("*** SKIPPED: no node here");
        return;
    }
    let ran = yard.run(Some(&wall), script, &[]);
    assert!(ran.text.starts_with("hi true sub"), "{ran:?}");
}

#[test]
fn a_folder_for_temporary_files_lasts_from_command_to_command() {
    let yard = yard();
    let Some(wall) = yard.usual() else { return };
    yard.run(Some(&wall), "echo kept > /tmp/note", &[]);
    assert_eq!(yard.run(Some(&wall), "cat /tmp/note; echo $TMPDIR", &[]).text, "kept\n/tmp\n");
    assert!(!std::path::Path::new("/tmp/note").exists());
}

#[test]
fn a_linked_worktree_and_a_folder_of_a_repository_can_read_their_history() {
    let mut yard = yard();
    let main = yard.workspace.clone();
    let linked = main.parent().unwrap().join("linked");
    super::yard::git(&main, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    yard.workspace = linked;
    let Some(wall) = yard.usual() else { return };
    let ran = yard.run(Some(&wall), r#"git log --oneline | wc -l; git status --porcelain; git commit --allow-empty -qm x || echo refused; echo x >> "$(git rev-parse --git-common-dir)/config" || echo refused"#, &[]);
    assert!(ran.text.contains("1\n") && ran.text.matches("refused").count() == 2, "{ran:?}");
    drop(wall);
    yard.workspace = main.join("src");
    let Some(wall) = yard.usual() else { return };
    let ran = yard.run(Some(&wall), "git log --oneline | wc -l; git status --porcelain -- a.txt; echo x > ../top || echo refused", &[]);
    assert!(ran.text.contains("1\n") && ran.text.contains("refused"), "{ran:?}");
}

#[test]
fn a_file_for_git_that_leads_elsewhere_is_not_followed() {
    let mut yard = Yard::new();
    let other = yard.outside.join("repository");
    std::fs::create_dir(&other).unwrap();
    super::yard::git(&other, &["init", "-q"]);
    plant(&other, &[("secret", "x")]);
    let lying = yard.folder.path().canonicalize().unwrap().join("lying");
    plant(&lying, &[(".git", &format!("gitdir: {}\n", other.join(".git").display()))]);
    yard.workspace = lying;
    let Some(wall) = yard.usual() else { return };
    let ran = yard.run(Some(&wall), r#"ls "$OUT/repository/.git" && echo BREACH"#, &[]);
    assert!(!ran.text.contains("BREACH"), "{ran:?}");
}

#[test]
fn commits_are_made_where_the_policy_opens_git_and_hooks_stay_shut() {
    let yard = yard();
    let Some(wall) = yard.wall(SandboxPolicy { writable_git: true, ..yard.policy() }) else { return };
    let script = "git -c user.name=a -c user.email=a commit -q --allow-empty -m x && git log --oneline | wc -l; echo x > .git/hooks/pre-commit && echo BREACH; git config core.hooksPath x && echo BREACH";
    let ran = yard.run(Some(&wall), script, &[]);
    assert!(ran.text.contains("2\n") && !ran.text.contains("BREACH"), "{ran:?}");
}
