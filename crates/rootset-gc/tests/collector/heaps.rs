//! Random heaps. Numbers are small, so that stamps tie, versions meet and buckets are crowded all the time.

use proptest::prelude::*;
use rootset_gc::heap::{Bucket, Derived, DerivedKind, Root};
use rootset_model::{Basis, RetentionPolicy, Timestamp};

/// Stamps lie around it: most before, some after, some before all time.
pub const NOW: Timestamp = Timestamp(100);
pub const BUCKETS: u32 = 3;

pub fn stamp() -> impl Strategy<Value = Option<Timestamp>> {
    prop_oneof![
        1 => Just(None),
        1 => (-3..0_i64).prop_map(|at| Some(Timestamp(at))),
        12 => (0..=NOW.0).prop_map(|at| Some(Timestamp(at))),
        4 => (90..95_i64).prop_map(|at| Some(Timestamp(at))),
        1 => (NOW.0 + 1..NOW.0 + 20).prop_map(|at| Some(Timestamp(at))),
    ]
}

pub fn policy() -> impl Strategy<Value = RetentionPolicy> {
    let some = proptest::option::weighted::<std::ops::Range<i64>>;
    let basis = prop_oneof![2 => Just(Basis::IngestedAt), 1 => Just(Basis::LastUsedAt)];
    let min_keep = prop_oneof![2 => Just(0_i64), 1 => 1..6_i64];
    let keep_within = prop_oneof![2 => Just(0_i64), 1 => 1..60_i64];
    let is_final = proptest::bool::weighted(0.2);
    (some(0.4, 1..100), some(0.4, 0..8), some(0.4, 1..5), min_keep, keep_within, basis, is_final).prop_map(
        |(max_age_ms, max_count, max_version_gap, min_keep, keep_within_ms, basis, is_final)| RetentionPolicy {
            max_age_ms,
            max_count,
            max_version_gap,
            min_keep,
            keep_within_ms,
            basis,
            is_final,
            ..RetentionPolicy::default()
        },
    )
}

pub fn buckets() -> impl Strategy<Value = Vec<Bucket>> {
    prop::collection::vec(policy(), BUCKETS as usize..=BUCKETS as usize).prop_map(|policies| {
        let named = policies.into_iter().enumerate();
        named.map(|(number, policy)| Bucket { source: format!("source-{number}"), repo: None, policy }).collect()
    })
}

fn root() -> impl Strategy<Value = Root> {
    let rarely = |chance| prop::bool::weighted(chance);
    let sometimes = || prop_oneof![4 => Just(None), 1 => stamp()];
    let stamps = (stamp(), sometimes(), sometimes(), sometimes(), sometimes());
    let flags = (rarely(0.1), rarely(0.3), rarely(0.05));
    let observed_age_ms = prop_oneof![3 => Just(i64::MAX), 1 => 0..12_i64];
    let numbers = (proptest::option::weighted(0.5, 0..8_i64), observed_age_ms);
    (any::<u8>(), 0..BUCKETS, stamps, numbers, flags).prop_map(
        |(id, bucket, stamps, (source_version, observed_age_ms), flags)| Root {
            id: [id; 16],
            version: 1,
            bucket,
            ingested_at: stamps.0,
            last_used_at: stamps.1,
            expires_at: stamps.2,
            superseded_at: stamps.3,
            stale_at: stamps.4,
            source_version,
            is_pinned: flags.0,
            is_indexed_file: flags.1,
            is_in_flight: flags.2,
            observed_age_ms,
        },
    )
}

/// Up to `most` roots with ids of their own, in any order.
pub fn roots(most: usize) -> impl Strategy<Value = Vec<Root>> {
    prop::collection::vec(root(), 0..=most).prop_map(|mut roots| {
        // The random byte decides the order of ids, the place makes them unique.
        for (place, root) in roots.iter_mut().enumerate() {
            root.id[8..].copy_from_slice(&(place as u64).to_be_bytes());
        }
        roots
    })
}

pub fn derived(most: usize) -> impl Strategy<Value = Vec<Derived>> {
    let kind = prop::sample::select(vec![DerivedKind::Chunk, DerivedKind::Entity, DerivedKind::Relation]);
    let row = (kind, 0..3_u32, prop::bool::weighted(0.3));
    prop::collection::vec(row, 0..=most).prop_map(|rows| {
        let rows = rows.into_iter().enumerate();
        rows.map(|(place, (kind, contributors, is_untracked))| Derived {
            kind,
            id: [place as u8; 16],
            contributors,
            is_untracked,
        })
        .collect()
    })
}
