//! Damaged bytes of each kind at the same entry points that the fuzz targets call: no panic, no hang.

use super::mutate::{Dice, mutate};
use super::{entries, is_full, samples, seed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// No input of a few kilobytes takes this long, even on a busy machine.
const LONGEST: Duration = Duration::from_secs(5);
/// Inputs of a kind whose parser takes long for a sample of many kilobytes get this share of the others' number, where the
/// full run was not asked for.
const SLOW: [&str; 2] = ["user_config", "script"];

fn inputs(name: &str) -> usize {
    match (is_full(), SLOW.contains(&name)) {
        (true, _) => 100_000,
        (false, true) => 1_000,
        (false, false) => 10_000,
    }
}

fn attack(name: &str) {
    let (_, entry) = entries::ALL.into_iter().find(|(known, _)| *known == name).expect("an entry point");
    let mut dice = Dice::new(seed());
    let samples = samples::of(name);
    for sample in &samples {
        entry(sample);
    }
    let mut slowest = Duration::ZERO;
    for number in 0..inputs(name) {
        let (sample, other): (&[u8], &[u8]) = (samples[dice.below(samples.len())], samples[dice.below(samples.len())]);
        let bytes = mutate(&mut dice, sample, other);
        let began = Instant::now();
        let survived = catch_unwind(AssertUnwindSafe(|| entry(&bytes)));
        slowest = slowest.max(began.elapsed());
        assert!(survived.is_ok(), "{name}, input {number} of seed {}: {:?}", seed(), String::from_utf8_lossy(&bytes));
        assert!(began.elapsed() < LONGEST, "{name}, input {number}, took {:?}", began.elapsed());
    }
    println!("{name}: {} inputs, the slowest took {slowest:?}", inputs(name));
}

#[test]
fn inbox_lines() {
    attack("inbox");
}

#[test]
fn task_files() {
    attack("task");
}

#[test]
fn request_files() {
    attack("request");
}

#[test]
fn team_files() {
    attack("team");
}

#[test]
fn event_logs() {
    attack("events");
}

#[test]
fn transcripts() {
    attack("transcript");
}

#[test]
fn settings_of_the_person() {
    attack("user_config");
}

#[test]
fn settings_of_a_workspace() {
    attack("workspace_config");
}

#[test]
fn scripts() {
    attack("script");
}

#[test]
fn streams() {
    attack("stream");
}

/// Lengths and depths that a small sample never reaches.
#[test]
fn big_and_deep_inputs_take_no_longer_than_their_length() {
    let deep = "[".repeat(100_000);
    let wide = format!("{{\"a\":[{}1]}}", "1,".repeat(500_000));
    let lines = "data: ,[1]\n".repeat(100_000);
    let names = format!("{{\"members\":[{}]}}", "{\"name\":\"x y\"},".repeat(20_000).trim_end_matches(','));
    for (name, entry) in entries::ALL.into_iter().filter(|(name, _)| !SLOW.contains(name)) {
        for input in [&deep, &wide, &lines, &names] {
            let began = Instant::now();
            entry(input.as_bytes());
            assert!(began.elapsed() < LONGEST * 4, "{name}: {:?}", began.elapsed());
        }
    }
}
