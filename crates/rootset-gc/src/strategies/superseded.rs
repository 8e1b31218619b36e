//! Memories that a living one has superseded for long enough that nobody will want them back.

use rootset_model::Timestamp;
use rootset_model::limits::SUPERSEDED_KEPT_MS;
use rootset_model::plan::Reason;

use super::{Selection, Strategy, StrategyName};
use crate::heap::{Heap, Root, past};

#[derive(Debug)]
pub struct Superseded;

impl Strategy for Superseded {
    fn name(&self) -> StrategyName {
        StrategyName::Superseded
    }

    fn select(&self, heap: &Heap<'_>, now: Timestamp) -> Selection {
        let is_long_superseded =
            |root: &Root| past(root.superseded_at, now).is_some_and(|at| now.0 - at.0 > SUPERSEDED_KEPT_MS);
        Selection { roots: heap.places_where(is_long_superseded, Reason::Superseded), ..Selection::default() }
    }
}
