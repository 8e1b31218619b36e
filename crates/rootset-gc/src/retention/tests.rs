//! Every number of the scenarios, one rule at a time. Rules together are compared with a naive oracle in `tests/`.

use super::*;

const NOW: Timestamp = Timestamp(100_000);

fn ingested(stamps: &[i64]) -> Vec<Root> {
    stamps.iter().enumerate().map(|(place, stamp)| Root::written(place as u8, Timestamp(*stamp))).collect()
}

fn bucket(policy: RetentionPolicy) -> Bucket {
    Bucket { source: "user".into(), repo: None, policy }
}

fn expired(roots: &[Root], policy: RetentionPolicy) -> Vec<u32> {
    let classified = classify(roots, &[bucket(policy)], NOW);
    classified.expired.into_iter().map(|(place, _)| place).collect()
}

fn by_age(max_age_ms: i64) -> RetentionPolicy {
    RetentionPolicy { max_age_ms: Some(max_age_ms), ..RetentionPolicy::default() }
}

fn by_count(max_count: i64) -> RetentionPolicy {
    RetentionPolicy { max_count: Some(max_count), ..RetentionPolicy::default() }
}

fn by_version(max_version_gap: i64) -> RetentionPolicy {
    RetentionPolicy { max_version_gap: Some(max_version_gap), ..RetentionPolicy::default() }
}

#[test]
fn age_expires_strictly_after_its_limit() {
    assert_eq!(expired(&ingested(&[90_000, 95_000, 98_000]), by_age(5_000)), [0]);
}

#[test]
fn age_expires_only_what_the_database_has_seen_for_a_day_or_for_the_whole_of_a_shorter_age() {
    const DAY_MS: i64 = 24 * 3_600_000;
    let now = Timestamp(100 * DAY_MS);
    let is_expired = |max_age_ms: i64, observed_age_ms: i64| {
        let root = Root { observed_age_ms, ..Root::written(1, Timestamp(0)) };
        !classify(&[root], &[bucket(by_age(max_age_ms))], now).expired.is_empty()
    };
    assert!(!is_expired(30 * DAY_MS, DAY_MS - 1) && is_expired(30 * DAY_MS, DAY_MS));
    assert!(!is_expired(5_000, 4_999) && is_expired(5_000, 5_000));
    assert!(!is_expired(30 * DAY_MS, -1), "of another database's time");
    let root = Root { observed_age_ms: 0, ..Root::written(1, Timestamp(0)) };
    assert_eq!(expired(&[root], by_count(0)), [0], "places are not given by age");
}

#[test]
fn count_keeps_the_newest() {
    assert_eq!(expired(&ingested(&[5, 4, 3, 2]), by_count(2)), [2, 3]);
    assert_eq!(expired(&ingested(&[2, 5, 3, 4]), by_count(2)), [0, 2]);
    assert_eq!(expired(&ingested(&[5, 4]), by_count(2)), [0; 0]);
}

#[test]
fn a_count_of_zero_expires_everything() {
    assert_eq!(expired(&ingested(&[5, 4]), by_count(0)), [0, 1]);
}

#[test]
fn count_breaks_ties_by_id_ascending() {
    let tied = [b'c', b'a', b'b'].map(|id| Root::written(id, Timestamp(100)));
    assert_eq!(expired(&tied, by_count(1)), [0, 2]);
    assert_eq!(expired(&tied, by_count(2)), [0]);
}

#[test]
fn every_bucket_has_places_of_its_own_and_a_policy_of_its_own() {
    let mut roots = ingested(&[5, 4, 9, 8, 7]);
    for root in &mut roots[2..] {
        root.bucket = 1;
    }
    let expired = |policies: [RetentionPolicy; 2]| classify(&roots, &policies.map(bucket), NOW).expired;
    assert_eq!(expired([by_count(1); 2]), [(1, Expiry::Count), (3, Expiry::Count), (4, Expiry::Count)]);
    assert_eq!(expired([by_count(1), by_count(2)]), [(1, Expiry::Count), (4, Expiry::Count)]);
    assert_eq!(expired([RetentionPolicy::default(), by_age(99_992)]), [(4, Expiry::Age)]);
}

#[test]
fn any_rule_expires_and_the_first_broken_one_is_named() {
    let mut roots = ingested(&[99_000, 98_000, 97_000, 90_000]);
    let policy = RetentionPolicy { max_count: Some(2), ..by_age(5_000) };
    assert_eq!(expired(&roots, policy), [2, 3]);
    (roots[0].source_version, roots[1].source_version) = (Some(9), Some(8));
    let policy = RetentionPolicy { max_version_gap: Some(1), ..policy };
    let classified = classify(&roots, &[bucket(policy)], NOW);
    assert_eq!(classified.expired, [(1, Expiry::Version), (2, Expiry::Count), (3, Expiry::Age)]);
}

