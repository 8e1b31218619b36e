//! Memories that a living one has superseded for long enough that nobody will want them back.

use rootset_model::Timestamp;
use rootset_model::limits::SUPERSEDED_KEPT_MS;
use rootset_model::plan::{Reason, ReasonText};

use super::{Example, Needs, Selection, Strategy};
use crate::heap::{Heap, Root, past};

pub static SUPERSEDED: Strategy = Strategy {
    name: "superseded",
    about: "Memories superseded for more than 30 days.",
    needs: Needs::DatedMemories,
    select,
    reasons: &[LONG_SUPERSEDED],
    still_holds: |state| state.is_superseded,
    runs_by_schedule: true,
    example: |now| {
        let since = Timestamp(now.0 - SUPERSEDED_KEPT_MS - 1);
        let memory = Root { superseded_at: Some(since), ..Root::written(1, since) };
        Example { memories: vec![memory], ..Example::default() }
    },
};

const LONG_SUPERSEDED: Reason =
    Reason::new(&ReasonText { word: "superseded", in_words: "superseded for more than 30 days" });

fn select(heap: &Heap<'_>, now: Timestamp) -> Selection {
    let is_long_superseded =
        |root: &Root| past(root.superseded_at, now).is_some_and(|at| now.0 - at.0 > SUPERSEDED_KEPT_MS);
    Selection { roots: heap.places_where(is_long_superseded, LONG_SUPERSEDED), ..Selection::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::tests::{at, memory, selected};
    use rootset_model::RetentionPolicy;

    #[test]
    fn superseded_takes_what_has_been_superseded_for_more_than_thirty_days() {
        let superseded = |superseded_at| Root { superseded_at, ..memory(1) };
        let roots = [
            memory(1),
            superseded(at(SUPERSEDED_KEPT_MS)),
            superseded(at(SUPERSEDED_KEPT_MS + 1)),
            superseded(at(-1)),
            superseded(Some(Timestamp(-1))),
            Root { is_pinned: true, ..superseded(at(SUPERSEDED_KEPT_MS + 1)) },
        ];
        assert_eq!(selected(&SUPERSEDED, &roots, RetentionPolicy::default()), [(2, "superseded")]);
    }
}
