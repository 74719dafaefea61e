//! Whichever way it ends, the terminal is as before, nothing is left running, and the lock is free.

use super::*;
use rustix::process::Signal;

fn with_work(world: &World) -> Pty {
    let mut pty = world.open();
    spawn(&mut pty, "bob");
    add_task(&mut pty, "Slow thing");
    wait("the command", || (!world.commands_alive().is_empty()).then_some(()));
    pty
}

fn assert_clean(world: &World, pty: &Pty) {
    pty.assert_restored();
    world.wait_no_commands();
    assert!(world.store().lock_team().unwrap().is_some(), "the lock is free");
}

#[test]
fn quitting_asks_the_team_shows_who_still_works_and_the_second_time_means_now() {
    let world = World::new();
    let mut pty = with_work(&world);
    pty.send("q");
    pty.wait_for_text("Waiting for 1 to stop");
    assert!(!world.commands_alive().is_empty(), "the first time is a question");
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_clean(&world, &pty);
    let (team, _) = world.store().team().unwrap().unwrap();
    assert!(team.members.iter().all(|m| m.status == signoff::domain::MemberStatus::Shutdown), "{team:?}");
    let (tasks, _) = world.store().tasks().unwrap().items.remove(0);
    assert_eq!((tasks.status, tasks.owner), (signoff::domain::TaskStatus::Pending, None));
}

#[test]
fn an_idle_team_is_left_with_one_key() {
    let world = World::new();
    let mut pty = world.open();
    spawn(&mut pty, "bob");
    wait_member(&pty, "bob", "idle");
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    assert_clean(&world, &pty);
}

#[test]
fn term_hup_and_int_leave_nothing_behind() {
    for (signal, code) in [(Signal::TERM, 130), (Signal::HUP, 130), (Signal::INT, 130)] {
        let world = World::new();
        let mut pty = with_work(&world);
        pty.signal(signal);
        assert_eq!(pty.wait_exit().exit_code(), code, "{signal:?}");
        assert_clean(&world, &pty);
    }
}

#[test]
fn a_closed_terminal_ends_the_program_and_its_commands() {
    let world = World::new();
    let pty = with_work(&world);
    pty.hang_up("?").wait_exit();
    world.wait_no_commands();
    assert!(world.store().lock_team().unwrap().is_some(), "the lock is free");
}

#[test]
fn ctrl_z_gives_the_shell_back_and_fg_the_screen_while_the_team_is_as_it_was() {
    let world = World::new();
    let mut command = world.command(&[]);
    let argv = command.get_argv_mut();
    *argv = ["bash", "--norc", "--noprofile", "--noediting", "-i"].map(Into::into).to_vec();
    command.env("PS1", "ready> ");
    let mut pty = Pty::spawn(command, COLS, ROWS);
    pty.wait_for_text("ready>");
    let opening = world.opening().join(" ");
    pty.send(format!("{PROGRAM} {opening}\n"));
    wait_member(&pty, "lead", "idle");
    add_task(&mut pty, "Alpha");
    wait_task(&pty, "Alpha", "ready");
    pty.send("\x1a");
    pty.wait_for("the shell", |screen| screen.contents().contains("Stopped") && !screen.alternate_screen());
    pty.assert_restored();
    pty.send("fg\n");
    wait_task(&pty, "Alpha", "ready");
    pty.send("q");
    let prompts = |text: &str| text.matches("ready>").count();
    pty.wait_for("the shell", |screen| !screen.alternate_screen() && prompts(&screen.contents()) == 3);
    pty.send("echo status=$?\n");
    pty.wait_for_text("status=0");
    pty.assert_restored();
}
