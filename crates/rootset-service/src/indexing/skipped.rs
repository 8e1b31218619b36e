//! Files that were left out, counted by reason.

use std::collections::BTreeMap;

/// Reasons are stable words: they are part of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(pub BTreeMap<&'static str, u64>);

impl Skipped {
    pub fn add(&mut self, reason: &'static str) {
        *self.0.entry(reason).or_default() += 1;
    }

    pub fn add_all(&mut self, others: BTreeMap<&'static str, u64>) {
        for (reason, files) in others {
            *self.0.entry(reason).or_default() += files;
        }
    }
}
