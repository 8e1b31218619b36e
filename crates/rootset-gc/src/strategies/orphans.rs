//! Derived rows whose contributors are gone for good: left by an older version, a crash of another tool, a hand edit.

use rootset_model::Timestamp;
use rootset_model::plan::Reason;

use super::{Selection, Strategy, StrategyName};
use crate::heap::{DerivedKind, Heap};

#[derive(Debug)]
pub struct OrphanedChunks;

#[derive(Debug)]
pub struct OrphanedEntities;

impl Strategy for OrphanedChunks {
    fn name(&self) -> StrategyName {
        StrategyName::OrphanedChunks
    }

    fn select(&self, heap: &Heap<'_>, _now: Timestamp) -> Selection {
        orphans(heap, &[DerivedKind::Chunk])
    }
}

impl Strategy for OrphanedEntities {
    fn name(&self) -> StrategyName {
        StrategyName::OrphanedEntities
    }

    fn select(&self, heap: &Heap<'_>, _now: Timestamp) -> Selection {
        orphans(heap, &[DerivedKind::Entity, DerivedKind::Relation])
    }
}

fn orphans(heap: &Heap<'_>, kinds: &[DerivedKind]) -> Selection {
    let places = heap.derived.iter().enumerate();
    let derived = places
        .filter(|(_, row)| kinds.contains(&row.kind) && row.contributors == 0 && !row.is_untracked)
        .map(|(place, _)| (place as u32, Reason::Orphaned))
        .collect();
    Selection { derived, ..Selection::default() }
}
