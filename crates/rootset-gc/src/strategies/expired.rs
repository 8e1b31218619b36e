//! Memories whose own `expires_at` has passed, or that the policy of their bucket no longer keeps.

use rootset_model::plan::{Reason, ReasonText};
use rootset_model::{RetentionPolicy, Timestamp};

use super::{Example, Needs, Selection, Strategy};
use crate::heap::{Heap, Root, past};
use crate::retention::{self, Expiry};

pub static EXPIRED: Strategy = Strategy {
    name: "expired",
    about: "Memories whose expires_at has passed, or that the retention policy no longer keeps.",
    needs: Needs::MemoriesUnderPolicies,
    select,
    reasons: &[EXPIRES_AT, TOO_OLD, TOO_MANY, TOO_FAR_BEHIND, PERIOD_OVER],
    // Dates and policies are asked when a run starts.
    still_holds: |_| true,
    runs_by_schedule: true,
    example: |now| {
        const DAY_MS: i64 = 24 * 3_600_000;
        let past_its_date = Root { expires_at: Some(now), ..Root::written(1, now) };
        let too_old = Root::written(2, Timestamp(now.0 - 2 * DAY_MS));
        let policy = RetentionPolicy { max_age_ms: Some(DAY_MS), ..RetentionPolicy::default() };
        Example { memories: vec![past_its_date, too_old], policy, ..Example::default() }
    },
};

const EXPIRES_AT: Reason = Reason::new(&ReasonText { word: "expires_at", in_words: "its expires_at has passed" });
const TOO_OLD: Reason =
    Reason::new(&ReasonText { word: "too_old", in_words: "older than the retention policy's max_age" });
const TOO_MANY: Reason =
    Reason::new(&ReasonText { word: "too_many", in_words: "beyond the retention policy's max_count newest" });
const TOO_FAR_BEHIND: Reason = Reason::new(&ReasonText {
    word: "too_far_behind",
    in_words: "behind the newest version by the retention policy's max_version_gap",
});

/// Of a policy that is final: what goes by it stays gone.
pub const PERIOD_OVER: Reason =
    Reason::new(&ReasonText { word: "period_over", in_words: "the period of a final retention policy is over" });

fn select(heap: &Heap<'_>, now: Timestamp) -> Selection {
    let has_run_out = |root: &Root| past(root.expires_at, now).is_some();
    let mut roots = heap.places_where(has_run_out, EXPIRES_AT);
    let classified = retention::classify(heap.roots, heap.buckets, now);
    let is_final = |place: u32| heap.buckets[heap.roots[place as usize].bucket as usize].policy.is_final;
    let reason = |place: u32, expiry| if is_final(place) { PERIOD_OVER } else { reason_of(expiry) };
    roots.extend(classified.expired.iter().map(|(place, expiry)| (*place, reason(*place, *expiry))));
    // Its own date is the better reason where both apply.
    roots.sort_by_key(|(place, _)| *place);
    roots.dedup_by_key(|(place, _)| *place);
    Selection { roots, unclassifiable: classified.unclassifiable, ..Selection::default() }
}

fn reason_of(expiry: Expiry) -> Reason {
    match expiry {
        Expiry::Age => TOO_OLD,
        Expiry::Count => TOO_MANY,
        Expiry::Version => TOO_FAR_BEHIND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::tests::{at, memory, selected};

    #[test]
    fn expired_takes_what_has_run_out_and_what_retention_does_not_keep() {
        let roots = [
            memory(1),
            Root { expires_at: at(0), ..memory(2) },
            Root { expires_at: at(-1), ..memory(3) },
            Root { expires_at: Some(Timestamp(-1)), ..memory(4) },
            Root { ingested_at: at(6), ..memory(5) },
            Root { ingested_at: at(6), expires_at: at(1), ..memory(6) },
            Root { is_in_flight: true, expires_at: at(1), ..memory(7) },
        ];
        let policy = RetentionPolicy { max_age_ms: Some(5), ..RetentionPolicy::default() };
        assert_eq!(selected(&EXPIRED, &roots, policy), [(1, "expires_at"), (4, "too_old"), (5, "expires_at")]);
    }
}
