//! The one place that reads the clocks and draws random numbers.
//!
//! The wall clock is read once, when the process first asks; from then on a clock that nobody can set counts on from there
//! (on Linux one that counts through a suspend, too). So a wall clock that jumps neither fires a deadline nor holds one up,
//! and moments that are compared within a process keep their order.

use crate::domain::{MessageId, RequestId, Timestamp};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment of the wall clock, and how far the steady clock was then.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    wall: Timestamp,
    steady: Duration,
}

impl Anchor {
    fn at(self, steady: Duration) -> Timestamp {
        self.wall.plus(steady.saturating_sub(self.steady))
    }
}

/// Now.
pub fn now() -> Timestamp {
    static ANCHOR: OnceLock<Anchor> = OnceLock::new();
    ANCHOR.get_or_init(|| Anchor { wall: wall(), steady: steady() }).at(steady())
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
fn wall() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(target_os = "linux")]
fn steady() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the steady clock")]
fn steady() -> Duration {
    static BEGAN: OnceLock<std::time::Instant> = OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed()
}

/// A new request id: the first 8 hex digits of a v4 UUID.
pub fn request_id() -> RequestId {
    RequestId::from_random(uuid::Uuid::new_v4().as_u128())
}

/// A new message id: a v4 UUID.
pub fn message_id() -> MessageId {
    MessageId(uuid::Uuid::new_v4().to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_with_the_steady_clock_wherever_the_wall_clock_jumps() {
        let anchor = Anchor { wall: Timestamp(1_000_000), steady: Duration::from_secs(50) };
        assert_eq!(anchor.at(Duration::from_secs(53)), Timestamp(1_003_000));
        assert_eq!(anchor.at(Duration::from_secs(1)), Timestamp(1_000_000), "never before the anchor");
        let (first, second) = (now(), now());
        assert!(second >= first && wall().since(first) < Duration::from_secs(60));
    }
}
