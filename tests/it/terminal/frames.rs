//! Frames: few, whole, and none while nothing happens.

use super::toy;
use crate::pty::{Pty, count};
use std::time::{Duration, Instant};

const FRAME: &[u8] = b"\x1b[?2026h";

#[test]
fn while_nothing_happens_nothing_is_written_and_nothing_wakes() {
    let mut pty = toy(&[]);
    pty.send("Lx");
    pty.wait_for_text("typed x");
    pty.wait_quiet(Duration::from_millis(300));
    let (written, wakes) = (pty.written(), wakes(&pty));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(pty.written(), written);
    assert!(wakes_since(&pty, wakes) <= 1, "{} wakes in a second", wakes_since(&pty, wakes));
}

/// How often threads of the program went to sleep by themselves: each wake ends with that.
fn wakes(pty: &Pty) -> u64 {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", pty.pid())) else { return 0 };
    let switches = |path: std::path::PathBuf| {
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap_or("").to_owned();
        line.rsplit('\t').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0)
    };
    threads.map(|thread| switches(thread.unwrap().path())).sum()
}

fn wakes_since(pty: &Pty, before: u64) -> u64 {
    wakes(pty).saturating_sub(before)
}

#[test]
fn twenty_thousand_events_are_drawn_in_a_few_frames() {
    let mut pty = toy(&[]);
    pty.wait_for_text("attached true");
    let before = count(&pty.raw(), FRAME);
    let start = Instant::now();
    pty.send("1");
    pty.wait_for_text("events 20000 event 20000");
    let frames = count(&pty.raw(), FRAME) - before;
    let allowed = 5 + start.elapsed().as_millis() / 30;
    assert!(frames as u128 <= allowed, "{frames} frames in {:?}", start.elapsed());
}

#[test]
fn streaming_text_of_the_watched_member_is_shown() {
    let mut pty = toy(&[]);
    pty.send("2");
    pty.wait_for_text("carried out");
    pty.send("L");
    pty.wait_for_text("live streamed words");
    pty.send("2");
    pty.wait_for_text("live streamed wordsstreamed words");
}

#[test]
fn a_wake_comes_once() {
    let mut pty = toy(&[]);
    pty.send("W");
    pty.wait_for_text("woken 1");
    pty.wait_quiet(Duration::from_millis(150));
    assert!(pty.contents().contains("woken 1"));
}

#[test]
fn a_transcript_that_cannot_be_read_is_told() {
    let mut pty = toy(&[]);
    pty.send("X");
    pty.wait_for_text("the transcript of lead cannot be read: lead has none");
    pty.wait_for_text("reply transcript of lead: 0");
}

#[test]
fn u2_any_size_is_survived_and_the_picture_comes_back() {
    let mut pty = toy(&[]);
    for (cols, rows) in [(1, 1), (0, 0), (14, 3), (500, 200), (1, 200), (80, 24)] {
        pty.resize(cols, rows);
        pty.send("x");
    }
    pty.wait_for("the old size", |screen| screen.contents().contains("toy 80x24") && screen.contents().contains("typed xxxxxx"));
    pty.send("q");
    assert_eq!(pty.wait_exit().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn a_clear_draws_everything_anew() {
    let mut pty = toy(&[]);
    pty.wait_quiet(Duration::from_millis(50));
    let before = pty.written();
    pty.send("R");
    pty.wait_for_bytes(before, b"\x1b[2J");
    pty.wait_for_bytes(before, b"toy");
}
