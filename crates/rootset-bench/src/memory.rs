//! Speed and size of a memory database at several sizes, on generated notes.
//!
//! Filling is measured as a whole; then every operation call by call, from one caller. `raw` is the floor that the disk
//! sets: one row, one durable transaction, nothing else. It alternates with `add_memory`, so that both see the same disk
//! and their ratio means something on any machine. On a server there is no such floor, and the size is what the server
//! says.

mod measure;
mod raw;
mod report;

use std::path::PathBuf;

use anyhow::bail;
use rootset_store::Location;

use crate::database::{self, BenchFolder};
use crate::notes::Notes;
use crate::start;

/// Latency, throughput and size of the memory operations on generated notes.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Memories in the database, one database per size.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000")]
    sizes: Vec<usize>,
    /// A new file, or an empty database on a server (`postgres://…`), instead of a temporary file; only with a single size.
    #[arg(long, value_name = "DATABASE")]
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
    let named = arguments.db.as_deref().map(database::named).transpose()?;
    // A database on a server is in no folder of ours.
    let mut folder = match &named {
        Some(Location::Postgres(_)) => None,
        _ => Some(BenchFolder::create(arguments.dir.as_deref())?),
    };
    let notes = Notes::new(arguments.seed);
    let mut reports = Vec::new();
    for &size in &arguments.sizes {
        let in_folder = |name: String| folder.as_ref().map(|folder| folder.file(&name));
        let database = match (&named, in_folder(format!("memories-{size}.db"))) {
            (Some(named), _) => named.clone(),
            (None, Some(file)) => file.into(),
            (None, None) => bail!("there is neither a database nor a folder for one"),
        };
        let workload = measure::Workload::new(size, arguments.questions);
        let raw = in_folder(format!("raw-{size}.db"));
        let figures = measure::measure(&workload, &notes, &database, raw.as_deref())?;
        let start = match (&arguments.cli, database.path()) {
            (Some(cli), Some(path)) => Some(start::measure_apart(cli, path)?),
            _ => None,
        };
        let kept = arguments.keep.then(|| database.to_string());
        let report = report::Report::new(figures, start, arguments.seed, kept);
        if !arguments.json {
            println!("{}\n", report.text());
        }
        reports.push(report);
    }
    if let Some(folder) = folder.as_mut().filter(|_| arguments.keep) {
        folder.keep();
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({ "sizes": reports }))?);
    }
    Ok(())
}
