//! A second screen on the same workspace.

use super::*;

#[test]
fn a_second_screen_shows_the_same_team_and_steers_it_and_leaving_it_stops_nobody() {
    let world = World::new();
    let mut first = world.open();
    spawn(&mut first, "bob");
    add_task(&mut first, "Risky change");
    wait_member(&first, "bob", "waits: plan");
    let mut second = world.open();
    wait_member(&second, "bob", "waits: plan");
    wait_task(&second, "Risky change", "doing");
    second.send("2");
    second.wait_for_text("▸2 Approvals");
    look_at_it();
    second.send("a");
    wait_task(&first, "Risky change", "done");
    wait_task(&second, "Risky change", "done");
    wait_member(&second, "bob", "idle");
    add_task(&mut second, "Slow thing");
    wait_task(&first, "Slow thing", "bob");
    wait_task(&second, "Slow thing", "bob");
    second.send("q");
    assert_eq!(second.wait_exit().exit_code(), 0);
    second.assert_restored();
    wait_member(&first, "bob", "bash");
    assert!(!world.commands_alive().is_empty(), "nobody was stopped");
    let mut second = world.open();
    wait_task(&second, "Slow thing", "bob");
    select(&mut second, "bob");
    second.send("S");
    second.wait_for_text("Stop bob now?");
    second.send("y");
    wait_member(&first, "bob", "shut down");
    wait_member(&second, "bob", "shut down");
    spawn(&mut second, "carol");
    wait_task(&first, "Slow thing", "carol");
    first.send("qq");
    assert_eq!(first.wait_exit().exit_code(), 0);
    wait_member(&second, "carol", "shut down");
    quit_now(&world, second);
}

#[test]
fn a2_of_two_answers_in_the_same_moment_one_wins_and_the_other_is_told_who_decided() {
    let world = World::new();
    let mut first = world.open();
    spawn(&mut first, "bob");
    let mut second = world.open();
    wait_member(&second, "bob", "idle");
    add_task(&mut first, "Risky change");
    for pty in [&mut first, &mut second] {
        wait_member(pty, "bob", "waits: plan");
        pty.send("2");
        pty.wait_for_text("▸2 Approvals");
    }
    look_at_it();
    first.send("a");
    second.send("a");
    let outcome = |pty: &Pty| {
        let won = |text: &str| text.contains("approved bob's plan");
        let late = |text: &str| text.contains("no request is on the screen") && text.contains("✓ approved");
        let lost = |text: &str| text.contains("already") || late(text);
        let text = pty.wait_for("an outcome", |screen| won(&screen.contents()) || lost(&screen.contents()));
        assert!(won(&text) || late(&text) || text.contains("by human") || text.contains("by you"), "it is told who decided:\n{text}");
        won(&text)
    };
    let won = [outcome(&first), outcome(&second)];
    assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
    wait_task(&first, "Risky change", "done");
    wait_task(&second, "Risky change", "done");
    quit_now(&world, first);
    quit_now(&world, second);
}

#[test]
fn a_second_screen_is_told_when_the_process_that_runs_the_team_dies_and_when_another_takes_over() {
    let world = World::new();
    let mut first = world.open();
    let second = world.open();
    second.wait_for_text("second screen");
    first.kill();
    second.wait_for_text("nobody runs the team");
    second.wait_for_text("then signoff again");
    let third = world.open();
    second.wait_for_text("second screen");
    assert!(!third.contents().contains("second screen"), "{}", third.contents());
    quit_now(&world, third);
    second.wait_for_text("nobody runs the team");
    quit_now(&world, second);
}
