//! Any size, and any amount of pasted text.

use super::*;

#[test]
fn the_smallest_size_and_back_loses_nothing() {
    let world = World::new();
    let mut pty = world.open();
    add_task(&mut pty, "Alpha");
    pty.send("t");
    pty.wait_for_text("New task");
    for (cols, rows) in [(1, 1), (0, 0), (20, 6), (14, 3), (300, 90), (1, 40), (COLS, ROWS)] {
        pty.resize(cols, rows);
        pty.wait_quiet(Duration::from_millis(60));
    }
    pty.wait_for_text("New task");
    escape(&mut pty, "New task");
    wait_task(&pty, "Alpha", "ready");
    quit_now(&world, pty);
}

#[test]
fn ten_thousand_lines_pasted_into_a_prompt_are_one_message() {
    let world = World::new();
    let mut pty = world.open();
    pty.send("i");
    pty.wait_for_text("Enter send");
    let text = (0..10_000).map(|n| format!("line {n}\r")).collect::<String>();
    pty.send(format!("\x1b[200~{text}\x1b[201~"));
    pty.wait_for_text("10,000 lines");
    pty.send("\r");
    let store = world.store();
    let mail = wait("the message", || {
        let mail = store.mail_after(&signoff::domain::MemberName::lead(), 0, 8 << 20).unwrap().messages;
        (!mail.is_empty()).then_some(mail)
    });
    assert_eq!(mail.len(), 1);
    assert!(mail[0].content.starts_with("line 0\nline 1\n") && mail[0].content.trim_end().ends_with("line 9999"));
    wait_member(&pty, "lead", "idle");
    quit_now(&world, pty);
}
