//! How long a key takes until it is on the screen while members stream, and what they cost in memory.
//!
//! Measured from outside: the program on a pseudo-terminal, its members scripted, 40 tokens a second each.
#![allow(clippy::expect_used, clippy::disallowed_methods, reason = "a bench that cannot be set up shall stop, and it measures time")]
#![allow(clippy::print_stderr, reason = "tells what criterion does not know")]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../it/pty.rs"]
mod pty;
mod workspace;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pty::Pty;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use workspace::Workspace;

/// Enough to stream for ten minutes.
const WORDS: usize = 20_000;
/// Keys that are typed before the line is emptied.
const LINE: usize = 40;

const SETTINGS: &str = "[limits]\nidle_timeout = 0\nmax_members = 250\n[store]\nfsync = false\n";

/// The lead spawns the others; then everybody talks.
fn script(members: usize) -> String {
    let talk: String = (0..WORDS).map(|n| if n % 40 == 39 { "\\n\\n" } else { "word " }).collect();
    let mut text = "format = 1\nidle = \"nothing\"\n[stream]\ntokens_per_second = 40\npause = \"0s\"\n".to_owned();
    text.push_str("[[rule]]\nfor = \"lead\"\non = \"goal\"\nmax = 1\n[[rule.step]]\nsay = \"go\"\ntokens_per_second = 0\n");
    for n in 1..members {
        let _ = write!(
            text,
            "[[rule.step.calls]]\ntool = \"spawn_teammate\"\nargs = {{ name = \"m{n}\", role = \"coder\", prompt = \"talk\" }}\n"
        );
    }
    let _ =
        write!(text, "[[rule.step]]\nsay = \"{talk}\"\n[[rule]]\nfor = \"teammates\"\non = \"prompt\"\n[[rule.step]]\nsay = \"{talk}\"\n");
    text
}

/// A program whose members stream, with a line open to type into.
fn start(workspace: &Workspace, members: usize) -> Pty {
    let file = workspace.project().join("script.toml");
    std::fs::write(&file, script(members)).expect("a script");
    let mut program = workspace.start(SETTINGS, &["--script", &file.to_string_lossy()]);
    program.wait_for_text("1 Team");
    if members > 0 {
        program.send("i");
        program.wait_for_text("to lead");
        program.send("go\r");
        program.wait_for_text(&format!("{members} working"));
        program.wait_for_text("word word");
    }
    program.send("i");
    program.wait_for_text("to lead");
    program
}

/// One key, typed after a pause as people make it.
fn key(program: &mut Pty, number: usize) -> Duration {
    if number.is_multiple_of(LINE) {
        program.send("\x15");
    }
    std::thread::sleep(Duration::from_millis(7 + (number % 11) as u64));
    // Letters that nothing else on the screen has, each another than the one before.
    let letter = char::from_u32(0x0430 + (number % 32) as u32).unwrap_or('ж').to_string();
    let from = program.written();
    let begun = Instant::now();
    program.send(&letter);
    program.wait_for_bytes(from, letter.as_bytes());
    begun.elapsed()
}

/// The most memory the program had so far, where the system tells.
fn peak(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or("unknown", str::trim).to_owned()
}

fn key_echo(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("key to screen, members streaming");
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(200));
    for members in [0, 8, 200] {
        let workspace = Workspace::new(0);
        let mut program = start(&workspace, members);
        let mut all = Vec::new();
        group.bench_function(BenchmarkId::from_parameter(members), |bencher| {
            bencher.iter_custom(|times| {
                let before = all.len();
                (0..times).for_each(|_| all.push(key(&mut program, all.len())));
                all[before..].iter().sum()
            });
        });
        all.sort();
        let p95 = all.get(all.len() * 95 / 100).copied().unwrap_or_default();
        eprintln!("{members} members: p95 {p95:?} of {} keys, peak memory {}", all.len(), peak(program.pid()));
    }
    group.finish();
}

criterion_group!(benches, key_echo);
criterion_main!(benches);
