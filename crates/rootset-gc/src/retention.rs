//! Which memories the policy of their bucket no longer keeps: age, number and version against the rules that keep.
//!
//! A pure function of rows, policies and `now`. It condemns nothing by itself: what it answers becomes a plan, and only
//! the protocol deletes. When in doubt, keep: a row without a valid past stamp never expires and is counted (I5).
//!
//! Ten million rows are judged in two passes over them, and a third where equal stamps have to be told apart, so that
//! the speed is that of the memory: nothing is sorted, and per row no more than eight bytes are copied.

mod ranks;
mod simulation;

use rootset_model::{Basis, RetentionPolicy, Timestamp};

use crate::heap::{Bucket, Root, past};
use crate::observed::OBSERVED_AGE_MS_MIN;
use ranks::CutOff;
pub use simulation::simulate;

/// The rule that a row broke first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expiry {
    Age,
    Count,
    Version,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// Places of expired rows in the input, ascending, with the rule.
    pub expired: Vec<(u32, Expiry)>,
    /// Places of rows without a valid past stamp: kept, and counted so that somebody notices.
    pub unclassifiable: Vec<u32>,
}

/// Classifies all rows, each by the policy of its bucket. Rows may come in any order.
pub fn classify(roots: &[Root], buckets: &[Bucket], now: Timestamp) -> Classified {
    assert!(u32::try_from(roots.len()).is_ok(), "places are counted in 32 bits");
    let mut classified = Classified::default();
    let mut rules: Vec<Rules> = buckets.iter().map(|bucket| Rules::new(&bucket.policy)).collect();
    for (place, root) in roots.iter().enumerate() {
        let rules = &mut rules[root.bucket as usize];
        match rules.stamp(root, now) {
            Some(stamp) => rules.meet(root, stamp),
            None => classified.unclassifiable.push(place as u32),
        }
    }
    if rules.iter().all(|rules| rules.policy.is_empty()) {
        return classified;
    }
    ranks::cut(&mut rules, roots, now);
    for (place, root) in roots.iter().enumerate() {
        if let Some(expiry) = rules[root.bucket as usize].judge(root, now) {
            classified.expired.push((place as u32, expiry));
        }
    }
    classified
}

/// A bucket's policy, and what has to be known of all its rows before one can be judged.
#[derive(Clone, Debug)]
struct Rules {
    policy: RetentionPolicy,
    newest_version: Option<i64>,
    /// Of the rows that compete for places, in any order; empty where the policy has no places to give.
    stamps: Vec<Timestamp>,
    /// Which rows are within `max_count`.
    within_count: CutOff,
    /// Which rows are within `min_keep`.
    within_keep: CutOff,
}

impl Rules {
    fn new(policy: &RetentionPolicy) -> Self {
        // Nobody can set such values; like every doubt, they keep.
        let max_age_ms = policy.max_age_ms.filter(|age_ms| *age_ms > 0);
        let max_version_gap = policy.max_version_gap.filter(|gap| *gap > 0);
        Self {
            policy: RetentionPolicy { max_age_ms, max_version_gap, ..*policy },
            newest_version: None,
            stamps: Vec::new(),
            within_count: CutOff::Everything,
            within_keep: CutOff::Nothing,
        }
    }

    /// The time that age and rank are counted from, if it says when: not missing, not negative, not in the future.
    fn stamp(&self, root: &Root, now: Timestamp) -> Option<Timestamp> {
        let stamp = match self.policy.basis {
            Basis::IngestedAt => root.ingested_at,
            Basis::LastUsedAt => root.last_used_at.or(root.ingested_at),
        };
        past(stamp, now)
    }

    /// Takes note of a row with a valid stamp. One without might claim any version and make all others look old.
    fn meet(&mut self, root: &Root, stamp: Timestamp) {
        self.newest_version = self.newest_version.max(root.source_version);
        if self.has_places() && competes(root) {
            self.stamps.push(stamp);
        }
    }

    /// Whether any row can lose its place, or owe its life to it.
    fn has_places(&self) -> bool {
        self.policy.max_count.is_some() || (self.policy.min_keep != 0 && !self.policy.is_empty())
    }

    fn judge(&self, root: &Root, now: Timestamp) -> Option<Expiry> {
        let stamp = self.stamp(root, now).filter(|_| competes(root))?;
        let age_ms = now.0 - stamp.0;
        if age_ms < self.policy.keep_within_ms || self.within_keep.holds(root, stamp) {
            None
        } else if self.is_too_old(age_ms, root.observed_age_ms) {
            Some(Expiry::Age)
        } else if !self.within_count.holds(root, stamp) {
            Some(Expiry::Count)
        } else if self.is_too_far_behind(root, self.newest_version) {
            Some(Expiry::Version)
        } else {
            None
        }
    }

    fn is_too_old(&self, age_ms: i64, observed_age_ms: i64) -> bool {
        self.policy.max_age_ms.is_some_and(|max| age_ms > max && observed_age_ms >= observed_needed_ms(max))
    }

    fn is_too_far_behind(&self, root: &Root, newest_version: Option<i64>) -> bool {
        match (self.policy.max_version_gap, newest_version, root.source_version) {
            (Some(gap), Some(newest), Some(version)) => newest.saturating_sub(version) >= gap,
            _ => false,
        }
    }
}

/// A wrong clock makes a new row look old: what is too old was also here for a day, or for the whole of a shorter age.
fn observed_needed_ms(max_age_ms: i64) -> i64 {
    max_age_ms.min(OBSERVED_AGE_MS_MIN)
}

/// Whether the row may expire at all. One that may not takes no rank either: it pushes nobody out. Retention never
/// punches holes into a code index, so what the last scan of a repository contains is not in question.
fn competes(root: &Root) -> bool {
    !root.is_held() && !root.is_in_last_scan()
}

#[cfg(test)]
mod tests;
