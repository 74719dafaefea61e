//! What the person types, pastes and clicks arrives whole and in order.

use super::child::OPENER;
use super::{toy, toy_command};
use crate::pty::{Pty, find};

#[test]
fn keys_typed_before_the_first_frame_are_kept() {
    let mut pty = Pty::spawn(toy_command(&[]), 80, 24);
    pty.send("abd\x1b[A漢\r");
    pty.wait_for_text("typed abd<Up>漢<Enter>");
}

#[test]
fn keys_work_and_commands_wait_while_the_team_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let mut pty = toy(&[(OPENER, gate.to_str().unwrap())]);
    pty.send("ab4");
    let text = pty.wait_for_text("typed ab");
    assert!(text.contains("attached false") && !text.contains("carried out"), "{text}");
    std::fs::write(&gate, "").unwrap();
    pty.wait_for_text("attached true");
    pty.wait_for_text(r#"reply 7 Ok(Said("carried out"))"#);
}

#[test]
fn the_first_frame_is_there_before_a_team_that_blocks_is_opened() {
    let pty = Pty::spawn(toy_command(&[(OPENER, "block")]), 80, 24);
    let text = pty.wait_for_text("toy 80x24");
    assert!(text.contains("attached false"), "{text}");
    pty.wait_for_text("attached true");
}

#[test]
fn u6_ten_thousand_lines_are_one_paste_with_brackets_and_without() {
    let mut pty = toy(&[]);
    let lines = "a line of the text that is pasted\r".repeat(10_000);
    pty.send(format!("\x1b[200~{lines}\x1b[201~"));
    pty.wait_for_text("pasted 10000 lines 340000 bytes");
    pty.send("x");
    pty.wait_for_text("typed x");
    let more = lines.replace("pasted", "sent");
    pty.send(&more);
    pty.wait_for_text("pasted 10000 lines 320000 bytes");
    pty.send("y");
    let text = pty.wait_for_text("typed xy");
    assert!(!text.contains("<Enter>"), "{text}");
}

#[test]
fn a_paste_that_never_ends_does_not_take_the_keyboard_away() {
    let mut pty = toy(&[]);
    pty.send("\x1b[200~half a pasted text");
    pty.wait_for_text("pasted 1 lines 18 bytes");
    pty.send("x");
    pty.wait_for_text("typed x");
}

#[test]
fn a_lone_escape_is_a_key() {
    let mut pty = toy(&[]);
    pty.send("\x1b");
    pty.wait_for_text("<Esc>");
}

#[test]
fn u9_mouse_and_focus_are_told_and_the_mouse_is_captured_on_request_only() {
    let mut pty = toy(&[]);
    assert_eq!(find(&pty.raw(), b"\x1b[?1000h"), None);
    pty.send("M");
    pty.wait_for("the mouse", |screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None);
    pty.send("\x1b[<0;5;3M");
    pty.wait_for_text("mouse Click { column: 4, row: 2 }");
    pty.send("\x1b[<65;5;3M");
    pty.wait_for_text("mouse ScrollDown { column: 4, row: 2 }");
    pty.send("\x1b[O");
    pty.wait_for_text("focus false");
    pty.send("O");
    pty.wait_for("no mouse", |screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
}

#[test]
fn u11_never_every_key_is_asked_for_because_that_breaks_input_methods() {
    let raw = toy(&[]).raw();
    assert!(find(&raw, b"\x1b[>1u").is_some());
    for flags in 2..32 {
        assert_eq!(find(&raw, format!("\x1b[>{flags}u").as_bytes()), None);
    }
}

#[test]
fn a_notification_rings_only_while_the_window_is_not_focused() {
    let mut pty = toy(&[]);
    pty.send("N\x1b[IN\x1b[ON");
    pty.wait_for_text("focus false");
    let end = pty.wait_for_bytes(0, b"\x1b]9;bob: waits\x1b\\");
    pty.send("\x1b[INx");
    pty.wait_for_text("typed x");
    assert_eq!(find(&pty.raw()[end..], b"\x1b]9;"), None);
    assert_eq!(pty.events().bells, 1);
}

#[test]
fn title_and_clipboard_reach_the_terminal_without_foreign_sequences() {
    let mut pty = toy(&[]);
    pty.send("TCx");
    pty.wait_for_text("typed x");
    pty.wait_for_bytes(0, b"aGVsbG8=");
    let events = pty.events();
    assert_eq!(events.copied, ["aGVsbG8="]);
    assert!(events.title.starts_with("toy ") && events.title.ends_with("(1)"), "{}", events.title);
    assert_eq!(find(&pty.raw(), b"\x1b]0"), None);
}
