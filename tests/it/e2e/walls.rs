//! What the program does where the sandbox is weaker than it should be: it says so for as long as it runs, and nothing runs
//! by itself.

use super::*;

const SCRIPT: &str = r#"
format = 1
[stream]
tokens_per_second = 0
pause = 0
[[rule]]
for = "lead"
on = "goal"
[[rule.step]]
tool = "bash"
args = { command = "echo ran >> src/ran" }
[[rule.step]]
say = "The command was tried."
[[rule]]
on = "shutdown_request"
clears = true
[[rule.step]]
tool = "shutdown_response"
args = { request_id = "{shutdown_request_id}", approve = true, reason = "nothing is half done" }
"#;

/// A world whose person has allowed every command there is.
fn world() -> World {
    let world = World::new();
    std::fs::write(
        world.root().join("config/signoff/config.toml"),
        "[permissions]\ncommands = \"allow\"\nallow = [\"*\", \"echo *\"]\n[limits]\nidle_timeout = 0\n",
    )
    .unwrap();
    std::fs::write(world.script(), SCRIPT).unwrap();
    std::fs::create_dir(world.work.join("src")).unwrap();
    world
}

/// The screen with a variable and more arguments.
fn open(world: &World, limit: &str, more: &[&str]) -> Pty {
    let mut arguments = world.opening();
    arguments.extend(more.iter().map(|word| (*word).to_owned()));
    let mut command = world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    command.env("SIGNOFF_SANDBOX", limit);
    let pty = Pty::spawn(command, COLS, ROWS);
    wait_member(&pty, "lead", "");
    pty
}

fn goal(pty: &mut Pty) {
    pty.send("i");
    pty.wait_for_text("to lead ─");
    type_line(pty, "try the command");
}

fn badge(pty: &Pty, words: &str) {
    pty.wait_for(words, |screen| screen.contents().lines().next().is_some_and(|edge| edge.contains(words)));
}

#[test]
fn every_command_asks_behind_the_reduced_sandbox_whatever_was_allowed() {
    let world = world();
    let mut pty = open(&world, "reduced", &[]);
    badge(&pty, "reduced sandbox");
    goal(&mut pty);
    pty.wait_for_text("◆ 1 waiting for you");
    assert!(!world.work.join("src/ran").exists(), "it ran unasked");
    pty.send("2");
    look_at_it();
    pty.send("a");
    pty.wait_for("the command to run", |screen| screen.contents().contains("The command was tried"));
    assert_eq!(world.read("src/ran"), "ran\n");
    badge(&pty, "reduced sandbox");
    quit_now(&world, pty);
}

#[test]
fn every_command_asks_without_a_sandbox_and_the_badge_stays() {
    let world = world();
    let mut pty = open(&world, "", &["--unsafe-no-sandbox"]);
    badge(&pty, "NO SANDBOX");
    goal(&mut pty);
    pty.wait_for_text("◆ 1 waiting for you");
    assert!(!world.work.join("src/ran").exists(), "it ran unasked");
    badge(&pty, "NO SANDBOX");
    quit_now(&world, pty);
}

#[test]
fn nothing_runs_where_no_sandbox_works() {
    let world = world();
    let mut pty = open(&world, "none", &[]);
    badge(&pty, "no sandbox: no commands");
    goal(&mut pty);
    pty.wait_for_text("The command was tried");
    assert!(!world.work.join("src/ran").exists(), "it ran");
    quit_now(&world, pty);
    let told = world.read("team/transcripts/lead.jsonl");
    assert!(told.contains("install the package") && told.contains("--unsafe-no-sandbox"), "{told}");
}

#[test]
fn a_team_without_a_screen_denies_and_lists_what_would_ask() {
    for (limit, more) in [("reduced", None), ("none", None), ("", Some("--unsafe-no-sandbox"))] {
        let world = world();
        let mut command = Command::new(PROGRAM);
        command.args(world.opening()).args(more).args(["run", "try the command", "--plans", "auto"]).current_dir(world.root());
        world.surround(&mut command);
        let output = command.env("SIGNOFF_SANDBOX", limit).stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("echo ran >> src/ran") && said.contains("refused: bash"), "{limit} {more:?}: {said}");
        assert!(!world.work.join("src/ran").exists(), "{limit} {more:?}");
    }
}

#[test]
fn the_doctor_says_which_sandbox_works_and_what_to_install() {
    let world = World::new();
    for (limit, words) in [("reduced", ["reduced: ", "every command asks"]), ("none", ["commands are refused", "--unsafe-no-sandbox"])] {
        let mut command = Command::new(PROGRAM);
        command.args(world.opening()).arg("doctor").current_dir(world.root());
        world.surround(&mut command);
        let output = command.env("SIGNOFF_SANDBOX", limit).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        for word in words.iter().chain(&["install the package `bubblewrap`", "SIGNOFF_SANDBOX"]) {
            assert!(said.contains(word), "{limit}, {word}: {said}");
        }
    }
}

#[test]
fn the_demonstration_needs_no_sandbox_and_says_that_there_is_none() {
    let world = World::new();
    let dir = world.root().join("copy").display().to_string();
    let mut command = world.command(&["demo", "--speed", "20", "--dir", &dir]);
    command.env("SIGNOFF_SANDBOX", "none");
    let pty = Pty::spawn(command, COLS, ROWS);
    badge(&pty, "no sandbox: demo");
    // Commands ran by then: the task is done when its test has passed.
    let shown = pty.wait_for("a task that is done and a plan", |screen| {
        let text = screen.contents();
        text.contains("1 done") && text.contains("◆ 1 waiting for you")
    });
    assert!(shown.contains("plan") && !shown.contains("permission"), "{shown}");
}

#[test]
fn what_does_not_count_of_an_untrusted_workspace_is_on_the_screen_until_it_is_trusted() {
    let world = World::new();
    std::fs::create_dir_all(world.work.join(".signoff")).unwrap();
    std::fs::write(world.work.join(".signoff/config.toml"), "[permissions]\ncommands = \"allow\"\n").unwrap();
    let pty = world.open();
    pty.wait_for("the greeting", |screen| {
        let text = screen.contents();
        text.contains("settings") && text.contains("permissions.commands") && text.contains("config trust")
    });
    quit_now(&world, pty);
    world.shell(&["config", "trust", "--yes"]);
    let pty = world.open();
    pty.wait_quiet(Duration::from_millis(300));
    assert!(!pty.contents().contains("not trusted"), "{}", pty.contents());
    quit_now(&world, pty);
}
