//! The code index on a real tree: the first scan, a scan of an unchanged tree beside `git status`, a scan after one
//! change, and searches.
//!
//! The tree is copied first, so that nothing of it changes. Scans are whole processes, as people start them.

mod tree;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary, Taken};
use crate::output::{mebibytes, print_report};
use crate::platform::peak_memory_of_children_kib;
use crate::random::Random;

/// Stamps younger than this are not trusted, and git's neither: unchanged is measured on a tree at rest.
const REST: Duration = Duration::from_millis(2_500);

/// Speed of the code index on a tree of sources.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The tree; it is copied, not touched.
    path: PathBuf,
    /// The `rootset` binary.
    #[arg(long, value_name = "PATH")]
    cli: PathBuf,
    /// Scans of the unchanged tree, and as many runs of `git status`.
    #[arg(long, default_value_t = 20)]
    runs: usize,
    #[arg(long, default_value_t = 500)]
    searches: usize,
    /// Folder on a real disk for the copy and the database; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same searches.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    files: u64,
    functions: u64,
    lines: u64,
    source_bytes: u64,
    database_bytes: u64,
    cold_s: f64,
    cold_mb_per_s: f64,
    cold_peak_memory_kib: Option<u64>,
    unchanged: Summary,
    git_status: Option<Summary>,
    one_changed: Summary,
    search: Summary,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let tree = folder.file("tree");
    tree::copy(&arguments.path, &tree)?;
    let cli = arguments.cli.canonicalize().with_context(|| format!("no `{}`", arguments.cli.display()))?;
    let scan = Scan { cli, tree: tree.clone(), database: folder.file("code.db") };
    // First of all processes: their peak is the greatest of any so far.
    let (first, cold) = scan.run()?;
    let cold_peak_memory_kib = peak_memory_of_children_kib();
    let has_git = tree::make_repository(&tree)?;
    std::thread::sleep(REST);
    scan.run()?;
    scan.run()?;
    let mut unchanged = Latencies::default();
    let (mut git_status, mut one_changed) = (unchanged.clone(), unchanged.clone());
    for _ in 0..arguments.runs {
        // One beside the other: whatever else the machine does slows both down.
        let (answer, taken) = scan.run()?;
        if answer["files_indexed"] != 0 {
            bail!("the tree did not change, and yet files were indexed: {answer}");
        }
        unchanged.push(taken);
        if has_git {
            git_status.push(tree::git_status(&tree)?);
        }
    }
    let changed = tree::some_source(&tree)?;
    for round in 0..arguments.runs {
        tree::append(&changed, round)?;
        let (answer, taken) = scan.run()?;
        if answer["files_indexed"] != 1 {
            bail!("one file changed, and not one was indexed: {answer}");
        }
        one_changed.push(taken);
    }
    let search = searches(&scan.database, &tree, arguments)?;
    let source_bytes = stored_bytes(&scan.database)?;
    let count = |field: &str| first[field].as_u64().unwrap_or(0);
    let report = Report {
        files: count("files_indexed"),
        functions: count("functions"),
        lines: count("total_lines"),
        source_bytes,
        database_bytes: crate::database::file_bytes(&scan.database)?,
        cold_s: cold.clock.as_secs_f64(),
        cold_mb_per_s: source_bytes as f64 / 1e6 / cold.clock.as_secs_f64(),
        cold_peak_memory_kib,
        unchanged: unchanged.summary(),
        git_status: has_git.then(|| git_status.summary()),
        one_changed: one_changed.summary(),
        search,
    };
    print_report(&report, arguments.json, || report.text().trim_end().to_owned())
}

impl Report {
    fn text(&self) -> String {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let ratio = |to: &Summary| self.unchanged.p50_ms / to.p50_ms;
        let beside_git = match &self.git_status {
            Some(git) => format!("git status p50 {:.1} ms: ratio {:.2} (wanted ≤ 1.5)", git.p50_ms, ratio(git)),
            None => "no git to compare with".to_owned(),
        };
        format!(
            "{} files, {} functions, {} lines, {:.1} MB of source, database {:.1} MB\n\
             cold: {:.2} s, {:.1} MB/s (wanted ≥ 5), peak memory {} (wanted ≤ 400)\n\
             unchanged: p50 {:.1} ms, p90 {:.1} ms; {beside_git}\n\
             one file changed: p50 {:.1} ms, {:.2} of unchanged (wanted ≤ 1.5)\n\
             search_code: p50 {:.2} ms (wanted ≤ 10), p99 {:.2} ms, {} searches\n",
            self.files,
            self.functions,
            self.lines,
            megabytes(self.source_bytes),
            megabytes(self.database_bytes),
            self.cold_s,
            self.cold_mb_per_s,
            mebibytes(self.cold_peak_memory_kib),
            self.unchanged.p50_ms,
            self.unchanged.p90_ms,
            self.one_changed.p50_ms,
            self.one_changed.p50_ms / self.unchanged.p50_ms,
            self.search.p50_ms,
            self.search.p99_ms,
            self.search.count,
        )
    }
}

struct Scan {
    cli: PathBuf,
    tree: PathBuf,
    database: PathBuf,
}

impl Scan {
    /// One `rootset index`, from its start to its end.
    fn run(&self) -> anyhow::Result<(Value, Taken)> {
        let mut command = Command::new(&self.cli);
        command.arg("--db").arg(&self.database).args(["--json", "index"]).arg(&self.tree).stderr(Stdio::piped());
        let begin = Instant::now();
        let output = command.output().with_context(|| format!("cannot start `{}`", self.cli.display()))?;
        let clock = begin.elapsed();
        if !output.status.success() {
            bail!("`rootset index` failed: {}", String::from_utf8_lossy(&output.stdout));
        }
        Ok((serde_json::from_slice(&output.stdout)?, Taken { clock, processor: Duration::ZERO }))
    }
}

/// Names that occur in the sources, alone and two at a time.
fn searches(database: &Path, tree: &Path, arguments: &Arguments) -> anyhow::Result<Summary> {
    let words = tree::identifiers(tree)?;
    if words.is_empty() {
        bail!("no identifiers in `{}`", tree.display());
    }
    let client = Client::open(&database.into())?;
    let mut random = Random::new(arguments.seed);
    let mut latencies = Latencies::default();
    for place in 0..arguments.searches {
        let mut query = words[random.below(words.len())].clone();
        if place % 2 == 1 {
            query = format!("{query} {}", words[random.below(words.len())]);
        }
        let (_, taken) = client.timed("search_code", json!({ "query": query }))?;
        latencies.push(taken);
    }
    Ok(latencies.summary())
}

fn stored_bytes(database: &Path) -> anyhow::Result<u64> {
    let answer = Client::open(&database.into())?.call("list_workspaces", json!({}))?;
    let workspace = answer["workspaces"].as_array().and_then(|all| all.iter().find(|it| it["workspace_id"] == "home"));
    workspace.and_then(|it| it["bytes"].as_u64()).context("`list_workspaces` answered without `bytes`")
}
