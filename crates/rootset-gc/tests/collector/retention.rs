//! The classifier against an oracle that sorts: rules written down once more, as slowly and plainly as possible.

use proptest::prelude::*;
use rootset_gc::heap::{Bucket, Root};
use rootset_gc::retention::{Classified, Expiry, classify};
use rootset_model::{Basis, Timestamp};
use rootset_properties::for_a_while;

use crate::heaps::{BUCKETS, NOW, buckets, roots};

fn oracle(roots: &[Root], buckets: &[Bucket], now: Timestamp) -> Classified {
    let stamp_of = |root: &Root| {
        let stamp = match (buckets[root.bucket as usize].policy.basis, root.last_used_at) {
            (Basis::LastUsedAt, Some(used_at)) => Some(used_at),
            _ => root.ingested_at,
        };
        stamp.map(|stamp| stamp.0).filter(|stamp| (0..=now.0).contains(stamp))
    };
    let mut classified = Classified::default();
    for (place, root) in roots.iter().enumerate() {
        if stamp_of(root).is_none() {
            classified.unclassifiable.push(place as u32);
        }
    }
    for number in 0..BUCKETS {
        let policy = buckets[number as usize].policy;
        let dated =
            (0..roots.len()).filter(|place| roots[*place].bucket == number && stamp_of(&roots[*place]).is_some());
        let dated: Vec<usize> = dated.collect();
        let newest_version = dated.iter().filter_map(|place| roots[*place].source_version).max();
        let mut ranked: Vec<usize> = dated
            .into_iter()
            .filter(|place| {
                let root = &roots[*place];
                let is_in_last_scan = root.is_indexed_file && root.stale_at.is_none();
                !root.is_pinned && !root.is_in_flight && !is_in_last_scan
            })
            .collect();
        ranked.sort_by_key(|place| (std::cmp::Reverse(stamp_of(&roots[*place])), roots[*place].id));
        for (rank, place) in ranked.into_iter().enumerate() {
            let rank = rank as i64;
            let age = now.0 - stamp_of(&roots[place]).expect("only dated rows are ranked");
            let seen_ms = roots[place].observed_age_ms;
            let gap = newest_version.zip(roots[place].source_version).map(|(newest, version)| newest - version);
            let broken = [
                (policy.max_age_ms.is_some_and(|max| age > max && seen_ms >= max.min(24 * 3_600_000)), Expiry::Age),
                (policy.max_count.is_some_and(|max| rank >= max), Expiry::Count),
                (policy.max_version_gap.is_some_and(|max| gap.is_some_and(|gap| gap >= max)), Expiry::Version),
            ];
            let is_kept = rank < policy.min_keep || age < policy.keep_within_ms;
            if let Some((_, expiry)) = broken.into_iter().find(|(is_broken, _)| *is_broken && !is_kept) {
                classified.expired.push((place as u32, expiry));
            }
        }
    }
    classified.expired.sort_unstable();
    classified
}

#[test]
fn retention_answers_as_an_oracle_that_sorts() {
    for_a_while(|config| {
        proptest!(config, |(roots in roots(40), buckets in buckets())| {
            prop_assert_eq!(classify(&roots, &buckets, NOW), oracle(&roots, &buckets, NOW));
        })
    });
}
