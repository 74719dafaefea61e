//! Three kinds of escapees and three ways in which the program ends, with the sandbox and without: a moment later none of
//! their processes is left.

use super::is_full;
use crate::e2e::{World, add_task, look_at_it, spawn};
use crate::pty::Pty;
use rustix::process::Signal;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The program's own promise is a second; a busy machine takes its time to look.
const SOON: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Twice the key that quits.
    Quit,
    /// The process aborts, as at a double panic.
    Crash,
    /// `kill -9`.
    Kill,
}

const WAYS: [Way; 3] = [Way::Quit, Way::Crash, Way::Kill];

/// What a member's command leaves behind. `MARK` is a number of seconds that only this case sleeps for.
const ESCAPEES: [(&str, &str); 3] = [
    ("a session of its own", "setsid --fork sleep MARK"),
    (
        "a daemon by two forks",
        "( ( cd / && exec env -i PATH=$PATH setsid sh -c 'exec < /dev/null > /dev/null 2>&1; sleep MARK; true' & ) & ) ; sleep 0.1",
    ),
    (
        "one that ignores TERM and HUP",
        "trap '' TERM HUP INT; nohup sh -c 'trap \"\" TERM HUP INT; sleep MARK; true' > /dev/null 2>&1 & sleep 0.1",
    ),
];

fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    (900_000_000 + std::process::id() % 100_000 * 1_000 + NEXT.fetch_add(1, Ordering::SeqCst)).to_string()
}

/// The command lines of all processes that have to do with a case.
fn of_case(mark: &str) -> Vec<String> {
    let lines = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).into_owned()
    });
    lines.filter(|text| text.contains("sleep") && text.contains(mark)).collect()
}

fn alive(mark: &str) -> usize {
    of_case(mark).len()
}

/// Whether the escapee itself is there, and not only the shell that is to start it.
fn has_begun(mark: &str) -> bool {
    of_case(mark).iter().any(|line| line.starts_with("sleep\0"))
}

fn script(command: &str) -> String {
    let command = serde_json::to_string(&format!("{command}; echo left; sleep 600")).unwrap();
    format!(
        "format = 1\n[[rule]]\non = \"claimed\"\n[[rule.step]]\ntool = \"bash\"\nargs = {{ command = {command}, timeout = 900 }}\n[[rule.step]]\nsay = \"over\"\n"
    )
}

fn end(mut pty: Pty, way: Way) {
    match way {
        Way::Quit => {
            pty.send("q");
            if pty.wait_exit_or(|text| text.contains("Waiting for")) {
                pty.send("q");
            }
            pty.wait_exit();
        }
        Way::Crash => {
            pty.signal(Signal::ABORT);
            pty.wait_exit();
        }
        Way::Kill => pty.kill(),
    }
}

/// Plays a case; how long the last of its processes lived on.
fn play(way: Way, (name, command): (&str, &str), sandbox: bool) -> Duration {
    let what = format!("{way:?}, {name}, {}", if sandbox { "sandbox" } else { "no sandbox" });
    let (world, mark) = (World::new(), mark());
    std::fs::write(world.script(), script(&command.replace("MARK", &mark))).unwrap();
    let mut arguments = world.opening();
    if !sandbox {
        arguments.push("--unsafe-no-sandbox".into());
    }
    let mut pty = Pty::spawn(world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()), 110, 34);
    pty.wait_for(&format!("the lead ({what})"), |screen| crate::e2e::member_row(&screen.contents(), "lead").is_some());
    spawn(&mut pty, "bob");
    add_task(&mut pty, "Run it");
    if !sandbox {
        // Without one every command asks.
        pty.wait_for_text("1 waiting for you");
        pty.send("2");
        look_at_it();
        pty.send("a");
    }
    pty.wait_for(&format!("the escapee ({what})"), |_| has_begun(&mark));
    end(pty, way);
    let ended = Instant::now();
    while alive(&mark) > 0 {
        assert!(ended.elapsed() < SOON, "{what}: {} left", alive(&mark));
        std::thread::sleep(Duration::from_millis(5));
    }
    world.wait_no_commands();
    ended.elapsed()
}

fn play_all(sandbox: bool) {
    let cases: Vec<_> = WAYS.into_iter().flat_map(|way| ESCAPEES.map(|escapee| (way, escapee))).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let longest = std::sync::Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for _ in 0..if is_full() { 1 } else { 3 } {
            scope.spawn(|| {
                while let Some((way, escapee)) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let took = play(*way, *escapee, sandbox);
                    let mut longest = longest.lock().unwrap();
                    *longest = took.max(*longest);
                }
            });
        }
    });
    println!("9 cases; the last process lived for {:?}", longest.lock().unwrap());
}

#[test]
fn whichever_way_it_ends_no_escapee_of_a_sandboxed_command_is_left() {
    play_all(true);
}

#[test]
fn whichever_way_it_ends_no_escapee_of_a_command_without_sandbox_is_left() {
    play_all(false);
}
