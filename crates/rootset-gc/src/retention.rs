//! Which memories the policy of their bucket no longer keeps: age, number and version against the rules that keep.
//!
//! A pure function of rows, policies and `now`. It condemns nothing by itself: what it answers becomes a plan, and only
//! the protocol deletes. When in doubt, keep: a row without a valid past stamp never expires and is counted (I5).

use rootset_model::Timestamp;
use rootset_model::plan::Reason;

use crate::heap::{Bucket, Root};

/// The rule that a row broke first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expiry {
    Age,
    Count,
    Version,
}

impl Expiry {
    pub fn reason(self) -> Reason {
        match self {
            Self::Age => Reason::TooOld,
            Self::Count => Reason::TooMany,
            Self::Version => Reason::TooFarBehind,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// Places of expired rows in the input, ascending, with the rule.
    pub expired: Vec<(u32, Expiry)>,
    /// Places of rows without a valid past stamp: kept, and counted so that somebody notices.
    pub unclassifiable: Vec<u32>,
}

/// Classifies all rows, each by the policy of its bucket. Rows may come in any order.
pub fn classify(_roots: &[Root], _buckets: &[Bucket], _now: Timestamp) -> Classified {
    Classified::default()
}
