//! How long calls took: percentiles rather than averages, because one slow call in a hundred is what people notice.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::platform::processor_time;

/// What one call took: on the clock, and of the processor. Other work on the machine and waiting for the disk are in the
/// first only.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub clock: Duration,
    pub processor: Duration,
}

impl Taken {
    /// Runs `work` and measures it.
    pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let (start, start_processor) = (Instant::now(), processor_time());
        let result = work();
        let (clock, processor) = (start.elapsed(), processor_time().saturating_sub(start_processor));
        (result, Self { clock, processor })
    }
}

#[derive(Clone, Debug, Default)]
pub struct Latencies {
    clock: Vec<Duration>,
    processor: Vec<Duration>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Summary {
    pub count: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Of the processor alone: what remains on a machine that has nothing else to do and a disk that takes no time.
    pub processor_p50_ms: f64,
    /// Calls one after the other, from one caller.
    pub per_s: f64,
}

impl Latencies {
    pub fn push(&mut self, taken: Taken) {
        self.clock.push(taken.clock);
        self.processor.push(taken.processor);
    }

    /// All zero when nothing was measured.
    pub fn summary(&self) -> Summary {
        let (mut sorted, mut processor) = (self.clock.clone(), self.processor.clone());
        sorted.sort_unstable();
        processor.sort_unstable();
        let total: Duration = sorted.iter().sum();
        Summary {
            count: sorted.len(),
            p50_ms: percentile_ms(&sorted, 0.50),
            p90_ms: percentile_ms(&sorted, 0.90),
            p95_ms: percentile_ms(&sorted, 0.95),
            p99_ms: percentile_ms(&sorted, 0.99),
            max_ms: percentile_ms(&sorted, 1.0),
            processor_p50_ms: percentile_ms(&processor, 0.50),
            per_s: if total.is_zero() { 0.0 } else { sorted.len() as f64 / total.as_secs_f64() },
        }
    }
}

/// The nearest rank: a duration that was really measured.
fn percentile_ms(sorted: &[Duration], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).map_or(0.0, |duration| duration.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let mut latencies = Latencies::default();
        for ms in (1..=100).rev() {
            let clock = Duration::from_millis(ms);
            latencies.push(Taken { clock, processor: clock / 2 });
        }
        let summary = latencies.summary();
        let clock = [summary.p50_ms, summary.p90_ms, summary.p99_ms, summary.max_ms].map(f64::round);
        assert_eq!(clock, [50.0, 90.0, 99.0, 100.0]);
        assert_eq!(summary.processor_p50_ms.round(), 25.0);
    }
}
