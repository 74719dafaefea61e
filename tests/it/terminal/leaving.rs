//! Whichever way the program ends, the terminal is as it was.

use super::child::{LOG, OPENER, SIGNALS};
use super::{toy, toy_command};
use crate::pty::{Pty, find, rfind};
use rustix::process::Signal;

#[test]
fn quitting_restores_the_terminal() {
    let mut pty = toy(&[]);
    assert!(!pty.is_cooked());
    pty.send("MTq");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
    pty.wait_for_text("ended: Ok(Quit)");
}

#[test]
fn u1_modes_are_undone_before_the_line_settings_so_that_nothing_is_echoed() {
    let mut pty = toy(&[]);
    pty.send("Mq");
    pty.wait_exit();
    let raw = pty.raw();
    let order = ["\x1b[?1006l", "\x1b[?1000l", "\x1b[?2004l", "\x1b[?1004l", "\x1b[<1u", "\x1b[?25h", "\x1b[0m", "\x1b[?1049l", "ended:"];
    let places: Vec<_> = order.iter().map(|part| rfind(&raw, part.as_bytes()).expect(part)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn u1_a_panic_on_the_screens_thread_restores_the_terminal_and_is_told() {
    let mut pty = toy(&[]);
    pty.send("MP");
    assert_ne!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
    let raw = pty.raw();
    assert!(find(&raw, b"the screen broke") > rfind(&raw, b"\x1b[?1049l"), "the message comes after the screen is left");
}

#[test]
fn a_panic_elsewhere_leaves_the_screen_alone_and_goes_to_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut pty = toy(&[(LOG, log.to_str().unwrap())]);
    pty.send("t");
    pty.wait_for_text("typed <survived>");
    pty.send("3");
    pty.wait_for_text("reply 7 Err(Unavailable");
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
    let raw = pty.raw();
    assert_eq!((find(&raw, b"a worker broke"), find(&raw, b"a task of the team broke")), (None, None));
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("a worker broke") && log.contains("a task of the team broke"), "{log}");
}

#[test]
fn term_hup_and_int_end_the_screen_orderly() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut pty = toy(&[]);
        pty.send("M");
        pty.wait_for("the mouse", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
        pty.signal(signal);
        assert_eq!(pty.wait_exit().exit_code(), code, "{signal:?}");
        pty.assert_restored();
    }
}

#[test]
fn a_screen_that_does_not_end_after_a_signal_is_ended() {
    let mut pty = toy(&[(SIGNALS, "ignored")]);
    pty.signal(Signal::TERM);
    pty.wait_for_text("<signal>");
    assert_eq!(pty.wait_exit().exit_code(), 143);
    pty.assert_restored();
}

#[test]
fn ctrl_c_is_a_key_and_no_signal() {
    let mut pty = toy(&[]);
    pty.send("\x03");
    pty.wait_for_text("<ctrl-c>");
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
}

#[test]
fn a_terminal_that_is_closed_ends_the_program() {
    let pty = toy(&[]);
    assert_eq!(pty.hang_up("x").wait_exit().exit_code(), 129);
}

#[test]
fn a_stalled_terminal_stops_neither_the_program_nor_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut pty = toy(&[(LOG, log.to_str().unwrap())]);
    pty.stall();
    // More than the terminal's buffers hold; then a key that leaves a trace elsewhere than on the screen.
    pty.send("Bt");
    let until = std::time::Instant::now() + crate::pty::DEADLINE;
    while !std::fs::read_to_string(&log).unwrap_or_default().contains("a worker broke") {
        assert!(std::time::Instant::now() < until, "keys are not taken while the terminal is stalled");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().exit_code(), 143);
    assert!(pty.is_cooked());
}

#[test]
fn a_team_that_cannot_be_opened_is_told_after_the_screen_is_left() {
    let mut pty = Pty::spawn(toy_command(&[(OPENER, "fail")]), 80, 24);
    assert_eq!(pty.wait_exit().exit_code(), 1);
    pty.wait_for_text("the workspace is locked by another program");
    pty.assert_restored();
}

#[test]
fn a_command_given_together_with_the_end_still_reaches_the_team() {
    let mut pty = toy(&[]);
    pty.wait_for_text("attached true");
    pty.send("Q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn without_a_terminal_on_standard_output_it_says_so() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(super::child::ARGUMENTS)
        .env(super::child::SWITCH, "1")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("NoTerminal") && !text.contains('\x1b'), "{text}");
}
