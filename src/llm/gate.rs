//! The gate in front of a provider: one for each provider and key, shared by all members, so that a 429 told to one
//! parks everybody. And the waits between tries.
//!
//! Pure apart from the lock and [`random_unit`]; instants come in. Deliberately absent: sleeping (see `call`).

use super::settings::MAX_BACKOFF;
use crate::domain::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Longest extra wait after a park, so that members do not all come back in the same moment.
const SPREAD_MAX: Duration = Duration::from_millis(500);

/// Parks callers.
#[derive(Debug, Default)]
pub struct Gate {
    parked: Mutex<Parked>,
}

#[derive(Debug, Default)]
struct Parked {
    everybody: Option<Instant>,
    by_model: BTreeMap<String, Instant>,
}

impl Gate {
    /// Nobody may call before `until`. A park is never shortened.
    pub fn park(&self, until: Instant) {
        let mut parked = self.lock();
        parked.everybody = Some(parked.everybody.map_or(until, |old| old.max(until)));
    }

    /// Nobody may call this model before `until`: for a wait that nobody waits out, so that another model is still asked.
    /// Whether that one's limit is used up as well only the server knows.
    pub fn park_model(&self, model: &str, until: Instant) {
        let mut parked = self.lock();
        let old = parked.by_model.entry(model.to_owned()).or_insert(until);
        *old = until.max(*old);
    }

    /// How long a caller of `model` that comes at `now` has to wait; `None` when the way is free.
    pub fn wait(&self, model: &str, now: Instant) -> Option<Duration> {
        let mut parked = self.lock();
        parked.everybody = parked.everybody.filter(|until| *until > now);
        parked.by_model.retain(|_, until| *until > now);
        let until = parked.everybody.max(parked.by_model.get(model).copied())?;
        Some(until.saturating_duration_since(now))
    }

    fn lock(&self) -> MutexGuard<'_, Parked> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait before try number `attempt + 1` when the server names none: doubling from `base`, the upper half of it at
/// random (`random` in 0..1).
pub fn backoff(base: Duration, attempt: u32, random: f64) -> Duration {
    let doubled = base.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    doubled.min(MAX_BACKOFF).mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0))
}

/// What a caller waits beyond a park of `wait`: up to a tenth of it. Never less than the park: the server's time is exact.
pub fn spread(wait: Duration, random: f64) -> Duration {
    (wait / 10).min(SPREAD_MAX).mul_f64(random.clamp(0.0, 1.0))
}

/// The wait that an answer's headers ask for: `retry-after-ms`, or `Retry-After` in seconds (a fraction is taken) or as
/// an HTTP date. Zero, the past and nonsense are `None`: then the usual wait applies.
pub fn retry_after<'h>(header: impl Fn(&str) -> Option<&'h str>, now: Timestamp) -> Option<Duration> {
    let seconds = |text: &str| text.trim().parse::<f64>().ok();
    let millis = header("retry-after-ms").and_then(seconds).map(|ms| ms / 1000.0);
    let wait = millis.or_else(|| {
        let text = header("retry-after")?;
        seconds(text).or_else(|| {
            let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
            Some((date.as_millisecond() - now.0) as f64 / 1000.0)
        })
    })?;
    Duration::try_from_secs_f64(wait).ok().filter(|wait| !wait.is_zero())
}

/// A random number in 0..1.
pub fn random_unit() -> f64 {
    let bits = (uuid::Uuid::new_v4().as_u128() >> 96) as u32;
    f64::from(bits) / f64::from(u32::MAX)
}
