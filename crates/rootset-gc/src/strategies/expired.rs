//! Memories whose own `expires_at` has passed, or that the policy of their bucket no longer keeps.

use rootset_model::Timestamp;
use rootset_model::plan::Reason;

use super::{Selection, Strategy, StrategyName};
use crate::heap::{Heap, Root, past};
use crate::retention;

#[derive(Debug)]
pub struct Expired;

impl Strategy for Expired {
    fn name(&self) -> StrategyName {
        StrategyName::Expired
    }

    fn select(&self, heap: &Heap<'_>, now: Timestamp) -> Selection {
        let has_run_out = |root: &Root| past(root.expires_at, now).is_some();
        let mut roots = heap.places_where(has_run_out, Reason::ExpiresAt);
        let classified = retention::classify(heap.roots, heap.buckets, now);
        roots.extend(classified.expired.iter().map(|(place, expiry)| (*place, expiry.reason())));
        // Its own date is the better reason where both apply.
        roots.sort_by_key(|(place, _)| *place);
        roots.dedup_by_key(|(place, _)| *place);
        Selection { roots, unclassifiable: classified.unclassifiable, ..Selection::default() }
    }
}
