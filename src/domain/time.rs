//! Time as a value: milliseconds since the Unix epoch. Nothing here reads a clock.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A moment, in milliseconds since the Unix epoch (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The time passed since `earlier`; zero when the clock went backwards.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// This moment plus `wait`, saturating.
    #[must_use]
    pub fn plus(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
    }

    /// As seconds with a fraction: the form the inbox files carry.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// From a number in seconds or milliseconds, as the two upstream dialects write it.
    /// Numbers above 10^11 can only be milliseconds (10^11 seconds is the year 5138).
    pub fn from_number(number: f64) -> Self {
        let millis = if number.abs() > 1e11 { number } else { number * 1000.0 };
        Self(millis as i64)
    }
}
