//! Faults that must cost nothing: damaged files, a full disk, hostile repositories, a model that obeys everybody, sudden
//! ends, and a day of work. `SIGNOFF_FULL=1` for the whole of each.

#![allow(clippy::disallowed_methods, reason = "tests measure time")]

mod damage;
mod entries;
mod escapees;
mod faulty;
mod full;
mod fuzz;
mod hostile;
mod mutate;
mod obeying;
mod samples;
mod soak;
mod sudden;
mod writes;

/// Whether the long form of a test was asked for.
pub fn is_full() -> bool {
    std::env::var_os("SIGNOFF_FULL").is_some()
}

/// So many in the ordinary run, and in the full one.
pub fn of(ordinary: usize, full: usize) -> usize {
    if is_full() { full } else { ordinary }
}

/// Where random choices begin.
pub fn seed() -> u64 {
    std::env::var("SIGNOFF_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7)
}
