//! One size: fill a database, then time every operation on it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rootset_store::Location;
use serde_json::{Value, json};

use super::raw::RawFile;
use crate::client::{BATCH_MEMORIES, Client};
use crate::database;
use crate::latency::{Latencies, Summary};
use crate::notes::Notes;
use crate::process;
use crate::random::Random;

const SINGLE_ADDS_MAX: usize = 1_000;
const GETS: usize = 2_000;
/// Calls before the clock starts: caches are part of a running service, opening the file is measured by `start`.
const WARM_UP_CALLS: usize = 20;

/// How much is done at one size.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub memories: usize,
    questions: usize,
    single_adds: usize,
    changes: usize,
}

impl Workload {
    pub fn new(memories: usize, questions: usize) -> Self {
        // A tenth more memories at most: the size in the title stays true.
        let single_adds = (memories / 10).clamp(1, SINGLE_ADDS_MAX);
        Self { memories, questions, single_adds, changes: single_adds.div_ceil(2) }
    }
}

#[derive(Debug)]
pub struct Figures {
    pub memories: usize,
    pub bulk_per_s: f64,
    pub bytes_per_memory: f64,
    pub peak_memory_kib: Option<u64>,
    /// By name of the operation, in the order measured; `raw` is the floor.
    pub operations: Vec<(&'static str, Summary)>,
}

/// `raw` is a file for the floor; where the database is on a server, there is none.
pub fn measure(workload: &Workload, notes: &Notes, database: &Location, raw: Option<&Path>) -> anyhow::Result<Figures> {
    process::forget_peak();
    let client = Client::open(database)?;
    let bytes_empty = client.database_bytes()?;
    let (ids, elapsed) = fill(workload, notes, &client)?;
    let bytes_on_server = client.database_bytes()?.saturating_sub(bytes_empty);
    // Closing moves the log into the file, whose size then is that of the memories.
    drop(client);
    let bytes = database.path().map_or(Ok(bytes_on_server), database::file_bytes)?;

    let client = Client::open(database)?;
    let mut operations = Vec::new();
    let raw_file = raw.map(RawFile::create).transpose()?;
    let (raw, add) = add_single(workload, notes, &client, raw_file.as_ref())?;
    operations.extend(raw_file.map(|_| ("raw", raw.summary())));
    operations.push(("add_memory", add.summary()));
    operations.push(("get_memory", get(&ids, &client)?.summary()));
    operations.push(("search_memory", search(workload, notes, &client)?.summary()));
    operations.push(("update_memory", update(workload, notes, &ids, &client)?.summary()));
    let (delete, undo) = delete_and_undo(workload, &ids, &client)?;
    operations.push(("delete_memory", delete.summary()));
    operations.push(("gc_undo", undo.summary()));
    Ok(Figures {
        memories: ids.len(),
        bulk_per_s: ids.len() as f64 / elapsed.as_secs_f64(),
        bytes_per_memory: bytes as f64 / ids.len() as f64,
        peak_memory_kib: process::peak_memory_kib(),
        operations,
    })
}

/// Ids in the order of the notes. Making the notes is not part of the time.
fn fill(workload: &Workload, notes: &Notes, client: &Client) -> anyhow::Result<(Vec<String>, Duration)> {
    let mut ids = Vec::with_capacity(workload.memories);
    let mut elapsed = Duration::ZERO;
    while ids.len() < workload.memories {
        let end = (ids.len() + BATCH_MEMORIES).min(workload.memories);
        let batch: Vec<Value> = (ids.len()..end).map(|number| notes.note(number as u64).request()).collect();
        let start = Instant::now();
        let added = client.add_batch(batch)?;
        elapsed += start.elapsed();
        let expected = end - ids.len();
        ids.extend(added.into_iter().flatten());
        ensure!(ids.len() == end, "a batch of {expected} generated notes was not accepted as a whole");
    }
    Ok((ids, elapsed))
}

/// Alternating, and taking turns in going first: whatever the disk does to one, it does to the other.
fn add_single(
    workload: &Workload,
    notes: &Notes,
    client: &Client,
    raw_file: Option<&RawFile>,
) -> anyhow::Result<(Latencies, Latencies)> {
    let (mut raw, mut add) = (Latencies::default(), Latencies::default());
    let first = workload.memories as u64;
    let warm_up = WARM_UP_CALLS.min(workload.single_adds) as u64;
    for number in first..first + warm_up + workload.single_adds as u64 {
        let note = notes.note(number);
        let insert = || raw_file.map(|file| file.insert(&note.text)).transpose();
        let is_raw_first = number % 2 == 0;
        let before = if is_raw_first { insert()? } else { None };
        let (_, add_time) = client.timed("add_memory", note.request())?;
        let raw_time = if is_raw_first { before } else { insert()? };
        if number >= first + warm_up {
            raw_time.into_iter().for_each(|time| raw.push(time));
            add.push(add_time);
        }
    }
    Ok((raw, add))
}

fn get(ids: &[String], client: &Client) -> anyhow::Result<Latencies> {
    let mut latencies = Latencies::default();
    let mut random = Random::new(1);
    for call in 0..WARM_UP_CALLS + GETS {
        let request = json!({ "memory_id": ids[random.below(ids.len())] });
        let (_, time) = client.timed("get_memory", request)?;
        if call >= WARM_UP_CALLS {
            latencies.push(time);
        }
    }
    client.flush_uses()?;
    Ok(latencies)
}

fn search(workload: &Workload, notes: &Notes, client: &Client) -> anyhow::Result<Latencies> {
    let mut latencies = Latencies::default();
    let mut random = Random::new(2);
    for call in 0..WARM_UP_CALLS + workload.questions {
        let question = notes.question(random.below(workload.memories) as u64);
        let (_, time) = client.timed("search_memory", json!({ "query": question }))?;
        if call >= WARM_UP_CALLS {
            latencies.push(time);
        }
    }
    client.flush_uses()?;
    Ok(latencies)
}

/// New text for memories from all over the database, so that everything derived from them changes, too.
fn update(workload: &Workload, notes: &Notes, ids: &[String], client: &Client) -> anyhow::Result<Latencies> {
    let mut latencies = Latencies::default();
    let unused = 2 * (workload.memories + SINGLE_ADDS_MAX) as u64;
    for (number, id) in (unused..).zip(spread(ids, workload.changes)) {
        let request = json!({ "memory_id": id, "context": notes.note(number).text });
        latencies.push(client.timed("update_memory", request)?.1);
    }
    Ok(latencies)
}

fn delete_and_undo(workload: &Workload, ids: &[String], client: &Client) -> anyhow::Result<(Latencies, Latencies)> {
    let (mut delete, mut undo) = (Latencies::default(), Latencies::default());
    let mut runs = Vec::new();
    for id in spread(ids, workload.changes) {
        let (answer, time) = client.timed("delete_memory", json!({ "memory_id": id }))?;
        delete.push(time);
        runs.push(answer["run_id"].as_str().context("`delete_memory` answered without `run_id`")?.to_owned());
    }
    for run in runs {
        undo.push(client.timed("gc_undo", json!({ "run_id": run }))?.1);
    }
    Ok((delete, undo))
}

/// `count` ids at equal distances.
fn spread(ids: &[String], count: usize) -> impl Iterator<Item = &String> {
    ids.iter().step_by((ids.len() / count.max(1)).max(1)).take(count)
}
