//! What the wall costs each command.

use super::yard::Yard;
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;
/// More than the bare command, at the median. The machine of the tests may be busy: the aim is 20 ms.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 120 } else { 60 });

#[test]
fn a_walled_command_starts_almost_as_fast_as_a_bare_one() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let median = |walled: bool| {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            assert_eq!(yard.run(walled.then_some(&wall), "true", &[]).code, Some(0));
            start.elapsed()
        }).collect();
        times.sort();
        times[ROUNDS / 2]
    };
    let (bare, walled) = (median(false), median(true));
    println!("p50 of {ROUNDS}: bare {bare:?}, walled {walled:?}, more {:?}", walled.saturating_sub(bare));
    assert!(walled.saturating_sub(bare) < LIMIT, "bare {bare:?}, walled {walled:?}");
}
