//! The command corpus, and what a real shell makes of commands that the rules let through.

#![allow(clippy::disallowed_methods, reason = "a test measures time")]

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use signoff::domain::command::Action;
use signoff::domain::settings::Permissions;
use signoff::tool::policy::{PolicyDecision, decide, split};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ALLOW: [&str; 16] = [
    "ok *",
    "A=1 ok *",
    "env *",
    "xargs *",
    "timeout *",
    "nohup *",
    "find *",
    "sh -c *",
    "bash -c *",
    "sh -ec *",
    "bash -ec *",
    "sh script.sh",
    "sh <(*",
    "xargs sh script.sh",
    "cd *",
    "timeout * sh -c *",
];

fn rules() -> Permissions {
    Permissions { allow: ALLOW.map(String::from).into(), deny: vec!["never *".into()], ..Permissions::default() }
}

fn decision(command: &str) -> PolicyDecision {
    decide(&rules(), &[], &Action::Command { command: command.into(), cwd: "/w".into() })
}

fn word(command: &str) -> &'static str {
    match decision(command) {
        PolicyDecision::Allow => "run",
        PolicyDecision::Ask { .. } => "ask",
        PolicyDecision::Deny(_) => "deny",
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('u') => {
                    let hex: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
                }
                Some(c) => out.push(c),
                None => {}
            },
            (c, false) => out.push(c),
        }
    }
    out
}

