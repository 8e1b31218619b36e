//! Memories of indexed files that the last completed scan of their repository no longer contains; nothing else.

use rootset_model::Timestamp;
use rootset_model::plan::{Reason, ReasonText};

use super::{Example, Needs, Selection, Strategy};
use crate::heap::{Heap, Root, past};

pub static STALE_CODE: Strategy = Strategy {
    name: "stale_code",
    about: "Memories of indexed files that the last completed scan no longer contains.",
    needs: Needs::DatedMemories,
    select,
    reasons: &[STALE],
    still_holds: |state| state.is_stale,
    runs_by_schedule: true,
    example: |now| {
        let file = Root { is_indexed_file: true, stale_at: Some(now), ..Root::written(1, now) };
        Example { memories: vec![file], ..Example::default() }
    },
};

const STALE: Reason =
    Reason::new(&ReasonText { word: "stale", in_words: "the last completed scan no longer contains the file" });

fn select(heap: &Heap<'_>, now: Timestamp) -> Selection {
    let is_stale = |root: &Root| root.is_indexed_file && past(root.stale_at, now).is_some();
    Selection { roots: heap.places_where(is_stale, STALE), ..Selection::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::tests::{LONG_AGO, NOW, at, memory, selected};
    use rootset_model::RetentionPolicy;

    #[test]
    fn stale_code_takes_files_that_left_their_repository_and_nothing_that_somebody_wrote() {
        let file = Root { is_indexed_file: true, ..memory(1) };
        let stale = Root { stale_at: Some(NOW), ..file };
        let roots = [
            file,
            stale,
            Root { is_indexed_file: false, ..stale },
            Root { stale_at: at(-1), ..stale },
            Root { is_pinned: true, ..stale },
            Root { expires_at: at(1), superseded_at: LONG_AGO, ..memory(2) },
        ];
        let everything_is_old = RetentionPolicy { max_count: Some(0), ..RetentionPolicy::default() };
        assert_eq!(selected(&STALE_CODE, &roots, everything_is_old), [(1, "stale")]);
    }
}
