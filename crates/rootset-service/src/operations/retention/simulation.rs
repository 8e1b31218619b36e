//! `set_retention` with `dry_run`: how far ahead it looks, and the simulation as an answer.

use std::collections::BTreeMap;

use rootset_api::{RetentionSimulation, SimulatedDay, SimulatedSource, SimulatedTotal};
use rootset_model::limits::{SIMULATED_DAYS_DEFAULT, SIMULATED_DAYS_MAX, SIMULATED_SOURCES_SHOWN};
use rootset_model::retention::fields::Written;
use rootset_model::time::parse_duration_ms;
use rootset_model::{DurationMs, Timestamp};
use rootset_store::Loss;

use super::fraction;
use crate::error::ServiceError;

const DAY_MS: i64 = 24 * 3_600_000;

/// The last day of a dry run; `None` if the policy is to be stored.
pub fn days(dry_run: Option<bool>, horizon: Option<&Written>) -> Result<Option<u32>, ServiceError> {
    match (dry_run, horizon) {
        (Some(true), None) => Ok(Some(SIMULATED_DAYS_DEFAULT)),
        (Some(true), Some(written)) => whole_days(written).map(Some),
        (_, Some(_)) => Err(ServiceError::invalid("`horizon` is given without `dry_run: true`")),
        (_, None) => Ok(None),
    }
}

fn whole_days(written: &Written) -> Result<u32, ServiceError> {
    let milliseconds = match written {
        Written::Integer(milliseconds) => Some(*milliseconds),
        Written::Text(text) => parse_duration_ms(text).ok(),
        Written::Flag(_) | Written::Other(_) => None,
    };
    let days = milliseconds.filter(|ms| ms % DAY_MS == 0).and_then(|ms| u32::try_from(ms / DAY_MS).ok());
    days.filter(|days| (1..=SIMULATED_DAYS_MAX).contains(days)).ok_or_else(|| {
        let allowed = format!("whole days from `1d` to `{SIMULATED_DAYS_MAX}d`");
        ServiceError::invalid(format!("`horizon` is {written}; allowed: {allowed}"))
    })
}

pub fn answer(simulated: &rootset_store::RetentionSimulation, last_day: u32, now: Timestamp) -> RetentionSimulation {
    let losses = &simulated.losses;
    let by_day = losses.chunk_by(|one, other| one.day == other.day);
    let days = by_day.map(|of_day| {
        let (by_source, more_sources) = by_source(of_day, simulated);
        let day = of_day[0].day;
        SimulatedDay {
            day,
            at: now.saturating_add_ms(i64::from(day) * DAY_MS),
            memories: memories(of_day),
            recently_used: recently_used(of_day),
            by_source,
            more_sources,
        }
    });
    let (by_source, more_sources) = by_source(losses, simulated);
    RetentionSimulation {
        horizon: DurationMs(i64::from(last_day) * DAY_MS),
        days: days.collect(),
        total: SimulatedTotal {
            memories: memories(losses),
            fraction: fraction(memories(losses), simulated.now.memories),
            recently_used: recently_used(losses),
            by_source,
            more_sources,
        },
    }
}

fn memories(losses: &[Loss]) -> i64 {
    losses.iter().map(|loss| loss.memories).sum()
}

fn recently_used(losses: &[Loss]) -> i64 {
    losses.iter().map(|loss| loss.recently_used).sum()
}

/// The sources that lose most, and how many others there are.
fn by_source(losses: &[Loss], simulated: &rootset_store::RetentionSimulation) -> (Vec<SimulatedSource>, Option<usize>) {
    let mut sums: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    for loss in losses {
        let sum = sums.entry(loss.bucket).or_default();
        sum.0 += loss.memories;
        sum.1 += loss.recently_used;
    }
    let named = sums.into_iter().map(|(bucket, (memories, recently_used))| {
        let bucket = &simulated.buckets[bucket as usize];
        (memories, recently_used, &bucket.source, &bucket.repo)
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (one.2, one.3).cmp(&(other.2, other.3))));
    let more = named.len().saturating_sub(SIMULATED_SOURCES_SHOWN);
    let shown = named.into_iter().take(SIMULATED_SOURCES_SHOWN).map(|(memories, recently_used, source, repo)| {
        SimulatedSource { source: source.clone(), repo: repo.clone(), memories, recently_used }
    });
    (shown.collect(), (more > 0).then_some(more))
}
