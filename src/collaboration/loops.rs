//! The loop detector: A-A, A-B-A-B or A-B-C-A-B-C with outputs that are (almost) the same.
//!
//! Failed runs do not count (failures have rules of their own), nor do runs on different pieces of work.

use super::Team;
use crate::domain::MemberName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Outputs at least this similar are the same thing said again.
pub const ALIKE: f64 = 0.95;
/// A pattern must fill at least this many records.
pub const RECORDS_MIN: usize = 4;
/// The longest pattern: A-B-C.
pub const PERIOD_MAX: usize = 3;
/// So many words of an output are compared; the rest is ignored, so a check costs the same whatever a model writes.
pub const WORDS_MAX: usize = 400;
/// So many characters of an output are kept for comparison.
const KEPT_MAX: usize = 4_000;

/// One ended run, as far as the detector needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopRecord {
    /// Who.
    pub who: MemberName,
    /// The beginning of the output; `None` when the run failed.
    pub output: Option<String>,
    /// The piece of work, where the protocol counts them.
    pub work: Option<u64>,
}

impl LoopRecord {
    /// A record with the output cut to what is compared.
    pub fn new(who: MemberName, output: Option<&str>, work: Option<u64>) -> Self {
        Self { who, output: output.map(|text| text.chars().take(KEPT_MAX).collect()), work }
    }

    fn repeats(&self, earlier: &Self) -> bool {
        let same_work = self.work.is_none() || self.work == earlier.work;
        match (&self.output, &earlier.output) {
            (Some(a), Some(b)) => self.who == earlier.who && same_work && similarity(a, b) >= ALIKE,
            (None, _) | (_, None) => false,
        }
    }
}

/// The shared part of two texts' words, 0 to 1 (twice the common words over all words, each as often as it occurs).
pub fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let mut bag: BTreeMap<String, i64> = BTreeMap::new();
    let words = |text: &str| text.split_whitespace().take(WORDS_MAX).map(str::to_lowercase).collect::<Vec<_>>();
    let (left, right) = (words(a), words(b));
    let total = left.len() + right.len();
    if total == 0 {
        return 1.0;
    }
    for word in left {
        *bag.entry(word).or_default() += 1;
    }
    let mut common = 0usize;
    for word in right {
        if let Some(count) = bag.get_mut(&word).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    2.0 * common as f64 / total as f64
}

/// The pattern that the last records repeat, in words, if they do.
pub fn find(team: &Team) -> Option<String> {
    let records = &team.history;
    (1..=PERIOD_MAX).find_map(|period| {
        let needed = RECORDS_MIN.max(2 * period);
        let start = records.len().checked_sub(needed)?;
        let repeats = (start + period..records.len()).all(|at| records[at].repeats(&records[at - period]));
        repeats.then(|| {
            let names: Vec<&str> = records.iter().skip(start).map(|record| record.who.as_str()).collect();
            format!("{} say the same again and again", names.join("-"))
        })
    })
}