#[test]
fn a_version_expires_at_its_gap_and_a_row_without_one_never_does() {
    let mut roots = ingested(&[10, 10, 10, 10]);
    for (place, version) in [(0, 7), (1, 4), (2, 5)] {
        roots[place].source_version = Some(version);
    }
    assert_eq!(expired(&roots, by_version(3)), [1]);
    // Numbers of other tools may be anything.
    (roots[0].source_version, roots[1].source_version) = (Some(i64::MAX), Some(i64::MIN));
    assert_eq!(expired(&roots, by_version(i64::MAX)), [1]);
}

#[test]
fn a_row_from_the_future_makes_no_version_look_old() {
    let mut roots = ingested(&[10, 100_001]);
    (roots[0].source_version, roots[1].source_version) = (Some(1), Some(9));
    assert_eq!(expired(&roots, by_version(3)), [0; 0]);
}

#[test]
fn doubtful_stamps_are_kept_counted_and_take_no_rank() {
    let mut roots = ingested(&[-5, 100_001, 50, 40]);
    roots.push(Root { ingested_at: None, ..Root::written(9, Timestamp(0)) });
    let classified = classify(&roots, &[bucket(by_count(1))], NOW);
    assert_eq!(classified.unclassifiable, [0, 1, 4]);
    assert_eq!(classified.expired, [(3, Expiry::Count)]);
    assert_eq!(classify(&roots, &[bucket(RetentionPolicy::default())], NOW).unclassifiable, [0, 1, 4]);
}

#[test]
fn what_cannot_expire_is_kept_and_takes_no_rank() {
    let mut roots = ingested(&[50, 40, 30, 20, 10]);
    roots[0].is_pinned = true;
    roots[1].is_in_flight = true;
    roots[2].is_indexed_file = true;
    assert_eq!(expired(&roots, by_age(1)), [3, 4]);
    assert_eq!(expired(&roots, by_count(1)), [4]);
    roots[2].stale_at = Some(Timestamp(60));
    assert_eq!(expired(&roots, by_count(1)), [3, 4]);
}

#[test]
fn min_keep_and_keep_within_win_over_every_rule() {
    let mut roots = ingested(&[10, 20, 30]);
    (roots[0].source_version, roots[2].source_version) = (Some(9), Some(1));
    for policy in [by_age(1), by_count(0), by_version(1)] {
        assert!(!expired(&roots, policy).is_empty());
        assert!(!expired(&roots, RetentionPolicy { min_keep: 1, ..policy }).contains(&2));
        assert_eq!(expired(&roots, RetentionPolicy { min_keep: 3, ..policy }), [0; 0]);
        assert_eq!(expired(&roots, RetentionPolicy { keep_within_ms: 100_000, ..policy }), [0; 0]);
    }
    assert_eq!(expired(&roots, RetentionPolicy { min_keep: 1, ..by_age(1) }), [0, 1]);
    // Exactly as old as `keep_within` is no longer younger than it.
    assert_eq!(expired(&roots, RetentionPolicy { keep_within_ms: 99_980, ..by_age(1) }), [0, 1]);
}

#[test]
fn a_flood_of_new_rows_does_not_evict_what_is_young() {
    let policy = RetentionPolicy { keep_within_ms: 1_000, ..by_count(2) };
    assert_eq!(expired(&ingested(&[99_999, 99_999, 99_999, 99_500, 10]), policy), [4]);
}

#[test]
fn the_last_use_counts_where_the_policy_says_so_and_ingestion_where_there_was_none() {
    let mut roots = ingested(&[10, 20, 30]);
    roots[0].last_used_at = Some(Timestamp(99_000));
    let by_use = RetentionPolicy { basis: Basis::LastUsedAt, ..by_age(5_000) };
    assert_eq!(expired(&roots, by_age(5_000)), [0, 1, 2]);
    assert_eq!(expired(&roots, by_use), [1, 2]);
    assert_eq!(expired(&roots, RetentionPolicy { basis: Basis::LastUsedAt, ..by_count(2) }), [1]);
    roots[1].last_used_at = Some(Timestamp(100_001));
    assert_eq!(classify(&roots, &[bucket(by_use)], NOW).unclassifiable, [1]);
}

#[test]
fn an_empty_policy_expires_nothing_of_anything() {
    let policy = RetentionPolicy { min_keep: 3, keep_within_ms: 5, ..RetentionPolicy::default() };
    assert_eq!(expired(&ingested(&[1, 2, 3]), policy), [0; 0]);
    assert_eq!(expired(&[], by_count(0)), [0; 0]);
}

#[test]
fn values_that_nobody_can_set_keep() {
    let roots = ingested(&[1, 2, 3]);
    for policy in [by_age(0), by_age(-1), by_count(-1), by_version(0), RetentionPolicy { min_keep: -1, ..by_age(1) }] {
        assert_eq!(expired(&roots, policy), [0; 0], "{policy:?}");
    }
}
