//! I4, I5: what strategies select of a heap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::heap::{Bucket, Heap, Root};
use rootset_gc::invariants::{Broken, I4, I5};
use rootset_gc::strategies::{Selection, of_reason};
use rootset_model::{Basis, Timestamp};

/// I4.
pub fn only_orphans_are_condemned(heap: &Heap<'_>, selection: &Selection) -> Result<(), Broken> {
    let mut rows = selection.derived.iter().map(|(place, _)| &heap.derived[*place as usize]);
    I4.holds_without(rows.find(|row| row.is_untracked || row.contributors > 0))
}

/// I5.
pub fn expiry_has_a_date_and_an_order(heap: &Heap<'_>, selection: &Selection, now: Timestamp) -> Result<(), Broken> {
    for (place, reason) in &selection.roots {
        let root = &heap.roots[*place as usize];
        let bucket = &heap.buckets[root.bucket as usize];
        let policy = &bucket.policy;
        let (date, has_rule) = match reason.as_str() {
            "expires_at" => (root.expires_at, true),
            "stale" => (root.stale_at, true),
            "superseded" => (root.superseded_at, true),
            "too_old" => (stamp_of(root, bucket), policy.max_age_ms.is_some()),
            "too_many" => (stamp_of(root, bucket), policy.max_count.is_some()),
            "too_far_behind" => (stamp_of(root, bucket), policy.max_version_gap.is_some()),
            // A strategy that is not known here goes by some date; what a caller names is in no selection.
            _ => (any_past_date(root, now), of_reason(*reason).is_some()),
        };
        let is_founded = has_rule && past(date, now).is_some();
        I5.holds_if(is_founded, || format!("{reason:?} for {root:02x?}"))?;
    }
    ties_break_by_id(heap, selection, now)
}

/// Of the rows that compete for the places of a bucket, no kept one comes after one that found no place.
fn ties_break_by_id(heap: &Heap<'_>, selection: &Selection, now: Timestamp) -> Result<(), Broken> {
    let condemned: BTreeSet<u32> = selection.roots.iter().map(|(place, _)| *place).collect();
    let newest_first = |root: &Root| {
        let stamp = past(stamp_of(root, &heap.buckets[root.bucket as usize]), now)?;
        Some((Reverse(stamp), root.id))
    };
    let mut first_without_place = BTreeMap::new();
    for (place, _) in selection.roots.iter().filter(|(_, reason)| reason.as_str() == "too_many") {
        let root = &heap.roots[*place as usize];
        let first = first_without_place.entry(root.bucket).or_insert(newest_first(root));
        *first = (*first).min(newest_first(root));
    }
    let mut kept = heap.roots.iter().enumerate().filter(|(place, _)| !condemned.contains(&(*place as u32)));
    I5.holds_without(kept.find(|(_, root)| {
        let competes = !root.is_held() && !root.is_in_last_scan();
        let without_place = first_without_place.get(&root.bucket).copied().flatten();
        competes && without_place.zip(newest_first(root)).is_some_and(|(without_place, kept)| kept > without_place)
    }))
}

/// Once more, and not the collector's own: a mistake has to be made twice.
fn past(stamp: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    stamp.filter(|stamp| (0..=now.0).contains(&stamp.0))
}

fn any_past_date(root: &Root, now: Timestamp) -> Option<Timestamp> {
    let dates = [root.ingested_at, root.last_used_at, root.expires_at, root.superseded_at, root.stale_at];
    dates.into_iter().find_map(|date| past(date, now))
}

fn stamp_of(root: &Root, bucket: &Bucket) -> Option<Timestamp> {
    match bucket.policy.basis {
        Basis::IngestedAt => root.ingested_at,
        Basis::LastUsedAt => root.last_used_at.or(root.ingested_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootset_gc::heap::{Derived, DerivedKind};
    use rootset_gc::strategies::stored_reason;
    use rootset_model::RetentionPolicy;
    use rootset_model::plan::Reason;

    const NOW: Timestamp = Timestamp(100);

    fn reason(word: &str) -> Reason {
        stored_reason(word).expect("a strategy gives it")
    }

    fn i5_holds(roots: &[Root], policy: RetentionPolicy, selected: &[(u32, &str)]) -> bool {
        let buckets = [Bucket { source: "user".into(), repo: None, policy }];
        let heap = Heap { roots, buckets: &buckets, derived: &[] };
        let roots = selected.iter().map(|(place, word)| (*place, reason(word))).collect();
        expiry_has_a_date_and_an_order(&heap, &Selection { roots, ..Selection::default() }, NOW).is_ok()
    }

    #[test]
    fn untracked_rows_and_rows_with_contributors_are_not_to_be_condemned() {
        for (contributors, is_untracked, holds) in [(0, false, true), (1, false, false), (0, true, false)] {
            let derived = [Derived { kind: DerivedKind::Entity, id: [1; 16], contributors, is_untracked }];
            let heap = Heap { roots: &[], buckets: &[], derived: &derived };
            let selection = Selection { derived: vec![(0, reason("orphaned"))], ..Selection::default() };
            assert_eq!(only_orphans_are_condemned(&heap, &selection).is_ok(), holds);
        }
    }

    #[test]
    fn an_expiry_needs_a_rule_and_a_date_in_the_past() {
        let by_age = RetentionPolicy { max_age_ms: Some(1), ..RetentionPolicy::default() };
        let too_old = [(0, "too_old")];
        assert!(i5_holds(&[Root::written(1, Timestamp(5))], by_age, &too_old));
        assert!(!i5_holds(&[Root::written(1, Timestamp(5))], RetentionPolicy::default(), &too_old));
        for doubtful in [None, Some(Timestamp(-1)), Some(Timestamp(101))] {
            assert!(!i5_holds(&[Root { ingested_at: doubtful, ..Root::written(1, Timestamp(5)) }], by_age, &too_old));
            let root = Root { expires_at: doubtful, ..Root::written(1, Timestamp(5)) };
            assert!(!i5_holds(&[root], by_age, &[(0, "expires_at")]));
        }
    }

    #[test]
    fn the_newest_keep_their_places_and_equals_keep_them_by_id() {
        let by_count = RetentionPolicy { max_count: Some(1), ..RetentionPolicy::default() };
        let tied = [Root::written(1, Timestamp(5)), Root::written(2, Timestamp(5))];
        assert!(i5_holds(&tied, by_count, &[(1, "too_many")]));
        assert!(!i5_holds(&tied, by_count, &[(0, "too_many")]));
        let newer = [Root::written(1, Timestamp(5)), Root::written(2, Timestamp(6))];
        assert!(!i5_holds(&newer, by_count, &[(1, "too_many")]));
    }
}
