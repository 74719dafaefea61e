//! Every key that looks, and every key that acts on members.

use super::*;

#[test]
fn every_pane_the_zoom_the_help_the_palette_and_the_filter_are_a_key_away() {
    let world = World::new();
    let mut pty = world.open();
    for pane in ["▸2 Approvals", "▸3 Board", "▸4 Inbox", "▸5 Activity", "▸1 Team"] {
        pty.send("\t");
        pty.wait_for_text(pane);
    }
    for (key, pane) in [("3", "▸3 Board"), ("5", "▸5 Activity"), ("2", "▸2 Approvals"), ("4", "▸4 Inbox"), ("1", "▸1 Team")] {
        pty.send(key);
        pty.wait_for_text(pane);
    }
    pty.send("z");
    pty.wait_for("only the roster", |screen| !screen.contents().contains("3 Board"));
    pty.send("z");
    pty.wait_for_text("3 Board");
    pty.send("?");
    pty.wait_for_text("Everywhere");
    escape(&mut pty, "Everywhere");
    add_task(&mut pty, "Alpha");
    add_task(&mut pty, "Beta");
    wait_task(&pty, "Beta", "ready");
    pty.send("3/");
    type_line(&mut pty, "alph");
    pty.wait_for("the filter", |screen| task_row(&screen.contents(), "Beta").is_none());
    pty.send("\x1b");
    wait_task(&pty, "Beta", "ready");
    pty.send(":");
    pty.wait_for_text("Enter run");
    type_line(&mut pty, "spawn a team");
    pty.wait_for_text("New teammate");
    escape(&mut pty, "New teammate");
    pty.send("3G\r");
    pty.wait_for_text("Task #2");
    escape(&mut pty, "Task #2");
    quit_now(&world, pty);
}

#[test]
fn members_are_spawned_written_to_interrupted_asked_and_forced_by_keys() {
    let world = World::new();
    let mut pty = world.open();
    spawn(&mut pty, "bob");
    wait_member(&pty, "bob", "idle");
    write_lead(&mut pty, "hello there");
    pty.send("1g");
    pty.wait_for_text("The lead heard: hello there");
    write_lead(&mut pty, "a long thought");
    wait_member(&pty, "lead", "working");
    pty.send("x");
    wait_member(&pty, "lead", "idle");
    add_task(&mut pty, "Slow thing");
    wait_task(&pty, "Slow thing", "bob");
    wait("the command", || (!world.commands_alive().is_empty()).then_some(()));
    select(&mut pty, "bob");
    pty.wait_for_text("the slow command runs");
    pty.send("x");
    world.wait_no_commands();
    wait_member(&pty, "bob", "holds #1");
    pty.send("s");
    wait_member(&pty, "bob", "shut down");
    wait_task(&pty, "Slow thing", "ready");
    spawn(&mut pty, "carol");
    wait_task(&pty, "Slow thing", "carol");
    wait("the command", || (!world.commands_alive().is_empty()).then_some(()));
    select(&mut pty, "carol");
    pty.send("S");
    pty.wait_for_text("Stop carol now?");
    pty.send("y");
    wait_member(&pty, "carol", "shut down");
    world.wait_no_commands();
    wait_task(&pty, "Slow thing", "ready");
    quit_now(&world, pty);
}
