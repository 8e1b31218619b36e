//! Rounds of the scheduler over many workspaces: the first look at all of them, and rounds with nothing to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use rootset_model::RetentionPolicy;
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{Caller, FrontEnd, GcSettings, Service, Settings};
use rootset_store::{Location, Store};
use serde::Serialize;
use serde_json::json;

use crate::database::{self, BenchFolder};
use crate::latency::Taken;
use crate::output::print_report;

/// Time and round trips of the scheduler's rounds over workspaces with nothing to do.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(long, default_value_t = 2_000)]
    workspaces: usize,
    /// Memories in each.
    #[arg(long, default_value_t = 20)]
    memories: usize,
    /// Rounds to measure; the median is reported.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// A new file, or an empty database on a server.
    #[arg(long, value_name = "PATH|URL")]
    db: Option<String>,
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    workspaces: usize,
    memories: usize,
    engine: String,
    /// The round that looks at all of them.
    first_ms: f64,
    /// Rounds that look at none.
    quiet_ms: f64,
    /// What such a round asks a server; none where there is no server.
    quiet_round_trips: Option<u64>,
}

/// An interval so short that the next round is always due.
const INTERVAL_MS: i64 = 1;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let location = match &arguments.db {
        Some(given) => database::named(given)?,
        None => Location::File(folder.file("rounds.db")),
    };
    let retention = RetentionPolicy { max_age_ms: Some(90 * 24 * 3_600_000), ..RetentionPolicy::default() };
    let gc =
        GcSettings { enabled: true, auto_delete: true, interval_ms: INTERVAL_MS, retention, ..GcSettings::default() };
    let settings = Settings { gc, ..Settings::default() };
    let store = Store::open(&location, None).with_context(|| format!("cannot open `{location}`"))?;
    let service = Arc::new(Service::new(store, settings)?);
    fill(&service, arguments)?;
    let scheduler = Scheduler::new(Arc::clone(&service));
    let (_, first_ms) = round(&scheduler)?;
    let mut quiet = Vec::new();
    let mut quiet_round_trips = None;
    for _ in 0..arguments.runs {
        let before = service.database_round_trips();
        let (looked_at, taken_ms) = round(&scheduler)?;
        if looked_at > 0 {
            bail!("{looked_at} workspaces were looked at, although nothing can have changed");
        }
        quiet_round_trips = service.database_round_trips().zip(before).map(|(after, before)| after - before);
        quiet.push(taken_ms);
    }
    quiet.sort_by(f64::total_cmp);
    let report = Report {
        workspaces: arguments.workspaces,
        memories: arguments.memories,
        engine: if matches!(location, Location::File(_)) { "sqlite" } else { "postgres" }.to_owned(),
        first_ms,
        quiet_ms: quiet.get(quiet.len() / 2).copied().unwrap_or_default(),
        quiet_round_trips,
    };
    print_report(&report, arguments.json, || report.line())
}

impl Report {
    fn line(&self) -> String {
        format!(
            "{} workspaces of {} memories on {}: first round {:.0} ms, quiet round {:.1} ms (wanted: 300 ms on SQLite, \
             1,000 ms on PostgreSQL), {:?} round trips",
            self.workspaces, self.memories, self.engine, self.first_ms, self.quiet_ms, self.quiet_round_trips
        )
    }
}

fn fill(service: &Arc<Service>, arguments: &Arguments) -> anyhow::Result<()> {
    for number in 0..arguments.workspaces {
        let workspace = format!("tenant-{number}");
        let caller = Caller::new(FrontEnd::CommandLine, "rootset-bench", workspace.as_str());
        service.call(&caller, "create_workspace", json!({ "workspace_id": workspace }))?;
        let note =
            |n| json!({"context": format!("Note {n} of tenant {number}: the deploy of service {n} takes a while.")});
        let memories: Vec<_> = (0..arguments.memories).map(note).collect();
        service.call(&caller, "add_memories", json!({ "memories": memories }))?;
    }
    Ok(())
}

/// How many workspaces were looked at, and how long it took.
fn round(scheduler: &Scheduler) -> anyhow::Result<(usize, f64)> {
    std::thread::sleep(Duration::from_millis(5));
    let (tick, taken) = Taken::measure(|| scheduler.tick());
    match tick? {
        Tick::Ran(round) => Ok((round.workspaces, taken.clock.as_secs_f64() * 1_000.0)),
        other => bail!("no round was due: {other:?}"),
    }
}
