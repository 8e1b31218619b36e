//! The servers as processes: reads per second over HTTP from several connections, memory of an idle server, what a tool
//! call over MCP costs above its operation, and how soon either answers after its start.
//!
//! Clients here are plain sockets and pipes: what is measured is the server's time and little of a client library's. The
//! load shares the machine's cores with the server, as it does wherever an agent and its memory run on one machine.

mod http;
mod mcp;
mod report;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use crate::client::{BATCH_MEMORIES, Client};
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary};
use crate::notes::Notes;
use crate::output::print_report;
use report::Report;

/// What `rootset serve` and `rootset mcp` take for a read.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The `rootset` binary.
    #[arg(long, value_name = "PATH")]
    cli: PathBuf,
    /// How many memories the database holds.
    #[arg(long, default_value_t = 10_000)]
    memories: usize,
    /// Connections that ask at the same time.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// How long they ask.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Tool calls over MCP.
    #[arg(long, default_value_t = 2_000)]
    calls: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the database; removed afterwards.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let database = folder.file("serve.db");
    let ids = fill(&database, arguments)?;
    let operation = operation_alone(&database, &ids, arguments.calls)?;
    let http = http::measure(
        &arguments.cli,
        &database,
        &ids,
        arguments.connections,
        Duration::from_secs_f64(arguments.seconds),
    )?;
    let mcp = mcp::measure(&arguments.cli, &database, &ids, arguments.calls)?;
    let report = Report::new(arguments.memories, arguments.connections, operation, http, mcp);
    print_report(&report, arguments.json, || report.text())
}

fn fill(database: &Path, arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let client = Client::open(&database.into())?;
    let notes = Notes::new(arguments.seed);
    let mut ids = Vec::with_capacity(arguments.memories);
    let mut next = 0;
    while next < arguments.memories {
        let end = (next + BATCH_MEMORIES).min(arguments.memories);
        let batch = (next..end).map(|number| notes.note(number as u64).request()).collect();
        ids.extend(client.add_batch(batch)?.into_iter().flatten());
        next = end;
    }
    anyhow::ensure!(!ids.is_empty(), "there are no memories to ask for");
    Ok(ids)
}

/// The operation without any front end, in this process: what the overhead of a front end is measured against.
fn operation_alone(database: &Path, ids: &[String], calls: usize) -> anyhow::Result<Summary> {
    let client = Client::open(&database.into())?;
    let mut latencies = Latencies::default();
    for number in 0..calls {
        let (_, taken) = client.timed("get_memory", json!({ "memory_id": spread(ids, number) }))?;
        latencies.push(taken);
    }
    client.flush_uses().context("uses cannot be written")?;
    Ok(latencies.summary())
}

/// One id after the other, from all over the database.
fn spread(ids: &[String], number: usize) -> &str {
    const PRIME: usize = 7_919;
    &ids[number.wrapping_mul(PRIME) % ids.len()]
}
