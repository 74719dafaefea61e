//! What the wall costs each command.

use super::yard::Yard;
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;
/// More than the bare command, in the best round. The aim is 20 ms on a quiet machine with the real program; on a busy one
/// with this large test program only a gross mistake can be told, such as a mount for every file of a folder.
const LIMIT: Duration = Duration::from_millis(300);

#[test]
fn a_walled_command_starts_almost_as_fast_as_a_bare_one() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let (mut bare, mut walled) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (wall, times) in [(None, &mut bare), (Some(&wall), &mut walled)] {
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
    assert!(walled[0].saturating_sub(bare[0]) < LIMIT, "bare {:?}, walled {:?}", bare[0], walled[0]);
}
