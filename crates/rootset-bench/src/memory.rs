//! Speed and size of a memory database at several sizes, on generated notes.
//!
//! Filling is measured as a whole; then every operation call by call, from one caller. `raw` is the floor that the disk
//! sets: one row, one durable transaction, nothing else. It alternates with `add_memory`, so that both see the same disk
//! and their ratio means something on any machine.

mod measure;
mod raw;
mod report;

use std::path::PathBuf;

use anyhow::bail;

use crate::database::{self, BenchFolder};
use crate::notes::Notes;
use crate::start;

/// Latency, throughput and size of the memory operations on generated notes.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Memories in the database, one database per size.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000")]
    sizes: Vec<usize>,
    /// A new database file to use instead of a temporary one; only with a single size.
    #[arg(long, value_name = "PATH-OR-URL")]
    db: Option<String>,
    /// Folder on a real disk for temporary databases; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same notes and questions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Questions asked at each size.
    #[arg(long, default_value_t = 1_000)]
    questions: usize,
    /// The `rootset` binary whose start is measured.
    #[arg(long, value_name = "PATH")]
    cli: Option<PathBuf>,
    /// Keep the databases and print their paths.
    #[arg(long)]
    keep: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.sizes.contains(&0) {
        bail!("`--sizes` must be above 0");
    }
    if arguments.db.is_some() && arguments.sizes.len() != 1 {
        bail!("`--db` names one database, `--sizes` asks for {}", arguments.sizes.len());
    }
    let mut folder = BenchFolder::create(arguments.dir.as_deref())?;
    let notes = Notes::new(arguments.seed);
    let mut reports = Vec::new();
    for &size in &arguments.sizes {
        let database = match &arguments.db {
            Some(named) => database::named(named)?,
            None => folder.file(&format!("memories-{size}.db")),
        };
        let plan = measure::Plan::new(size, arguments.questions);
        let figures = measure::measure(&plan, &notes, &database, &folder.file(&format!("raw-{size}.db")))?;
        let start = match &arguments.cli {
            Some(cli) => Some(start::measure_apart(cli, &database)?),
            None => None,
        };
        let report = report::Report::new(figures, start, arguments.seed, arguments.keep.then(|| database.clone()));
        if !arguments.json {
            println!("{}\n", report.text());
        }
        reports.push(report);
    }
    if arguments.keep {
        folder.keep();
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({ "sizes": reports }))?);
    }
    Ok(())
}
