//! Memories of indexed files that the last completed scan of their repository no longer contains; nothing else.

use rootset_model::Timestamp;
use rootset_model::plan::Reason;

use super::{Selection, Strategy, StrategyName};
use crate::heap::{Heap, Root, past};

#[derive(Debug)]
pub struct StaleCode;

impl Strategy for StaleCode {
    fn name(&self) -> StrategyName {
        StrategyName::StaleCode
    }

    fn select(&self, heap: &Heap<'_>, now: Timestamp) -> Selection {
        let is_stale = |root: &Root| root.is_indexed_file && past(root.stale_at, now).is_some();
        Selection { roots: heap.places_where(is_stale, Reason::Stale), ..Selection::default() }
    }
}
