//! A database from which 41 % were purged: how long its defragmentation takes, and how near it comes to a database that
//! never held them.

use std::path::Path;

use anyhow::{Context, ensure};
use serde::Serialize;
use serde_json::json;

use super::garbage;
use crate::client::{BATCH_MEMORIES, Client};
use crate::database::{self, BenchFolder};
use crate::notes::Notes;

const CHUNKS_PER_MEMORY: usize = 3;
const DEAD_PERCENT: usize = 41;
const DEAD_SOURCE: &str = "dead";

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    pub memories: usize,
    pub purged: usize,
    pub clock_ms: f64,
    pub bytes_before: i64,
    pub bytes_after: i64,
    /// Of a database with the same living memories that never held the others.
    pub bytes_fresh: u64,
    pub after_to_fresh: f64,
}

pub fn measure(chunks: usize, notes: &Notes, folder: &BenchFolder) -> anyhow::Result<Figures> {
    let memories = (chunks / CHUNKS_PER_MEMORY).max(1);
    let numbers: Vec<usize> = (0..memories).collect();
    let (dead, living): (Vec<usize>, Vec<usize>) = numbers.iter().partition(|number| is_dead(**number));
    ensure!(!dead.is_empty() && !living.is_empty(), "`--chunks` is too small to purge {DEAD_PERCENT} % of");

    let fresh = folder.file("fresh.db");
    drop(fill(&fresh, &living, notes)?);
    let bytes_fresh = database::file_bytes(&fresh)?;

    let client = fill(&folder.file("defrag.db"), &numbers, notes)?;
    let run = garbage::forget_source(&client, DEAD_SOURCE)?;
    client.call("gc_purge", json!({ "run_id": run, "confirm": true }))?;
    let (answer, taken) = client.timed("defrag", json!({ "confirm": true }))?;
    let bytes = |field: &str| answer[field].as_i64().with_context(|| format!("`defrag` answered without `{field}`"));
    let bytes_after = bytes("bytes_after")?;
    Ok(Figures {
        memories,
        purged: dead.len(),
        clock_ms: taken.clock.as_secs_f64() * 1e3,
        bytes_before: bytes("bytes_before")?,
        bytes_after,
        bytes_fresh,
        after_to_fresh: bytes_after as f64 / bytes_fresh as f64,
    })
}

/// Spread over the whole database, so that every page loses some of its rows.
fn is_dead(number: usize) -> bool {
    number * DEAD_PERCENT % 100 < DEAD_PERCENT
}

fn fill(path: &Path, numbers: &[usize], notes: &Notes) -> anyhow::Result<Client> {
    let client = Client::open(path)?;
    for batch in numbers.chunks(BATCH_MEMORIES) {
        let requests = batch.iter().map(|number| {
            let mut request = garbage::plain_request(*number, notes);
            request["source"] = json!(if is_dead(*number) { DEAD_SOURCE } else { "user" });
            request
        });
        let added = client.add_batch(requests.collect())?;
        ensure!(added.iter().all(Option::is_some), "a batch of generated memories was not accepted as a whole");
    }
    Ok(client)
}
