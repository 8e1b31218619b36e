//! A database with garbage: memories of three chunks and two entities of their own, a fifth of which somebody no longer
//! wants for one reason or another.
//!
//! Everything is written through the operations, with a clock that is three months behind.

use std::sync::Arc;

use anyhow::{Context, ensure};
use rootset_model::Timestamp;
use rootset_service::{Clock, SystemClock};
use rootset_store::Location;
use serde_json::{Value, json};

use crate::client::{BATCH_MEMORIES, Client};
use crate::notes::Notes;

const DAY_MS: i64 = 86_400_000;
/// Garbage has to be older than any rule.
const BEGAN_DAYS_AGO: i64 = 90;

/// The system's clock as it was three months ago, so that memories can be old.
#[derive(Debug)]
struct EarlierClock;

impl Clock for EarlierClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add_ms(-BEGAN_DAYS_AGO * DAY_MS)
    }

    fn elapsed_ms(&self) -> i64 {
        SystemClock.elapsed_ms()
    }
}

/// What becomes of the memory with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Kept,
    /// Older than its source's policy allows.
    TooOld,
    /// More than its source's policy allows; every other one of its source.
    TooMany,
    /// Its own date passes.
    RunsOut,
    /// The memory after it supersedes it.
    Superseded,
}

impl Fate {
    pub fn of(number: usize) -> Self {
        match number % 20 {
            0 => Self::TooOld,
            1 => Self::RunsOut,
            2 => Self::Superseded,
            4 | 5 => Self::TooMany,
            _ => Self::Kept,
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::TooOld => "journal",
            Self::TooMany => "feed",
            Self::Kept | Self::RunsOut | Self::Superseded => "user",
        }
    }
}

/// A new database, filled three months ago.
pub fn fill(database: &Location, memories: usize, notes: &Notes) -> anyhow::Result<()> {
    let client = Client::open_at(database, Arc::new(EarlierClock))?;
    let expires_at = EarlierClock.now().saturating_add_ms(DAY_MS);
    let numbers: Vec<usize> = (0..memories).collect();
    for batch in numbers.chunks(BATCH_MEMORIES) {
        let requests = batch.iter().map(|number| request(*number, notes, expires_at)).collect();
        let added = client.add_batch(requests)?;
        ensure!(added.iter().all(Option::is_some), "a batch of generated memories was not accepted as a whole");
    }
    let feed = numbers.iter().filter(|number| Fate::of(**number) == Fate::TooMany).count();
    client.call("set_retention", json!({ "source": "journal", "max_age": "60d" }))?;
    client.call("set_retention", json!({ "source": "feed", "max_count": feed / 2 }))?;
    Ok(())
}

/// A note with a decision and a reason, each of which is a chunk and speaks of something that no other memory knows.
pub fn plain_request(number: usize, notes: &Notes) -> Value {
    let mut request = notes.note(number as u64).request();
    request["decisions"] = json!([format!("Keep `stage_{number}_input` as it is.")]);
    request["rationale"] = json!([format!("Nobody has looked at `stage_{number}_output` for a month.")]);
    request
}

fn request(number: usize, notes: &Notes, expires_at: Timestamp) -> Value {
    let fate = Fate::of(number);
    let mut request = plain_request(number, notes);
    request["source"] = json!(fate.source());
    match fate {
        Fate::RunsOut => request["expires_at"] = json!(expires_at),
        Fate::Superseded => request["name"] = json!(format!("superseded-{number}")),
        _ => {}
    }
    // Both are in one batch: batches hold whole twenties.
    if number > 0 && Fate::of(number - 1) == Fate::Superseded {
        request["supersedes"] = json!([format!("superseded-{}", number - 1)]);
    }
    request
}

/// Moves a source's memories to the trash, all of them; the run.
pub fn forget_source(client: &Client, source: &str) -> anyhow::Result<String> {
    let plan = client.call("forget", json!({ "source": source, "kinds": ["memories"] }))?;
    let applied = client.call("gc_apply", json!({ "plan_id": plan["plan_id"], "allow_large": true }))?;
    Ok(applied["run_id"].as_str().context("`gc_apply` answered without `run_id`")?.to_owned())
}
