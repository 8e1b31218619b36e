//! A database from which 41 % were purged: how long its defragmentation takes, and how near it comes to a database that
//! never held them.

use anyhow::{Context, ensure};
use rootset_store::Location;
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
    /// Of a database with the same living memories that never held the others; none on a server, where there is one.
    pub bytes_fresh: Option<u64>,
    pub after_to_fresh: Option<f64>,
}

pub fn measure(chunks: usize, notes: &Notes, folder: &BenchFolder) -> anyhow::Result<Figures> {
    let (_, living) = numbers(chunks)?;
    let fresh = folder.file("fresh.db");
    fill(&Client::open(&fresh.clone().into())?, &living, notes)?;
    let client = Client::open(&folder.file("defrag.db").into())?;
    purge_and_rebuild(chunks, notes, &client, Some(database::file_bytes(&fresh)?))
}

/// In a workspace of its own; what else was purged from the database before is rebuilt with it.
pub fn measure_on_server(chunks: usize, notes: &Notes, database: &Location) -> anyhow::Result<Figures> {
    purge_and_rebuild(chunks, notes, &Client::open(database)?.in_new_workspace("defrag")?, None)
}

/// Numbers of notes that are purged, and of those that stay.
fn numbers(chunks: usize) -> anyhow::Result<(Vec<usize>, Vec<usize>)> {
    let memories = (chunks / CHUNKS_PER_MEMORY).max(1);
    let (dead, living): (Vec<usize>, Vec<usize>) = (0..memories).partition(|number| is_dead(*number));
    ensure!(!dead.is_empty() && !living.is_empty(), "`--chunks` is too small to purge {DEAD_PERCENT} % of");
    Ok((dead, living))
}

fn purge_and_rebuild(
    chunks: usize,
    notes: &Notes,
    client: &Client,
    bytes_fresh: Option<u64>,
) -> anyhow::Result<Figures> {
    let (dead, living) = numbers(chunks)?;
    let memories = dead.len() + living.len();
    fill(client, &(0..memories).collect::<Vec<_>>(), notes)?;
    let run = garbage::forget_source(client, DEAD_SOURCE)?;
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
        after_to_fresh: bytes_fresh.map(|fresh| bytes_after as f64 / fresh as f64),
    })
}

/// Spread over the whole database, so that every page loses some of its rows.
fn is_dead(number: usize) -> bool {
    number * DEAD_PERCENT % 100 < DEAD_PERCENT
}

fn fill(client: &Client, numbers: &[usize], notes: &Notes) -> anyhow::Result<()> {
    for batch in numbers.chunks(BATCH_MEMORIES) {
        let requests = batch.iter().map(|number| {
            let mut request = garbage::plain_request(*number, notes);
            request["source"] = json!(if is_dead(*number) { DEAD_SOURCE } else { "user" });
            request
        });
        let added = client.add_batch(requests.collect())?;
        ensure!(added.iter().all(Option::is_some), "a batch of generated memories was not accepted as a whole");
    }
    Ok(())
}
