//! What the wall costs each command. `cargo test --release --test it -- sandbox::cost --nocapture` prints it.

use super::yard::Yard;
use signoff::tool::sandbox::Sandbox;
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;
/// More than the bare command, in the best round. The aim is 20 ms on a quiet machine with the real program; on a busy one
/// with this large test program only a gross mistake can be told, such as a mount for every file of a folder.
const LIMIT: Duration = Duration::from_millis(300);
/// What the real program may cost more at p50, optimised, on a machine that does nothing else.
const AIM: Duration = Duration::from_millis(20);

/// Times of the bare and of the walled command, sorted.
fn measure(yard: &Yard, wall: &Sandbox) -> (Vec<Duration>, Vec<Duration>) {
    let (mut bare, mut walled) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (wall, times) in [(None, &mut bare), (Some(wall), &mut walled)] {
            let start = Instant::now();
            assert_eq!(yard.run(wall, "true", &[]).code, Some(0));
            times.push(start.elapsed());
        }
    }
    bare.sort();
    walled.sort();
    for (name, at) in [("best", 0), ("p50", ROUNDS / 2)] {
        println!("{name} of {ROUNDS}: bare {:?}, walled {:?}, more {:?}", bare[at], walled[at], walled[at].saturating_sub(bare[at]));
    }
    (bare, walled)
}

#[test]
fn a_walled_command_starts_almost_as_fast_as_a_bare_one() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let (bare, walled) = measure(&yard, &wall);
    assert!(walled[0].saturating_sub(bare[0]) < LIMIT, "bare {:?}, walled {:?}", bare[0], walled[0]);
}

/// Memory that is filled before a command starts must not make it start later: nothing is forked that would copy its map.
#[test]
fn what_a_start_costs_does_not_grow_with_our_memory() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let (_, before) = measure(&yard, &wall);
    let ballast = vec![1_u8; if cfg!(debug_assertions) { 256 << 20 } else { 1 << 30 }];
    let (bare, after) = measure(&yard, &wall);
    assert!(std::hint::black_box(&ballast).iter().step_by(4096).all(|byte| *byte == 1));
    println!("best with {} MiB: {:?}, without: {:?}", ballast.len() >> 20, after[0], before[0]);
    assert!(after[0].saturating_sub(before[0]) < LIMIT / 4, "{:?} without, {:?} with {} MiB", before[0], after[0], ballast.len() >> 20);
    if !cfg!(debug_assertions) && std::env::var_os("SIGNOFF_FULL").is_some() {
        let more = after[ROUNDS / 2].saturating_sub(bare[ROUNDS / 2]);
        assert!(more < AIM, "{more:?} more at p50");
    }
}
