//! A long session in a real database, through the service: one more segment into it, and opening it again.
//!
//! Two sessions: one whose window holds everything, and one under the usual budget, where nearly everything is stashed
//! and every so often an addition collects.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary, Taken};
use crate::output::print_report;
use crate::random::Random;
use crate::table::aligned;
use crate::vocabulary::Vocabulary;

/// Adding to and opening a long context session in a database.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Segments in the sessions that are added to.
    #[arg(long, default_value_t = 100_000)]
    segments: usize,
    /// Segments in the session that is opened.
    #[arg(long, default_value_t = 10_000)]
    opened: usize,
    /// Additions measured.
    #[arg(long, default_value_t = 1_000)]
    additions: usize,
    /// Where the database is made; without it, a temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same segments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    segments: usize,
    opened: usize,
    /// The first additions of a session, for comparison with the last.
    addition_to_empty: Summary,
    addition_all_active: Summary,
    addition_under_budget: Summary,
    analysis_under_budget: Summary,
    /// Of a session in a process that has not seen it.
    opening: Summary,
}

/// Nothing ever leaves.
const BUDGET_FOR_ALL: i64 = 1_000_000_000;
const BUDGET_USUAL: i64 = 200_000;
const BATCH_SEGMENTS: usize = 1_000;
const OPENINGS: usize = 10;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let report = measure(arguments, &folder.file("sessions.db"))?;
    print_report(&report, arguments.json, || report.text())
}

fn measure(arguments: &Arguments, database: &Path) -> anyhow::Result<Report> {
    let client = Client::open(&database.into())?;
    let mut author = Author::new(arguments.seed);
    let addition_to_empty = {
        configure(&client, "empty", BUDGET_FOR_ALL)?;
        add_one_by_one(&client, "empty", arguments.additions, &mut author)?
    };
    let mut additions = Vec::new();
    for (session, budget) in [("all", BUDGET_FOR_ALL), ("budget", BUDGET_USUAL)] {
        configure(&client, session, budget)?;
        fill(&client, session, arguments.segments, &mut author)?;
        additions.push(add_one_by_one(&client, session, arguments.additions, &mut author)?);
    }
    let mut analyses = Latencies::default();
    for _ in 0..OPENINGS {
        let request = json!({"session_id": "budget", "target_tokens": 20_000});
        analyses.push(client.timed("context_gc_analyze", request)?.1);
    }
    configure(&client, "opened", BUDGET_FOR_ALL)?;
    fill(&client, "opened", arguments.opened, &mut author)?;
    Ok(Report {
        segments: arguments.segments,
        opened: arguments.opened,
        addition_to_empty,
        addition_all_active: additions[0],
        addition_under_budget: additions[1],
        analysis_under_budget: analyses.summary(),
        opening: open_again(database)?,
    })
}

fn configure(client: &Client, session: &str, budget: i64) -> anyhow::Result<()> {
    let request = json!({"session_id": session, "budget_tokens": budget});
    client.call("context_gc_configure", request)?;
    Ok(())
}

fn fill(client: &Client, session: &str, segments: usize, author: &mut Author) -> anyhow::Result<()> {
    let mut left = segments;
    while left > 0 {
        let count = left.min(BATCH_SEGMENTS);
        let batch: Vec<Value> = (0..count).map(|_| author.segment()).collect();
        client.call("context_add", json!({"session_id": session, "segments": batch}))?;
        left -= count;
    }
    Ok(())
}

fn add_one_by_one(client: &Client, session: &str, count: usize, author: &mut Author) -> anyhow::Result<Summary> {
    let mut latencies = Latencies::default();
    for _ in 0..count {
        let request = json!({"session_id": session, "segments": [author.segment()]});
        latencies.push(client.timed("context_add", request)?.1);
    }
    Ok(latencies.summary())
}

/// Setting nothing answers the settings, and needs the whole session for that.
fn open_again(database: &Path) -> anyhow::Result<Summary> {
    let mut latencies = Latencies::default();
    for _ in 0..OPENINGS {
        let client = Client::open(&database.into())?;
        let (answer, taken) = Taken::measure(|| client.call("context_gc_configure", json!({"session_id": "opened"})));
        answer?;
        latencies.push(taken);
    }
    Ok(latencies.summary())
}

/// Writes what an agent, its user and its tools would.
struct Author {
    random: Random,
    vocabulary: Vocabulary,
    written: usize,
}

impl Author {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let vocabulary = Vocabulary::new(&mut random);
        Self { random, vocabulary, written: 0 }
    }

    /// About a hundred words with some identifiers and paths, of which most were named before.
    fn segment(&mut self) -> Value {
        self.written += 1;
        let (segment_type, role) =
            [("message", "assistant"), ("log", "tool"), ("code", "tool"), ("message", "user")][self.written % 4];
        let mut text = String::new();
        for _ in 0..self.random.between(40, 160) {
            if self.random.happens(0.05) {
                let module = self.random.below(200 + self.written / 10);
                text.push_str(&format!("src/module_{module}/part_{}.rs ", self.random.below(20)));
            }
            text.push_str(self.vocabulary.word(&mut self.random));
            text.push(' ');
        }
        json!({"type": segment_type, "role": role, "text": text})
    }
}

impl Report {
    fn text(&self) -> String {
        let row = |name: String, summary: &Summary, wanted: &str| {
            let ms = |number: f64| format!("{number:.2}");
            let figures = [summary.p50_ms, summary.p90_ms, summary.p99_ms, summary.max_ms, summary.processor_p50_ms];
            let mut cells = vec![name];
            cells.extend(figures.map(ms));
            cells.push(wanted.to_owned());
            cells
        };
        let count = self.segments;
        let rows = [
            row("add to an empty session".to_owned(), &self.addition_to_empty, ""),
            row(format!("add to {count} segments, all active"), &self.addition_all_active, "p50 ≤ 5"),
            row(format!("add to {count} segments, 200k budget"), &self.addition_under_budget, "p50 ≤ 5"),
            row("analyse and store a plan, 200k budget".to_owned(), &self.analysis_under_budget, "p50 ≤ 10"),
            row(format!("open {} segments", self.opened), &self.opening, "p50 ≤ 100"),
        ];
        aligned(&["ms", "p50", "p90", "p99", "max", "cpu p50", "wanted"], &rows)
    }
}
