//! The real program: exit codes, what goes where, and files that it leaves.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A person with a home and a workspace of their own.
struct Desk(tempfile::TempDir);

struct Said {
    code: i32,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(desk.workspace()).unwrap();
        std::fs::create_dir(desk.0.path().join("home")).unwrap();
        desk
    }

    fn workspace(&self) -> std::path::PathBuf {
        self.0.path().join("ws")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signoff"));
        command.args(args).current_dir(self.workspace()).env_clear().env("HOME", self.0.path().join("home")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
    }

    /// Runs something that must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "{args:?}: {}{}", said.out, said.err);
        said.out
    }
}

fn json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn without_a_terminal_the_screen_says_so_and_exits_with_two() {
    let desk = Desk::new();
    for args in [&[][..], &["demo"], &["."]] {
        let said = desk.run(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains("not a terminal"), "{}", said.err);
    }
    assert_eq!(std::fs::read_dir(desk.workspace()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn help_and_version_are_data_and_faults_of_usage_are_not() {
    let desk = Desk::new();
    assert!(desk.ok(&["--version"]).starts_with("signoff "));
    let help = desk.ok(&["--help"]);
    for word in ["demo", "run", "status", "doctor", "completions", "Exit codes"] {
        assert!(help.contains(word), "{word}");
    }
    for args in [&["--nonsense"][..], &["task"], &["inbox"], &["run"], &["run", "x", "--timeout", "soon"], &["task", "show", "abc"]] {
        let said = desk.run(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}: {}", said.err);
        assert!(!said.err.is_empty());
    }
}

#[test]
fn a_mistyped_command_is_recognised_and_a_missing_workspace_is_told() {
    let desk = Desk::new();
    let said = desk.run(&["statsu"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("did you mean the command `signoff status`"), "{}", said.err);
    assert_eq!(desk.run(&["status", "--workspace", "nowhere"]).code, 2);
    assert_eq!(desk.run(&["somewhere", "status"]).code, 2);
}

#[test]
fn reading_an_empty_workspace_leaves_it_empty() {
    let desk = Desk::new();
    for args in [&["status"][..], &["team"], &["requests"], &["task", "list"], &["inbox", "human"], &["doctor"], &["config", "show"]] {
        desk.ok(args);
    }
    assert_eq!(std::fs::read_dir(desk.workspace()).unwrap().count(), 0);
    assert!(!desk.0.path().join("home/.config").exists() && !desk.0.path().join("home/.local").exists());
}

#[test]
fn the_board_works_from_a_shell() {
    let desk = Desk::new();
    desk.ok(&["task", "add", "first", "--description", "in full"]);
    desk.ok(&["task", "add", "second", "--blocked-by", "1"]);
    let list = json(&desk.ok(&["task", "list", "--json"]));
    assert_eq!((list.len(), &list[0]["ready"], &list[1]["waits_for"][0]), (2, &true.into(), &1.into()));
    let said = desk.run(&["task", "done", "2"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("waits for #1"), "{}", said.err);
    desk.ok(&["task", "done", "1"]);
    assert!(desk.ok(&["task", "show", "1"]).contains("completed by human"));
    assert_eq!(desk.run(&["task", "done", "1"]).code, 3);
    assert_eq!(desk.run(&["task", "show", "99"]).code, 3);
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(desk.workspace().join(".tasks/task_1.json")).unwrap()).unwrap();
    assert_eq!(kept["status"], "completed");
}

#[test]
fn mail_and_members_work_from_a_shell_and_say_that_nobody_runs_the_team() {
    let desk = Desk::new();
    let said = desk.run(&["send", "lead", "please start"]);
    assert_eq!(said.code, 0);
    assert!(said.err.contains("nobody runs this team now"), "{}", said.err);
    assert_eq!(json(&desk.ok(&["inbox", "lead", "--json"]))[0]["content"], "please start");
    assert_eq!(desk.run(&["send", "bob", "hello"]).code, 3);
    desk.ok(&["spawn", "bob", "--role", "coder"]);
    assert_eq!(desk.run(&["spawn", "Bob", "--role", "coder"]).code, 3);
    assert_eq!(json(&desk.ok(&["team", "--json"]))[0]["status"], "requested");
    desk.ok(&["shutdown", "bob"]);
    let requests = json(&desk.ok(&["requests", "--json"]));
    assert_eq!((&requests[0]["kind"], requests[0]["digest"].as_str().map(str::len)), (&"shutdown".into(), Some(64)));
    let id = requests[0]["id"].as_str().unwrap();
    let said = desk.run(&["approve", id]);
    assert_eq!(said.code, 3, "a shutdown is answered by its target");
    assert_eq!(desk.run(&["inbox", "nobody"]).code, 3);
}

#[test]
fn what_changes_something_tells_it_as_json_when_asked() {
    let desk = Desk::new();
    let one = |args: &[&str]| {
        let lines = json(&desk.ok(args));
        assert_eq!(lines.len(), 1, "{args:?}");
        lines.into_iter().next().unwrap()
    };
    assert_eq!(one(&["task", "add", "first", "--json"])["id"], 1);
    assert_eq!(one(&["task", "add", "second", "--blocked-by", "1", "--json"])["blockedBy"][0], 1);
    assert_eq!(one(&["task", "done", "1", "--json"])["status"], "completed");
    assert_eq!(one(&["task", "delete", "1", "--json"])["deleted"], 1);
    assert_eq!(one(&["send", "lead", "hello", "--json"])["sent"][0], "lead");
    assert_eq!(one(&["spawn", "bob", "--role", "coder", "--json"])["generation"], 1);
    assert_eq!(one(&["shutdown", "bob", "--json"])["kind"], "shutdown");
    put_plan(&desk.workspace());
    assert_eq!(one(&["reject", "3f9a01bc", "--feedback", "smaller steps", "--json"])["state"], "rejected");
}

#[test]
fn a_team_that_a_command_makes_bears_the_name_of_its_directory() {
    let desk = Desk::new();
    desk.ok(&["spawn", "bob", "--role", "coder"]);
    assert!(desk.ok(&["status"]).contains("ws (autonomous)"), "{}", desk.ok(&["status"]));
}

#[test]
fn a_blocker_that_does_not_exist_is_named_and_a_done_task_waits_for_nothing() {
    let desk = Desk::new();
    let said = desk.run(&["task", "add", "first", "--blocked-by", "1"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("#1") && !said.err.contains("circle"), "{}", said.err);
    for args in [&["add", "first"][..], &["add", "second", "--blocked-by", "1"], &["done", "1"], &["done", "2"], &["delete", "1"]] {
        desk.ok(&[&["task"], args].concat());
    }
    assert!(!desk.ok(&["task", "show", "2"]).contains("missing"), "{}", desk.ok(&["task", "show", "2"]));
}

fn put_plan(workspace: &Path) {
    let requests = workspace.join("team/requests");
    std::fs::create_dir_all(&requests).unwrap();
    let plan =
        r#"{"id":"3f9a01bc","kind":"plan","asker":"bob","target":"bob","generation":1,"title":"Migrate","body":"1. copy","created":1}"#;
    std::fs::write(requests.join("3f9a01bc.json"), plan).unwrap();
}

#[test]
fn a_plan_is_decided_once_from_a_shell() {
    let desk = Desk::new();
    put_plan(&desk.workspace());
    let shown = desk.ok(&["requests", "3f9a01bc"]);
    assert!(shown.contains("  1. copy"), "{shown}");
    assert_eq!(desk.run(&["approve", "3f9a01bc", "--digest", "0000"]).code, 3, "another text was read");
    assert_eq!(desk.run(&["approve", "3f9a01bc", "--digest", "no hex"]).code, 2);
    desk.ok(&["approve", "3f9a01bc", "--note", "go on"]);
    let shown = desk.ok(&["requests", "3f9a01bc"]);
    assert!(shown.contains("note: go on"), "{shown}");
    let said = desk.run(&["approve", "3f9a01bc", "--digest", "0000"]);
    assert!(said.code == 3 && said.err.contains("approved already"), "it is decided, whatever was read: {}", said.err);
    let said = desk.run(&["reject", "3f9a01bc"]);
    assert_eq!(said.code, 3);
    assert!(said.err.contains("approved already by human"), "{}", said.err);
    assert_eq!(desk.run(&["approve", "ffffffff"]).code, 3);
    assert_eq!(desk.run(&["approve", "not-an-id"]).code, 3);
    assert_eq!(json(&desk.ok(&["requests", "3f9a01bc", "--json"]))[0]["answer"]["note"], "go on");
}

#[test]
fn a_damaged_file_is_reported_and_hides_nothing_else() {
    let desk = Desk::new();
    desk.ok(&["task", "add", "good"]);
    std::fs::write(desk.workspace().join(".tasks/task_2.json"), "{ half").unwrap();
    let said = desk.run(&["task", "list"]);
    assert!(said.code == 0 && said.out.contains("good") && said.err.contains("task_2.json"), "{}", said.err);
    let checks = json(&desk.ok(&["doctor", "--json"]));
    assert!(checks.iter().any(|check| check["area"] == "workspace" && check["found"].as_str().is_some_and(|text| text.contains("task_2"))));
}

#[test]
fn wrong_settings_name_file_and_line_and_exit_with_two() {
    let desk = Desk::new();
    std::fs::write(desk.0.path().join("mine.toml"), "[limits]\nround_cup = 3\n").unwrap();
    let said = desk.run(&["status", "--config", "../mine.toml"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("mine.toml:2:") && said.err.contains("limits.round_cap"), "{}", said.err);
    std::fs::write(desk.0.path().join("mine.toml"), "[limits]\nround_cup = 3\nround_cap = \"many\"\n[scren]\nplain = true\n").unwrap();
    let said = desk.run(&["status", "--config", "../mine.toml"]);
    let at = |place: &str| said.err.find(place).unwrap_or_else(|| panic!("{place}: {}", said.err));
    assert!(at("mine.toml:2:") < at("mine.toml:3:") && at("mine.toml:3:") < at("mine.toml:4:"), "all of them, in order");
}

#[test]
fn settings_are_written_once_shown_with_their_origin_and_trusted_on_demand() {
    let desk = Desk::new();
    desk.ok(&["config", "init"]);
    desk.ok(&["config", "init", "--config", "../other.toml"]);
    assert!(desk.0.path().join("other.toml").is_file(), "the file that is named is made");
    assert_eq!(desk.run(&["config", "init"]).code, 3, "nothing is written over");
    std::fs::create_dir(desk.workspace().join(".signoff")).unwrap();
    std::fs::write(desk.workspace().join(".signoff/config.toml"), "[permissions]\ncommands = \"allow\"\n").unwrap();
    let shown = |desk: &Desk| {
        let all = json(&desk.ok(&["config", "show", "--json"]));
        let row = all.into_iter().find(|row| row["key"] == "permissions.commands").unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["origin"].as_str().unwrap().to_owned())
    };
    assert_eq!(shown(&desk).0, "ask");
    assert_eq!(desk.run(&["config", "trust"]).code, 2, "nobody is there to ask");
    desk.ok(&["config", "trust", "--yes"]);
    let (value, origin) = shown(&desk);
    assert!(value == "allow" && origin.ends_with(".signoff/config.toml:2"), "{value} {origin}");
}

#[test]
fn without_a_model_a_run_fails_and_says_what_to_do() {
    let desk = Desk::new();
    let said = desk.run(&["run", "goal", "--provider", "openai"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("OPENAI_API_KEY"), "{}", said.err);
    assert_eq!(desk.run(&["run", "  ", "--provider", "scripted"]).code, 2);
}

#[test]
fn completions_and_protocols_are_printed() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.ok(&["completions", shell]).contains("signoff"));
    }
    let names: Vec<_> = json(&desk.ok(&["protocols", "--json"])).iter().map(|info| info["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.contains(&"autonomous".to_owned()) && names.contains(&"market_based".to_owned()) && names.len() >= 9);
    let one = desk.ok(&["protocols", "contract-net"]);
    assert!(one.contains("graph ") && one.contains("submit_proposal{score, plan} for members"), "{one}");
    let one = json(&desk.ok(&["protocols", "a2a", "--json"]));
    assert_eq!(one[0]["member_tools"][0]["parameters"][0]["name"], "target");
    let wrong = desk.run(&["protocols", "swam"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("swarm"), "{}", wrong.err);
}

#[test]
fn a_reader_that_has_enough_ends_the_program_quietly() {
    let desk = Desk::new();
    let mut child = desk.command(&["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_brings_a_terminal_back_is_printed_without_anything_else() {
    let said = Desk::new().run(&["doctor", "--reset-terminal"]);
    for sequence in ["\u{1b}[?1049l", "\u{1b}[?1003l", "\u{1b}[?2004l", "\u{1b}[?25h"] {
        assert!(said.out.contains(sequence));
    }
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

#[test]
fn the_goal_and_messages_come_from_standard_input_when_asked_for() {
    let desk = Desk::new();
    let mut child = desk.command(&["send", "lead", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from a pipe").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(json(&desk.ok(&["inbox", "lead", "--json"]))[0]["content"], "from a pipe");
}

#[test]
fn a_scripted_run_ends_with_json_and_the_codes_of_its_end() {
    let desk = Desk::new();
    let script = desk.0.path().join("play.toml");
    std::fs::write(&script, "format = 1\n[[rule]]\nfor = \"lead\"\non = \"goal\"\n[[rule.step]]\nsay = \"It is done.\"\n").unwrap();
    let script = script.to_str().unwrap();
    let said = desk.run(&["run", "say so", "--script", script, "--json", "--timeout", "60s"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let lines = json(&said.out);
    let last = lines.last().unwrap();
    assert_eq!((&last["kind"], &last["ok"]), (&"finished".into(), &true.into()));
    assert!(lines.iter().any(|line| line["kind"] == "answer_finished" && line["text"] == "It is done."));
    assert!(desk.ok(&["status"]).contains("nobody runs it now"), "the lock is free again");
    let costs = json(&desk.ok(&["costs", "--json"]));
    let by = |kind: &str| costs.iter().find(|row| row["by"] == kind).unwrap();
    let tokens = |row: &serde_json::Value| row["input"].as_u64().unwrap() + row["output"].as_u64().unwrap();
    let all = json(&desk.ok(&["status", "--json"]))[0]["tokens"].as_u64().unwrap();
    assert!(all > 0 && tokens(by("team")) == all, "{costs:?}");
    assert_eq!((by("member")["name"].as_str(), tokens(by("member")), tokens(by("model"))), (Some("lead"), all, all));
    assert!(desk.ok(&["costs"]).contains("lead"));
}