fn corpus() -> Vec<(&'static str, String)> {
    let lines = include_str!("commands.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| (line[..4].trim_end(), unescape(&line[5..]))).collect()
}

#[test]
fn every_command_of_the_corpus_gets_its_verdict() {
    let corpus = corpus();
    assert!(corpus.len() >= 300, "{}", corpus.len());
    let wrong: Vec<String> = corpus
        .iter()
        .filter(|(verdict, command)| word(command) != *verdict)
        .map(|(verdict, command)| format!("{command:?} is {}, not {verdict}: {:?}", word(command), split(command).err()))
        .collect();
    println!("{} commands, {} wrong", corpus.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A folder with the programs `ok` and `evil` and those that run others; `evil` leaves a mark.
struct Shell {
    folder: tempfile::TempDir,
}

impl Shell {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir_all(folder.path().join("work/src")).unwrap();
        std::fs::create_dir(&bin).unwrap();
        for (name, text) in [("ok", "#!/bin/sh\n:\n"), ("evil", "#!/bin/sh\n/bin/echo ran >> \"$MARK\"\n")] {
            std::fs::write(bin.join(name), text).unwrap();
            std::fs::set_permissions(bin.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["env", "xargs", "timeout", "nohup", "find", "sh", "bash"] {
            let real = ["/usr/bin", "/bin"].iter().map(|dir| std::path::Path::new(dir).join(name)).find(|path| path.exists());
            std::os::unix::fs::symlink(real.unwrap(), bin.join(name)).unwrap();
        }
        Self { folder }
    }

    /// Whether `evil` ran in it.
    fn runs_evil(&self, command: &str) -> bool {
        let mark = self.folder.path().join("mark");
        let work = self.folder.path().join("work");
        let _ = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "5", "/bin/bash", "-c", command, "x", "evil"])
            .current_dir(&work)
            .env_clear()
            .env("PATH", self.folder.path().join("bin"))
            .env("MARK", &mark)
            .env("x", "evil")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        std::fs::remove_file(&mark).is_ok()
    }
}

#[test]
fn the_shell_runs_nothing_else_in_commands_that_are_let_through() {
    let shell = Shell::new();
    assert!(shell.runs_evil("ok; evil") && shell.runs_evil("$x") && !shell.runs_evil("ok evil"));
    for (_, command) in corpus().into_iter().filter(|(verdict, command)| *verdict == "run" && command.contains("evil")) {
        assert!(!shell.runs_evil(&command), "{command:?}");
    }
}

/// Scraps of shell, of which commands are made that nobody would think of.
const SCRAPS: &[&str] = &[
    "ok",
    "ok ",
    "ok a",
    "evil",
    "evil ",
    " evil",
    " ",
    " ",
    "\n",
    "\t",
    ";",
    "; ",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    "(",
    ")",
    "{",
    "}",
    "{ ",
    "; }",
    "'",
    "'",
    "\"",
    "\"",
    "`",
    "`",
    "$(",
    ")",
    "$",
    "$x",
    "${x}",
    "${x:-",
    "}",
    "\\",
    "\\\n",
    "#",
    " #",
    "!",
    "<",
    ">",
    "<(",
    ">(",
    "<<<",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "\nE\n",
    "\nE",
    "2>&1",
    "> o",
    "=",
    "A=1 ",
    "x=",
    "if ",
    "then ",
    "else ",
    "fi",
    "while ",
    "do ",
    "done",
    "for i in ",
    "case a in ",
    "a) ",
    ";;",
    " esac",
    "f() ",
    "function f ",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$((",
    "$'",
    "*",
    "~",
    "{a,b}",
    "env ",
    "xargs ",
    "sh -c ",
    "find . -exec ",
    "\\;",
    "{}",
    "timeout 5 ",
    "eval ",
    "$@",
    "$1",
    "\u{a0}",
    "a",
    "b",
    "E",
    ",",
    "..",
    "[",
    "]",
    "a[",
    "-",
    "--",
];

#[test]
fn no_mixture_of_scraps_is_let_through_that_runs_more_than_it_should() {
    let full = std::env::var_os("SIGNOFF_FULL").is_some();
    let (tries, runs_max) = if full { (2_000_000, 20_000) } else { (60_000, 250) };
    let seed = std::env::var("SIGNOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7_u8);
    let shell = Shell::new();
    let mut runner = TestRunner::new_with_rng(
        Config { failure_persistence: None, ..Config::default() },
        TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]),
    );
    let scraps = prop::collection::vec(prop::sample::select(SCRAPS), 2..14);
    let mut seen = BTreeSet::new();
    let mut allowed = 0;
    for _ in 0..tries {
        let command = scraps.new_tree(&mut runner).unwrap().current().concat();
        let suspicious = command.contains("evil") || command.contains("$x") || command.contains("${x") || command.contains("$1");
        if suspicious && seen.len() < runs_max && decision(&command) == PolicyDecision::Allow {
            allowed += 1;
            if seen.insert(command.clone()) {
                assert!(!shell.runs_evil(&command), "{command:?}: {:?}", split(&command));
            }
        }
    }
    println!("{tries} mixtures, {allowed} let through, {} of them run by the shell", seen.len());
    assert!(allowed > 20, "hardly anything was let through: {allowed}");
}

#[test]
fn ten_thousand_parts_are_decided_within_a_second() {
    let within = |what: &str, command: String, expected: &str| {
        let start = Instant::now();
        assert_eq!(word(&command), expected, "{what}");
        let took = start.elapsed();
        println!("{what}, {} bytes: {took:?}", command.len());
        assert!(took < Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 }), "{what}: {took:?}");
    };
    let many = |part: &str, between: &str| vec![part; 10_000].join(between);
    within("a list", many("ok a", "; "), "run");
    within("a list with one more", many("ok a", "; ") + "; evil", "ask");
    within("lines", many("ok a", "\n"), "run");
    within("and", many("ok a", " && "), "run");
    within("a pipe", many("ok", "|"), "run");
    within("groups in groups", "( ".repeat(400) + "ok" + &" )".repeat(400), "run");
    within("substitutions in substitutions", "ok $(".repeat(400) + "ok" + &")".repeat(400), "run");
    within("an evil one within", "ok $(".repeat(400) + "evil" + &")".repeat(400), "ask");
    within("strings in strings", "ok \"$(".repeat(400) + "ok" + &")\"".repeat(400), "run");
    within("opened and never closed", "(".repeat(10_000), "ask");
    within("quotes", "\"'".repeat(10_000), "ask");
    within("substitutions without an end", "$(".repeat(10_000), "ask");
    within("here-documents", many("ok <<E", " "), "ask");
    within("one long word", "ok ".to_owned() + &"a".repeat(90_000), "run");
    within("rubbish", "ok ;; && ( | ` { ".repeat(3_000), "ask");
    within("stars", format!("{} b", many("*", " ")), "ask");
}
