//! A database with a fifth of garbage: plan, apply, undo, purge, and readers at rest and meanwhile.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use rootset_store::Location;
use serde::Serialize;
use serde_json::{Value, json};

use super::readers::{ReaderFigures, Reading};
use super::{garbage, simulate};
use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::Taken;
use crate::notes::Notes;
use crate::process;

#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    pub memories: i64,
    pub chunks: i64,
    pub entities: i64,
    pub simulate: simulate::Figures,
    pub plan: PlanFigures,
    pub apply: Throughput,
    /// Items that no longer qualified; readers and uses are kept away from garbage, so that there should be none.
    pub apply_skipped: i64,
    pub undo: Throughput,
    pub purge: Throughput,
    pub readers: Readers,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlanFigures {
    pub items: i64,
    pub clock_ms: f64,
    pub processor_ms: f64,
    /// Of this process, above what it had before; too small where the database was filled by the same process, whose
    /// memory is used again.
    pub peak_above_kib: Option<u64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Throughput {
    pub memories: i64,
    pub clock_ms: f64,
    pub memories_per_s: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Readers {
    pub idle: ReaderFigures,
    pub during_apply: ReaderFigures,
    pub during_purge: ReaderFigures,
}

impl Throughput {
    fn new(memories: i64, taken: Taken) -> Self {
        let seconds = taken.clock.as_secs_f64();
        Self { memories, clock_ms: seconds * 1e3, memories_per_s: memories as f64 / seconds }
    }
}

/// The database to measure on; what the user keeps is only copied from.
pub fn prepare(
    memories: usize,
    notes: &Notes,
    folder: &BenchFolder,
    filled: Option<&Path>,
) -> anyhow::Result<Location> {
    let database = folder.file("garbage.db");
    let Some(filled) = filled else {
        return prepare_named(memories, notes, &database.into());
    };
    if !filled.exists() {
        garbage::fill(&filled.into(), memories, notes)?;
    }
    fs::copy(filled, &database).with_context(|| format!("cannot copy `{}`", filled.display()))?;
    Ok(database.into())
}

/// A new database, where the user wants it.
pub fn prepare_named(memories: usize, notes: &Notes, database: &Location) -> anyhow::Result<Location> {
    garbage::fill(database, memories, notes)?;
    Ok(database.clone())
}

pub fn measure(database: &Location, memories: usize, notes: &Notes, idle: Duration) -> anyhow::Result<Figures> {
    let client = Client::open(database)?;
    let counts = client.call("get_stats", json!({}))?["counts"].clone();
    ensure!(number(&counts, "live")? == memories as i64, "`--filled` holds other than {memories} memories");
    let reading = Reading::new(database, memories, notes.seed(), &client)?;
    let ((), idle) = reading.during(|| {
        thread::sleep(idle);
        Ok(())
    })?;

    let simulate = simulate::measure_call(&client, memories)?;
    let (planned, plan) = plan(&client)?;
    let apply = json!({ "plan_id": planned["plan_id"], "allow_large": true });
    let ((applied, apply_time), during_apply) = reading.during(|| client.timed("gc_apply", apply))?;
    let trashed = number(&applied["trashed"], "memories")?;
    let (undone, undo_time) = client.timed("gc_undo", json!({ "run_id": applied["run_id"] }))?;
    let restored = undone["restored"]["memories"].as_i64().or(undone["restored"].as_i64());

    let again = client.call("gc_plan", json!({ "strategies": ["all"] }))?;
    let run = client.call("gc_apply", json!({ "plan_id": again["plan_id"], "allow_large": true }))?["run_id"].clone();
    let purge = json!({ "run_id": run, "confirm": true });
    let ((purged, purge_time), during_purge) = reading.during(|| client.timed("gc_purge", purge))?;
    Ok(Figures {
        memories: number(&counts, "memories")?,
        chunks: number(&counts, "chunks")?,
        entities: number(&counts, "entities")?,
        simulate,
        plan,
        apply: Throughput::new(trashed, apply_time),
        apply_skipped: number(&applied["skipped"], "count")?,
        undo: Throughput::new(restored.context("`gc_undo` answered without `restored`")?, undo_time),
        purge: Throughput::new(number(&purged["purged"], "memories")?, purge_time),
        readers: Readers { idle, during_apply, during_purge },
    })
}

fn plan(client: &Client) -> anyhow::Result<(Value, PlanFigures)> {
    process::forget_peak();
    let before = process::peak_memory_kib();
    let (planned, taken) = client.timed("gc_plan", json!({ "strategies": ["all"] }))?;
    let figures = PlanFigures {
        items: number(&planned["totals"], "memories")?,
        clock_ms: taken.clock.as_secs_f64() * 1e3,
        processor_ms: taken.processor.as_secs_f64() * 1e3,
        peak_above_kib: before.zip(process::peak_memory_kib()).map(|(before, peak)| peak.saturating_sub(before)),
    };
    Ok((planned, figures))
}

pub fn number(answer: &Value, field: &str) -> anyhow::Result<i64> {
    answer[field].as_i64().with_context(|| format!("the answer lacks `{field}`: {answer}"))
}
