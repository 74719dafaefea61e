//! Plans: rejected with words, approved, edited in an editor. What was approved is what runs.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn with_plan(pty: &mut Pty) {
    spawn(pty, "bob");
    add_task(pty, "Risky change");
    wait_member(pty, "bob", "waits: plan");
    pty.send("2");
    pty.wait_for_text("▸2 Approvals");
    look_at_it();
}

#[test]
fn a_rejected_plan_comes_back_revised_with_the_words_and_the_approved_one_runs() {
    let world = World::new();
    let mut pty = world.open();
    with_plan(&mut pty);
    pty.send("\r");
    pty.wait_for_text("Write result.txt.");
    escape(&mut pty, "Write result.txt.");
    pty.send("r");
    pty.wait_for_text("with feedback");
    type_line(&mut pty, "smaller steps");
    pty.wait_for_text("Revised version");
    look_at_it();
    pty.send("a");
    wait_task(&pty, "Risky change", "done");
    assert_eq!(world.read("result.txt"), "Revised version of the plan\n\nYou said: smaller steps");
    quit_now(&world, pty);
}

#[test]
fn a_plan_that_was_edited_in_the_editor_is_the_plan_that_runs() {
    let world = World::new();
    let editor = world.root().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nprintf 'Mine instead of: ' > \"$1.new\"\nhead -1 \"$1\" >> \"$1.new\"\nmv \"$1.new\" \"$1\"\n")
        .unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
    let opening = world.opening();
    let mut command = world.command(&opening.iter().map(String::as_str).collect::<Vec<_>>());
    command.env("EDITOR", &editor);
    let mut pty = Pty::spawn(command, COLS, ROWS);
    wait_member(&pty, "lead", "idle");
    with_plan(&mut pty);
    pty.send("e");
    wait_task(&pty, "Risky change", "done");
    assert_eq!(world.read("result.txt"), "Mine instead of: First version of the plan");
    let (request, _) = world.store().requests().unwrap().items.remove(0);
    assert_eq!(request.approved_text(), Some("Mine instead of: First version of the plan"));
    quit_now(&world, pty);
}

#[test]
fn an_approval_in_the_same_moment_as_a_plan_comes_up_does_not_count() {
    let world = World::new();
    let mut pty = world.open();
    pty.send("2");
    pty.wait_for_text("▸2 Approvals");
    world.shell(&["spawn", "bob", "--role", "coder"]);
    world.shell(&["task", "add", "Risky change"]);
    pty.wait_for_text("First version");
    pty.send("a");
    pty.wait_for_text("has only just come up");
    assert!(world.store().requests().unwrap().items[0].0.is_pending());
    look_at_it();
    pty.send("a");
    wait_task(&pty, "Risky change", "done");
    quit_now(&world, pty);
}
