//! After quitting: the same team with its history, and the command line says what the screen shows.

use super::*;

#[test]
fn reopening_shows_the_same_team_with_its_history_and_status_agrees_with_the_screen() {
    let world = World::new();
    let mut pty = world.open();
    spawn(&mut pty, "bob");
    add_task(&mut pty, "Quick one");
    wait_task(&pty, "Quick one", "done");
    add_task(&mut pty, "Risky change");
    wait_member(&pty, "bob", "waits: plan");
    write_lead(&mut pty, "remember this");
    wait_member(&pty, "lead", "idle");
    check_status(&world, &pty);
    quit_now(&world, pty);
    let mut pty = world.open();
    // Leaving neither drops the plan that waits nor gives its task away.
    wait_member(&pty, "bob", "waits: plan");
    wait_task(&pty, "Quick one", "done");
    wait_task(&pty, "Risky change", "doing");
    pty.send("1g");
    pty.wait_for_text("human → le");
    pty.wait_for_text("The lead heard: remember this");
    select(&mut pty, "bob");
    pty.wait_for_text("Done with Quick one.");
    check_status(&world, &pty);
    pty.send("2");
    pty.wait_for_text("a approve");
    look_at_it();
    pty.send("a");
    wait_task(&pty, "Risky change", "done");
    quit_now(&world, pty);
}

fn check_status(world: &World, pty: &Pty) {
    pty.wait_quiet(Duration::from_millis(400));
    let status: serde_json::Value = serde_json::from_str(&world.shell(&["status", "--json"])).unwrap();
    let text = pty.contents();
    let header = text.lines().next().unwrap();
    let tokens = status["tokens"].as_u64().unwrap();
    assert!(header.contains(&format!("{} tok", signoff::app::words::tokens(tokens))), "{header}\n{status}");
    let waiting = status["pending_requests"].as_u64().unwrap();
    assert_eq!(header.contains("waiting for you"), waiting > 0, "{header}\n{status}");
    let board = text.lines().nth(1).unwrap();
    for word in ["ready", "doing", "blocked", "done"] {
        let count = status[word].as_u64().unwrap();
        assert_eq!(board.contains(&format!("{count} {word}")), count > 0, "{word}: {board}\n{status}");
    }
    let members = status["members"].as_u64().unwrap();
    assert!(text.contains(&format!("1 Team  {members}")), "{members}:\n{text}");
    assert_eq!(status["working"].as_u64().unwrap(), 0);
}
