//! Two shells: what other processes do to the team is on the screen at once, without a key.

use super::*;
use signoff::domain::{Member, MemberName, MemberStatus};
use std::time::Instant;

/// Promised is a third of a second; a busy machine gets more, and the median is printed.
const BOUND: Duration = Duration::from_secs(3);

struct Clock(Vec<(String, Duration)>);

impl Clock {
    /// Does something outside, and measures from its end until the screen shows it.
    fn measure(&mut self, pty: &Pty, what: &str, act: impl FnOnce(), shown: impl Fn(&str) -> bool) {
        assert!(!shown(&pty.contents()), "{what} is shown before it is done:\n{}", pty.contents());
        act();
        let done = Instant::now();
        pty.wait_for(what, |screen| shown(&screen.contents()));
        let took = done.elapsed();
        assert!(took < BOUND, "{what} took {took:?}");
        self.0.push((what.to_owned(), took));
    }

    fn tell(mut self) {
        self.0.iter().for_each(|(what, took)| println!("{what}: {took:?}"));
        self.0.sort_by_key(|(_, took)| *took);
        println!("on the screen after (median of {}): {:?}", self.0.len(), self.0[self.0.len() / 2].1);
    }
}

fn row_says(text: &str, name: &str, says: &str) -> bool {
    member_row(text, name).is_some_and(|row| row.contains(says))
}

fn pending(world: &World) -> String {
    wait("a pending request", || {
        let requests = world.store().requests().unwrap().items;
        requests.into_iter().find(|(request, _)| request.is_pending()).map(|(request, _)| request.id.to_string())
    })
}

#[test]
fn what_another_shell_does_is_on_the_screen_at_once() {
    let world = World::new();
    let pty = world.open();
    let mut clock = Clock(Vec::new());
    clock.measure(
        &pty,
        "task add",
        || drop(world.shell(&["task", "add", "From a shell"])),
        |text| task_row(text, "From a shell").is_some(),
    );
    clock.measure(&pty, "send", || drop(world.shell(&["send", "lead", "words of a shell"])), |text| text.contains("words of"));
    clock.measure(
        &pty,
        "done",
        || drop(world.shell(&["task", "done", "1"])),
        |text| task_row(text, "From a shell").is_some_and(|row| row.contains("done")),
    );
    let rewritten = || {
        let text = world.read(".tasks/task_1.json").replace("From a shell", "From an editor");
        std::fs::write(world.work.join(".tasks/task_1.json"), text).unwrap();
    };
    clock.measure(&pty, "rewriting task_1.json", rewritten, |text| task_row(text, "From an editor").is_some());
    clock.measure(&pty, "spawn", || drop(world.shell(&["spawn", "bob", "--role", "coder"])), |text| row_says(text, "bob", ""));
    wait_member(&pty, "bob", "idle");
    world.shell(&["task", "add", "Risky change"]);
    let first = pending(&world);
    wait_member(&pty, "bob", "waits: plan");
    let rejected = |text: &str| text.contains("✗ rejected");
    clock.measure(&pty, "reject", || drop(world.shell(&["reject", &first, "--feedback", "smaller"])), rejected);
    let second = pending(&world);
    wait_member(&pty, "bob", "waits: plan");
    let approved = |text: &str| text.contains("✓ approved");
    clock.measure(&pty, "approve", || drop(world.shell(&["approve", &second])), approved);
    wait_task(&pty, "Risky change", "done");
    wait_member(&pty, "bob", "idle");
    clock.measure(&pty, "shutdown", || drop(world.shell(&["shutdown", "bob"])), |text| row_says(text, "bob", "shut down"));
    let store = world.store();
    let added = || {
        let (mut team, _) = store.team().unwrap().unwrap();
        team.members.push(Member { status: MemberStatus::Requested, ..Member::new(MemberName::parse("erin").unwrap(), "tester") });
        std::fs::write(world.work.join("team/config.json"), serde_json::to_vec_pretty(&team).unwrap()).unwrap();
    };
    // The team's own last write of this file comes a moment after the status it tells.
    wait("bob's status in the file", || {
        let (team, _) = store.team().unwrap()?;
        team.members.iter().any(|m| m.name.same("bob") && m.status == MemberStatus::Shutdown).then_some(())
    });
    clock.measure(&pty, "rewriting config.json", added, |text| row_says(text, "erin", ""));
    for n in 0..8 {
        let subject = format!("Number {n} of many");
        clock.measure(&pty, "task add", || drop(world.shell(&["task", "add", &subject])), |text| task_row(text, &subject).is_some());
    }
    clock.tell();
    quit_now(&world, pty);
}

#[test]
fn an_unknown_request_and_a_second_answer_are_refused_with_the_reason() {
    let world = World::new();
    let pty = world.open();
    world.shell(&["spawn", "bob", "--role", "coder"]);
    world.shell(&["task", "add", "Risky change"]);
    let id = pending(&world);
    wait_member(&pty, "bob", "waits: plan");
    world.shell(&["approve", &id]);
    let again = world.run(&["reject", &id]);
    assert_eq!(again.status.code(), Some(3));
    let text = String::from_utf8_lossy(&again.stderr);
    assert!(text.contains("approved") && text.contains("human"), "{text}");
    assert_eq!(world.run(&["approve", "00000000"]).status.code(), Some(3));
    assert_eq!(world.run(&["send", "bobb", "hi"]).status.code(), Some(3));
    quit_now(&world, pty);
}
