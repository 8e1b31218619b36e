//! When a heap that nobody writes to may have garbage next. Pure.
//!
//! A lower bound: looking too early costs a look, looking too late would keep garbage. A round skips workspaces whose time has
//! not come.

use rootset_model::limits::SUPERSEDED_KEPT_MS;
use rootset_model::{Basis, RetentionPolicy, Timestamp};

use crate::heap::{Heap, Root};
use crate::observed::OBSERVED_AGE_MS_MIN;

/// The first moment after `now` at which any of the roots may become garbage; `None` when time alone changes nothing.
pub fn next_change(heap: &Heap<'_>, now: Timestamp) -> Option<Timestamp> {
    let next_of = |root: &Root| changes(root, &heap.buckets[root.bucket as usize].policy, now);
    heap.roots.iter().filter(|root| !root.is_pinned).filter_map(next_of).min()
}

/// Whether uses alone can change what a policy keeps: they move places, and leave no mark that a round could see.
pub fn goes_by_uses(policy: &RetentionPolicy) -> bool {
    policy.basis == Basis::LastUsedAt && (policy.max_count.is_some() || policy.min_keep > 0)
}

fn changes(root: &Root, policy: &RetentionPolicy, now: Timestamp) -> Option<Timestamp> {
    // Whoever works on it may end at any time.
    if root.is_in_flight {
        return Some(now.saturating_add_ms(1));
    }
    let stamp = match policy.basis {
        Basis::IngestedAt => root.ingested_at,
        Basis::LastUsedAt => root.last_used_at.or(root.ingested_at),
    };
    let after = |stamp: Option<Timestamp>, ms: i64| stamp.map(|stamp| stamp.saturating_add_ms(ms));
    let kept = after(stamp, policy.keep_within_ms).filter(|_| !policy.is_empty());
    let aged = policy.max_age_ms.and_then(|max_age_ms| {
        // Both clocks have to agree that it is too old.
        let missing_ms = max_age_ms.min(OBSERVED_AGE_MS_MIN).saturating_sub(root.observed_age_ms).max(0);
        Some(after(stamp, max_age_ms.saturating_add(1))?.max(now.saturating_add_ms(missing_ms)))
    });
    let superseded = after(root.superseded_at, SUPERSEDED_KEPT_MS.saturating_add(1));
    let dates = [root.expires_at, root.stale_at, superseded, stamp, aged, kept];
    dates.into_iter().flatten().filter(|date| *date > now).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::Bucket;
    use crate::strategies;
    use proptest::prelude::*;
    use rootset_properties::for_a_while;

    const NOW: i64 = 1_000_000_000;
    const DAY_MS: i64 = 24 * 3_600_000;

    fn stamp() -> impl Strategy<Value = Option<Timestamp>> {
        proptest::option::of((NOW - 60 * DAY_MS..NOW + 40 * DAY_MS).prop_map(Timestamp))
    }

    fn root() -> impl Strategy<Value = Root> {
        (stamp(), stamp(), stamp(), stamp(), 0..3_i64, any::<bool>(), prop_oneof![Just(i64::MAX), 0..3 * DAY_MS])
            .prop_map(|(ingested_at, last_used_at, expires_at, superseded_at, version, is_pinned, observed_age_ms)| {
                let source_version = Some(version);
                let written = Root::written(1, Timestamp(NOW));
                Root {
                    ingested_at,
                    last_used_at,
                    expires_at,
                    superseded_at,
                    source_version,
                    is_pinned,
                    observed_age_ms,
                    ..written
                }
            })
    }

    fn policy() -> impl Strategy<Value = RetentionPolicy> {
        let days = |most: i64| proptest::option::of((1..most).prop_map(|days| days * DAY_MS / 2));
        (days(60), proptest::option::of(0..4_i64), 0..2_i64, days(20), any::<bool>()).prop_map(
            |(max_age_ms, max_count, min_keep, keep_within, by_use)| RetentionPolicy {
                max_age_ms,
                max_count,
                min_keep,
                keep_within_ms: keep_within.unwrap_or(0),
                basis: if by_use { Basis::LastUsedAt } else { Basis::IngestedAt },
                ..RetentionPolicy::default()
            },
        )
    }

    /// Before the moment that is answered, a heap without garbage stays so.
    #[test]
    fn nothing_becomes_garbage_before_the_next_change() {
        for_a_while(|config| {
            proptest!(config, |(roots in prop::collection::vec(root(), 0..8), policy in policy(), wait in 1..50 * DAY_MS)| {
                let buckets = [Bucket { source: "user".into(), repo: None, policy }];
                let heap = Heap { roots: &roots, buckets: &buckets, derived: &[] };
                let found = |heap: &Heap<'_>, now| strategies::select(&strategies::of_memories(), heap, now).roots;
                prop_assume!(found(&heap, Timestamp(NOW)).is_empty());
                let next = next_change(&heap, Timestamp(NOW)).map_or(i64::MAX, |at| at.0);
                let later = (NOW + wait).min(next - 1);
                // The database has seen the same time pass.
                let age = |root: &Root| root.observed_age_ms.saturating_add(later - NOW);
                let aged: Vec<Root> = roots.iter().map(|root| Root { observed_age_ms: age(root), ..*root }).collect();
                prop_assert_eq!(found(&Heap { roots: &aged, ..heap }, Timestamp(later)), []);
            });
        });
    }
}
