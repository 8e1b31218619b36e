//! Retention over rows in memory: all three rules, several buckets, a year of stamps.

use rootset_gc::heap::{Bucket, Root};
use rootset_gc::retention;
use rootset_model::{RetentionPolicy, Timestamp};
use serde::Serialize;

use crate::latency::{Latencies, Taken};
use crate::process;
use crate::random::Random;

const RUNS: usize = 5;
const BUCKETS: usize = 16;
const VERSIONS: usize = 50;
const DAY_MS: i64 = 86_400_000;
pub const NOW: Timestamp = Timestamp(1_800_000_000_000);

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub rows: usize,
    pub expired: usize,
    pub clock_p50_ms: f64,
    /// Of the processor alone: what remains on a machine that has nothing else to do.
    pub processor_p50_ms: f64,
    pub peak_above_rows_kib: Option<u64>,
}

pub fn measure(rows: usize, seed: u64) -> Figures {
    let roots = roots(rows, seed);
    let buckets = buckets(rows);
    process::forget_peak();
    let before = process::peak_memory_kib();
    let mut latencies = Latencies::default();
    let mut expired = 0;
    for _ in 0..RUNS {
        let (classified, taken) = Taken::measure(|| retention::classify(&roots, &buckets, NOW));
        expired = classified.expired.len();
        latencies.push(taken);
    }
    let summary = latencies.summary();
    Figures {
        rows,
        expired,
        clock_p50_ms: summary.p50_ms,
        processor_p50_ms: summary.processor_p50_ms,
        peak_above_rows_kib: before.zip(process::peak_memory_kib()).map(|(before, peak)| peak.saturating_sub(before)),
    }
}

pub fn roots(rows: usize, seed: u64) -> Vec<Root> {
    let mut random = Random::new(seed);
    let root = |number: usize| {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(random.below(1 << 40) as u64).to_be_bytes());
        id[8..].copy_from_slice(&(number as u64).to_be_bytes());
        Root {
            id,
            version: 1,
            bucket: random.below(BUCKETS) as u32,
            ingested_at: Some(Timestamp(NOW.0 - random.below(365 * DAY_MS as usize) as i64)),
            last_used_at: random.happens(0.3).then_some(Timestamp(NOW.0 - DAY_MS)),
            expires_at: None,
            superseded_at: None,
            stale_at: None,
            source_version: random.happens(0.5).then(|| random.below(VERSIONS) as i64),
            is_pinned: random.happens(0.01),
            is_indexed_file: false,
            is_in_flight: false,
            observed_age_ms: i64::MAX,
        }
    };
    (0..rows).map(root).collect()
}

/// Each rule alone would expire about a tenth.
pub fn buckets(rows: usize) -> Vec<Bucket> {
    let policy = RetentionPolicy {
        max_age_ms: Some(330 * DAY_MS),
        max_count: Some((rows / BUCKETS * 9 / 10) as i64),
        max_version_gap: Some(VERSIONS as i64 * 4 / 5),
        ..RetentionPolicy::default()
    };
    (0..BUCKETS).map(|number| Bucket { source: format!("source-{number}"), repo: None, policy }).collect()
}
