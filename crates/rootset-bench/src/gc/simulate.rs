//! What policies would take in the coming year: over rows in memory, and asked of the service.

use rootset_gc::retention;
use serde::Serialize;
use serde_json::json;

use super::classify::{NOW, buckets, roots};
use crate::client::Client;
use crate::latency::{Latencies, Taken};

const RUNS: usize = 5;
const DAYS: u32 = 365;
/// More rows than this are for the classifier alone.
const ROWS_MAX: usize = 100_000;

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub memories: usize,
    pub days: u32,
    /// Memories that would go.
    pub gone: usize,
    pub clock_p50_ms: f64,
    pub processor_p50_ms: f64,
}

/// As many rows as are classified, up to a hundred thousand.
pub fn measure(rows: usize, seed: u64) -> Figures {
    let memories = rows.min(ROWS_MAX);
    let (roots, buckets) = (roots(memories, seed), buckets(memories));
    let mut latencies = Latencies::default();
    let mut gone = 0;
    for _ in 0..RUNS {
        let (simulated, taken) = Taken::measure(|| retention::simulate(&roots, &buckets, NOW, DAYS));
        gone = simulated.len();
        latencies.push(taken);
    }
    figures(memories, gone, &latencies)
}

/// The whole call: reading every memory, simulating, and the answer as JSON.
pub fn measure_call(client: &Client, memories: usize) -> anyhow::Result<Figures> {
    let request = json!({
        "max_age": "120d", "max_count": memories * 9 / 10, "min_keep": 10, "dry_run": true,
        "horizon": format!("{DAYS}d"),
    });
    let mut latencies = Latencies::default();
    let mut gone = 0;
    for _ in 0..RUNS {
        let (answer, taken) = client.timed("set_retention", request.clone())?;
        gone = super::collect::number(&answer["simulation"]["total"], "memories")? as usize;
        latencies.push(taken);
    }
    Ok(figures(memories, gone, &latencies))
}

fn figures(memories: usize, gone: usize, latencies: &Latencies) -> Figures {
    let summary = latencies.summary();
    Figures { memories, days: DAYS, gone, clock_p50_ms: summary.p50_ms, processor_p50_ms: summary.processor_p50_ms }
}
