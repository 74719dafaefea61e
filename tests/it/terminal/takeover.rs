//! Others have the terminal for a while: the shell after Ctrl-Z, the editor.

use super::{child, toy, toy_command};
use crate::pty::{Pty, rfind};
use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn shell() -> Pty {
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "--noediting", "-i"]);
    command.env("PS1", "ready> ");
    command.env(child::SWITCH, "1");
    command.env("RUST_BACKTRACE", "0");
    Pty::spawn(command, 80, 24)
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_screen_back() {
    let mut pty = shell();
    pty.wait_for_text("ready>");
    let program = std::env::current_exe().unwrap();
    pty.send(format!("{} {}\n", program.display(), child::ARGUMENTS.join(" ")));
    pty.wait_for_text("toy 80x24");
    pty.send("MTabz");
    pty.wait_for("the shell", |screen| screen.contents().contains("Stopped") && !screen.alternate_screen());
    pty.wait_for_text("ready>");
    pty.assert_restored();
    pty.resize(70, 20);
    let stopped = pty.written();
    pty.send("fg\n");
    pty.wait_for_text("toy 70x20");
    pty.wait_for_text("typed ab");
    pty.wait_for_bytes(stopped, b"\x1b[?1000h");
    pty.wait_for_bytes(stopped, b"\x1b]2;toy");
    pty.send("d");
    pty.wait_for_text("typed abd");
    pty.send("q");
    pty.wait_for_text("ended: Ok(Quit)");
    pty.assert_restored();
}

#[test]
fn a_stop_that_somebody_else_asks_for_gives_the_terminal_back_first() {
    let mut pty = shell();
    pty.wait_for_text("ready>");
    let program = std::env::current_exe().unwrap();
    pty.send(format!("{} {}\n", program.display(), child::ARGUMENTS.join(" ")));
    pty.wait_for_text("toy 80x24");
    kill_process(toy_of(pty.pid()), Signal::TSTP).unwrap();
    pty.wait_for("the shell", |screen| screen.contents().contains("Stopped") && !screen.alternate_screen());
    pty.wait_for_text("ready>");
    pty.assert_restored();
    pty.send("fg\n");
    pty.wait_for_text("toy 80x24");
    pty.send("x");
    pty.wait_for_text("typed x");
    pty.send("q");
    pty.wait_for_text("ended: Ok(Quit)");
    pty.assert_restored();
}

/// The program that a shell runs.
fn toy_of(shell: u32) -> Pid {
    let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
    Pid::from_raw(children.split_whitespace().next().unwrap().parse().unwrap()).unwrap()
}

#[test]
fn where_no_shell_could_let_it_go_on_a_stop_does_nothing() {
    let mut pty = toy(&[]);
    pty.wait_quiet(std::time::Duration::from_millis(100));
    let before = pty.written();
    pty.signal(Signal::TSTP);
    pty.wait_for_bytes(before, b"\x1b[?1049h");
    pty.send("x");
    pty.wait_for_text("typed x");
}

#[test]
fn a_program_that_was_stopped_from_outside_draws_itself_again() {
    let mut pty = toy(&[]);
    pty.wait_quiet(std::time::Duration::from_millis(100));
    let before = pty.written();
    pty.signal(Signal::STOP);
    pty.signal(Signal::CONT);
    pty.wait_for_bytes(before, b"\x1b[?1049h");
    pty.send("x");
    pty.wait_for_text("typed x");
}

/// An editor that writes down what it found, asks a question on the terminal, and adds the answer.
fn editor(folder: &Path, last: &str) -> PathBuf {
    let path = folder.join("my editor");
    let notes = folder.join("notes");
    let script = format!(
        "#!/bin/sh\nstat -c '%a %n' \"$2\" > '{notes}'\nstty -a >> '{notes}'\nprintf 'editor runs\\n'\nread answer\nprintf ' and %s\\n' \"$answer\" >> \"$2\"\n{last}\n",
        notes = notes.display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[test]
fn the_editor_gets_the_terminal_the_text_and_every_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = editor(folder.path(), "exit 0");
    let command = format!("'{}' --wait", path.display());
    let mut pty = toy(&[("EDITOR", &command)]);
    pty.send("Me");
    pty.wait_for("the editor", |screen| screen.contents().contains("editor runs") && !screen.alternate_screen());
    pty.assert_restored();
    pty.send("seq\n");
    pty.wait_for_text(r#"edited 3 Ok("first and seq")"#);
    assert!(!pty.contents().contains("typed s"), "keys for the editor are not ours");
    pty.wait_for("the mouse again", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
    let notes = fs::read_to_string(folder.path().join("notes")).unwrap();
    assert!(notes.starts_with("600 ") && notes.lines().next().unwrap().ends_with("plan.md"), "{notes}");
    assert!(notes.contains(" icanon") && notes.contains(" echo "), "{notes}");
    let file = notes.lines().next().unwrap().trim_start_matches("600 ");
    assert!(!Path::new(file).exists(), "the text is not left behind");
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn an_editor_that_fails_or_is_missing_changes_nothing_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = editor(folder.path(), "exit 3");
    let mut pty = toy(&[("EDITOR", &format!("'{}' --wait", path.display()))]);
    pty.send("e");
    pty.wait_for_text("editor runs");
    pty.send("x\n");
    pty.wait_for_text("nothing was changed");
    let mut pty = toy(&[("EDITOR", "no-such-editor-anywhere")]);
    pty.send("e");
    pty.wait_for_text("cannot start the editor no-such-editor-anywhere");
    pty.send("x");
    pty.wait_for_text("typed x");
}

#[test]
fn term_while_the_editor_runs_ends_both_and_leaves_the_terminal_usable() {
    let folder = tempfile::tempdir().unwrap();
    let path = editor(folder.path(), "exit 0");
    let modes = r"stty raw -echo; printf '\033[?1049h\033[?1000h'; read answer";
    let script = std::fs::read_to_string(&path).unwrap().replace("read answer", modes);
    fs::write(&path, script).unwrap();
    let mut pty = Pty::spawn(toy_command(&[("EDITOR", &format!("'{}' --wait", path.display()))]), 80, 24);
    pty.wait_for_text("toy 80x24");
    pty.send("e");
    pty.wait_for("the editor's mouse", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
    pty.signal(Signal::INT);
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().exit_code(), 143);
    pty.assert_restored();
    assert!(rfind(&pty.raw(), b"ended:").is_some());
}
