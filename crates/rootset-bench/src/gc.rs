//! The collector: how fast it judges, plans, trashes, restores and purges, and what readers notice in the meantime.
//!
//! Three parts, each with a size of its own, 0 to leave it out: classifying rows in memory, and simulating the coming year
//! over some of them; a database with garbage of several reasons; the defragmentation of one from which much was purged.

mod classify;
mod collect;
mod defrag;
mod garbage;
mod readers;
mod report;
mod simulate;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use rootset_store::Location;

use crate::database::{self, BenchFolder};
use crate::notes::Notes;
use crate::output::print_report;

/// Speed of the collector, and latency of readers while it works.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Rows that retention classifies.
    #[arg(long, default_value_t = 10_000_000)]
    rows: usize,
    /// Memories in the database that is collected.
    #[arg(long, default_value_t = 100_000)]
    memories: usize,
    /// Chunks in the database that is defragmented, before 41 % of them are purged.
    #[arg(long, default_value_t = 10_000)]
    chunks: usize,
    /// How long readers are measured while nothing else happens, in milliseconds.
    #[arg(long, default_value_t = 3_000)]
    idle_ms: u64,
    /// A filled database of `--memories`: a copy of it is measured. It is made if it is not there.
    #[arg(long, value_name = "PATH")]
    filled: Option<PathBuf>,
    /// A new file, or an empty database on a server (`postgres://…`), instead of temporary files.
    #[arg(long, value_name = "DATABASE", conflicts_with = "filled")]
    db: Option<String>,
    /// Folder on a real disk for temporary databases; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same rows and notes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let named = arguments.db.as_deref().map(database::named).transpose()?;
    // With a database on a server there is no need of a folder.
    let folder = match &named {
        Some(Location::Postgres(_)) => None,
        _ => Some(BenchFolder::create(arguments.dir.as_deref())?),
    };
    let notes = Notes::new(arguments.seed);
    let collect = match arguments.memories {
        0 => None,
        memories => {
            let database = match (&named, &folder) {
                (Some(named), _) => collect::prepare_named(memories, &notes, named)?,
                (None, Some(folder)) => collect::prepare(memories, &notes, folder, arguments.filled.as_deref())?,
                (None, None) => bail!("there is neither a database nor a folder for one"),
            };
            Some(collect::measure(&database, memories, &notes, Duration::from_millis(arguments.idle_ms))?)
        }
    };
    let defrag = match arguments.chunks {
        0 => None,
        chunks => Some(match (&folder, &named) {
            (Some(folder), _) => defrag::measure(chunks, &notes, folder)?,
            (None, Some(named)) => defrag::measure_on_server(chunks, &notes, named)?,
            (None, None) => bail!("there is neither a database nor a folder for one"),
        }),
    };
    // Last: what it frees would hide what the others need.
    let classify = (arguments.rows > 0).then(|| classify::measure(arguments.rows, arguments.seed));
    let simulate = (arguments.rows > 0).then(|| simulate::measure(arguments.rows, arguments.seed));
    let report = report::Report::new(arguments.seed, classify, simulate, collect, defrag);
    print_report(&report, arguments.json, || report.text())
}
