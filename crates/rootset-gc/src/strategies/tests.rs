//! Each strategy at its edges. What holds of all of them is in `tests/`, over random heaps.

use super::*;
use crate::heap::{Bucket, Derived, DerivedKind, Root};
use rootset_model::RetentionPolicy;
use rootset_model::limits::SUPERSEDED_KEPT_MS;

const NOW: Timestamp = Timestamp(10 * SUPERSEDED_KEPT_MS);
const EVERY_NAME: [StrategyName; 5] = [
    StrategyName::StaleCode,
    StrategyName::Expired,
    StrategyName::Superseded,
    StrategyName::OrphanedChunks,
    StrategyName::OrphanedEntities,
];

fn at(ms_before_now: i64) -> Option<Timestamp> {
    Some(Timestamp(NOW.0 - ms_before_now))
}

fn memory(id: u8) -> Root {
    Root::ingested(id, NOW.0 - 1)
}

fn selected(name: StrategyName, roots: &[Root], policy: RetentionPolicy) -> Vec<(u32, Reason)> {
    let buckets = [Bucket { source: "user".into(), repo: None, policy }];
    select(&[name], &Heap { roots, buckets: &buckets, derived: &[] }, NOW).roots
}

#[test]
fn every_strategy_is_listed_once_in_the_order_of_the_documentation() {
    assert_eq!(ALL.iter().map(|strategy| strategy.name()).collect::<Vec<_>>(), EVERY_NAME);
}

#[test]
fn stale_code_takes_files_that_left_their_repository_and_nothing_that_somebody_wrote() {
    let file = Root { is_indexed_file: true, ..memory(1) };
    let stale = Root { stale_at: at(0), ..file };
    let roots = [
        file,
        stale,
        Root { is_indexed_file: false, ..stale },
        Root { stale_at: at(-1), ..stale },
        Root { is_pinned: true, ..stale },
        Root { expires_at: at(1), superseded_at: at(SUPERSEDED_KEPT_MS + 1), ..memory(2) },
    ];
    let everything_is_old = RetentionPolicy { max_count: Some(0), ..RetentionPolicy::default() };
    assert_eq!(selected(StrategyName::StaleCode, &roots, everything_is_old), [(1, Reason::Stale)]);
}

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
    let expected = [(1, Reason::ExpiresAt), (4, Reason::TooOld), (5, Reason::ExpiresAt)];
    assert_eq!(selected(StrategyName::Expired, &roots, policy), expected);
}

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
    let selected = selected(StrategyName::Superseded, &roots, RetentionPolicy::default());
    assert_eq!(selected, [(2, Reason::Superseded)]);
}

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
    let selected = |name| select(&[name], &heap, NOW).derived;
    assert_eq!(selected(StrategyName::OrphanedChunks), [(0, Reason::Orphaned)]);
    assert_eq!(selected(StrategyName::OrphanedEntities), [(2, Reason::Orphaned), (4, Reason::Orphaned)]);
}

#[test]
fn an_object_of_several_strategies_is_named_once_by_the_first() {
    let everything = Root {
        is_indexed_file: true,
        stale_at: at(1),
        expires_at: at(1),
        superseded_at: at(SUPERSEDED_KEPT_MS + 1),
        ..memory(1)
    };
    let buckets = [Bucket { source: "code".into(), repo: None, policy: RetentionPolicy::default() }];
    let heap = Heap { roots: &[everything], buckets: &buckets, derived: &[] };
    assert_eq!(select(&EVERY_NAME, &heap, NOW).roots, [(0, Reason::Stale)]);
    let reversed = [StrategyName::Superseded, StrategyName::Expired];
    assert_eq!(select(&reversed, &heap, NOW).roots, [(0, Reason::ExpiresAt)]);
    assert_eq!(select(&[], &heap, NOW), Selection::default());
}
