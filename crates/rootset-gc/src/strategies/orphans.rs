//! Derived rows whose contributors are gone for good: left by an older version, a crash of another tool, a hand edit.
//! Chunks and the graph are two strategies, because they are found by reading different tables.

use rootset_model::plan::{Reason, ReasonText};

use super::{Example, Needs, Selection, Strategy};
use crate::heap::{DerivedKind, Heap};
use crate::recheck::RootState;

pub static ORPHANED_CHUNKS: Strategy = Strategy {
    name: "orphaned_chunks",
    about: "Chunks whose memory is gone.",
    needs: Needs::OrphanedChunks,
    select: |heap, _| orphans(heap, CHUNKS),
    reasons: &[ORPHANED],
    still_holds: is_still_orphaned,
    runs_by_schedule: false,
    example: |_| Example { orphans: CHUNKS.into(), ..Example::default() },
};

pub static ORPHANED_ENTITIES: Strategy = Strategy {
    name: "orphaned_entities",
    about: "Entities and relations that no memory vouches for.",
    needs: Needs::OrphanedGraph,
    select: |heap, _| orphans(heap, GRAPH),
    reasons: &[ORPHANED],
    still_holds: is_still_orphaned,
    runs_by_schedule: false,
    example: |_| Example { orphans: GRAPH.into(), ..Example::default() },
};

const CHUNKS: &[DerivedKind] = &[DerivedKind::Chunk];
const GRAPH: &[DerivedKind] = &[DerivedKind::Entity, DerivedKind::Relation];
const ORPHANED: Reason = Reason::new(&ReasonText { word: "orphaned", in_words: "nothing vouches for it any more" });

fn orphans(heap: &Heap<'_>, kinds: &[DerivedKind]) -> Selection {
    let places = heap.derived.iter().enumerate();
    let derived = places
        .filter(|(_, row)| kinds.contains(&row.kind) && row.contributors == 0 && !row.is_untracked)
        .map(|(place, _)| (place as u32, ORPHANED))
        .collect();
    Selection { derived, ..Selection::default() }
}

fn is_still_orphaned(state: &RootState) -> bool {
    state.is_orphaned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::Derived;
    use crate::strategies::select;
    use crate::strategies::tests::NOW;

    #[test]
    fn orphans_are_rows_that_nobody_vouches_for_and_nobody_imported() {
        let row = |kind, contributors, is_untracked| Derived { kind, id: [1; 16], contributors, is_untracked };
        let derived = [
            row(DerivedKind::Chunk, 0, false),
            row(DerivedKind::Chunk, 1, false),
            row(DerivedKind::Entity, 0, false),
            row(DerivedKind::Entity, 0, true),
            row(DerivedKind::Relation, 0, false),
            row(DerivedKind::Relation, 2, false),
        ];
        let heap = Heap { roots: &[], buckets: &[], derived: &derived };
        assert_eq!(select(&[&ORPHANED_CHUNKS], &heap, NOW).derived, [(0, ORPHANED)]);
        assert_eq!(select(&[&ORPHANED_ENTITIES], &heap, NOW).derived, [(2, ORPHANED), (4, ORPHANED)]);
    }
}
