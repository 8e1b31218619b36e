//! The simulation of days to come against the classifier, asked day after day about the rows that are left.

use proptest::prelude::*;
use rootset_gc::heap::{Bucket, Root};
use rootset_gc::retention::{classify, simulate};
use rootset_model::{RetentionPolicy, Timestamp};
use rootset_properties::for_a_while;

use crate::heaps::{NOW, buckets, roots};

const DAY_MS: i64 = 24 * 3_600_000;
/// What a unit of the random heaps stands for: several fall on one day, and many exactly on the edge of one.
const UNIT_MS: i64 = DAY_MS / 4;
const LAST_DAY: u32 = 30;

fn day_after_day(roots: &[Root], buckets: &[Bucket], now: Timestamp, last_day: u32) -> Vec<(u32, u32)> {
    let mut gone = Vec::new();
    let mut left: Vec<(u32, Root)> = (0..).zip(roots.iter().copied()).collect();
    for day in 0..=last_day {
        let passed_ms = i64::from(day) * DAY_MS;
        let of_day: Vec<Root> = left
            .iter()
            .map(|(_, root)| Root { observed_age_ms: root.observed_age_ms.saturating_add(passed_ms), ..*root })
            .collect();
        let classified = classify(&of_day, buckets, Timestamp(now.0 + passed_ms));
        let expired: Vec<usize> = classified.expired.iter().map(|(place, _)| *place as usize).collect();
        gone.extend(expired.iter().map(|place| (day, left[*place].0)));
        let mut place = 0;
        left.retain(|_| {
            place += 1;
            expired.binary_search(&(place - 1)).is_err()
        });
    }
    gone
}

fn in_days(mut roots: Vec<Root>, mut buckets: Vec<Bucket>) -> (Vec<Root>, Vec<Bucket>) {
    for root in &mut roots {
        for stamp in [&mut root.ingested_at, &mut root.last_used_at].into_iter().flatten() {
            stamp.0 *= UNIT_MS;
        }
        if root.observed_age_ms != i64::MAX {
            // Some of them from before the database began to observe.
            root.observed_age_ms = (root.observed_age_ms - 4) * UNIT_MS;
        }
    }
    for Bucket { policy, .. } in &mut buckets {
        policy.max_age_ms = policy.max_age_ms.map(|units| units * UNIT_MS);
        policy.keep_within_ms *= UNIT_MS;
    }
    (roots, buckets)
}

#[test]
fn days_to_come_are_simulated_as_the_classifier_would_judge_each() {
    for_a_while(|config| {
        // The earlier now is, the more rows are yet to come.
        let now = (0..=NOW.0).prop_map(|units| Timestamp(units * UNIT_MS));
        proptest!(config, |(roots in roots(40), buckets in buckets(), now in now)| {
            let (roots, buckets) = in_days(roots, buckets);
            prop_assert_eq!(
                simulate(&roots, &buckets, now, LAST_DAY),
                day_after_day(&roots, &buckets, now, LAST_DAY)
            );
        })
    });
}

#[test]
fn each_rule_takes_rows_on_its_day() {
    let now = Timestamp(100 * DAY_MS);
    let written = |id: u8, days_ago: i64| Root::written(id, Timestamp(now.0 - days_ago * DAY_MS));
    let mut roots: Vec<Root> = (0..4).map(|number| written(number, i64::from(number) * 5)).collect();
    roots[0].source_version = Some(3);
    roots[3].source_version = Some(1);
    let simulated = |policy: RetentionPolicy| {
        let bucket = Bucket { source: "user".into(), repo: None, policy };
        simulate(&roots, &[bucket], now, 12)
    };
    let nothing = RetentionPolicy::default();
    assert_eq!(simulated(nothing), []);
    // On day 10 the third is exactly 20 days old, and on day 11 it is older.
    let by_age = RetentionPolicy { max_age_ms: Some(20 * DAY_MS), ..nothing };
    assert_eq!(simulated(by_age), [(6, 3), (11, 2)]);
    assert_eq!(simulated(RetentionPolicy { min_keep: 3, ..by_age }), [(6, 3)]);
    let by_count = RetentionPolicy { max_count: Some(1), ..nothing };
    assert_eq!(simulated(by_count), [(0, 1), (0, 2), (0, 3)]);
    // Two have to leave; each stays until it is 12 days old.
    assert_eq!(
        simulated(RetentionPolicy { max_count: Some(2), keep_within_ms: 12 * DAY_MS, ..nothing }),
        [(0, 3), (2, 2)]
    );
    assert_eq!(simulated(RetentionPolicy { max_version_gap: Some(2), ..nothing }), [(0, 3)]);
}

#[test]
fn row_from_the_future_counts_from_its_day_on() {
    let now = Timestamp(100 * DAY_MS);
    let roots = [
        Root { source_version: Some(1), ..Root::written(1, now) },
        Root { source_version: Some(5), ..Root::written(2, Timestamp(now.0 + 3 * DAY_MS)) },
    ];
    let simulated = |policy: RetentionPolicy| {
        let bucket = Bucket { source: "user".into(), repo: None, policy };
        simulate(&roots, &[bucket], now, 10)
    };
    let nothing = RetentionPolicy::default();
    assert_eq!(simulated(RetentionPolicy { max_count: Some(1), ..nothing }), [(3, 0)]);
    assert_eq!(simulated(RetentionPolicy { max_version_gap: Some(4), ..nothing }), [(3, 0)]);
    assert_eq!(simulated(RetentionPolicy { max_version_gap: Some(4), min_keep: 1, ..nothing }), [(3, 0)]);
    assert_eq!(simulated(RetentionPolicy { max_version_gap: Some(4), min_keep: 2, ..nothing }), []);
}
