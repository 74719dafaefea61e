//! The four exercises of the lessons, as a person does them.

use super::*;

fn exercise(world: &World, name: &str) -> Pty {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/exercises").join(name);
    // As shipped, but without the waits that are there to be watched.
    let text = std::fs::read_to_string(path).unwrap();
    let quick = text.lines().filter(|line| !line.starts_with("tokens_per_second"));
    let quick: Vec<String> = quick.map(|line| if line.starts_with("pause") { "pause = 0.2".into() } else { line.into() }).collect();
    let quick = quick.join("\n").replace("[stream]", "");
    std::fs::write(world.script(), quick.replacen("format = 1", "format = 1\n[stream]\ntokens_per_second = 0\npause = 0\n", 1)).unwrap();
    let mut pty = world.open();
    write_lead(&mut pty, "please begin");
    pty
}

#[test]
fn one_alice_is_spawned_and_shut_down_by_a_request_and_the_roster_says_so() {
    let world = World::new();
    let mut pty = exercise(&world, "1-shutdown.toml");
    wait_member(&pty, "alice", "shut down");
    pty.send("1g");
    pty.wait_for_text("This is what the roster says");
    quit_now(&world, pty);
}

#[test]
fn two_bobs_plan_is_rejected_and_charlies_is_approved() {
    let world = World::new();
    let mut pty = exercise(&world, "2-plans.toml");
    wait_member(&pty, "bob", "waits: plan");
    pty.send("2");
    look_at_it();
    pty.send("r");
    pty.wait_for_text("with feedback");
    type_line(&mut pty, "too risky");
    wait_member(&pty, "charlie", "waits: plan");
    look_at_it();
    pty.send("2");
    look_at_it();
    pty.send("a");
    wait("charlie's first step", || (world.read("storage-v2.txt") == "step 1 by charlie\n").then_some(()));
    assert!(!world.work.join("storage.txt").exists(), "bob changed nothing");
    wait_member(&pty, "charlie", "idle");
    quit_now(&world, pty);
}

#[test]
fn three_a_worker_with_a_task_leaves_in_good_order() {
    let world = World::new();
    let pty = exercise(&world, "3-graceful.toml");
    wait_member(&pty, "worker", "working");
    wait_member(&pty, "worker", "shut down");
    wait_task(&pty, "Write the report", "ready");
    assert!(world.read("report.note").contains("goes on"));
    quit_now(&world, pty);
}

#[test]
fn four_one_worker_finds_and_finishes_three_tasks_by_itself() {
    let world = World::new();
    let pty = exercise(&world, "4-autonomous.toml");
    for subject in ["Collect the names", "Draw the map", "Print the programme"] {
        wait_task(&pty, subject, "done");
    }
    assert!(world.read("task-3.txt").contains("done by worker"));
    wait_member(&pty, "worker", "idle");
    quit_now(&world, pty);
}
