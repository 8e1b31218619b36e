//! How long the command line takes to start, open a database and answer, and the memory it needs.
//!
//! `memory` runs this in a process of its own: Linux counts the resident size of the parent of a program into that
//! program's peak, so a small process must do the starting. Its own few MiB are the smallest peak this can see.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use crate::latency::{Latencies, Taken};
use crate::output::mebibytes;
use crate::platform::peak_memory_of_children_kib;

/// Time and peak memory of `rootset call get_stats`, started again and again.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The `rootset` binary.
    #[arg(long, value_name = "PATH")]
    cli: PathBuf,
    /// The database it opens.
    #[arg(long, value_name = "PATH")]
    db: PathBuf,
    #[arg(long, default_value_t = 20)]
    runs: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StartFigures {
    pub runs: usize,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub max_ms: f64,
    pub peak_memory_kib: Option<u64>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let figures = measure(arguments)?;
    if arguments.json {
        println!("{}", serde_json::to_string(&figures)?);
    } else {
        println!("{}", figures.line());
    }
    Ok(())
}

impl StartFigures {
    pub fn line(&self) -> String {
        format!(
            "start of the command line, {} runs: p50 {:.1} ms, p90 {:.1} ms, max {:.1} ms, peak memory {}",
            self.runs,
            self.p50_ms,
            self.p90_ms,
            self.max_ms,
            mebibytes(self.peak_memory_kib)
        )
    }
}

/// The same figures, measured by a small process.
pub fn measure_apart(cli: &Path, database: &Path) -> anyhow::Result<StartFigures> {
    let itself = std::env::current_exe().context("cannot find the path of this program")?;
    let output = Command::new(itself)
        .args(["start", "--json", "--cli"])
        .arg(cli)
        .arg("--db")
        .arg(database)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start this program again")?;
    if !output.status.success() {
        bail!("measuring the start of `{}` failed", cli.display());
    }
    serde_json::from_slice(&output.stdout).context("the figures of the start cannot be read")
}

fn measure(arguments: &Arguments) -> anyhow::Result<StartFigures> {
    let mut latencies = Latencies::default();
    for _ in 0..arguments.runs {
        let mut command = Command::new(&arguments.cli);
        command.arg("--db").arg(&arguments.db).args(["call", "get_stats", "{}"]);
        let (output, taken) = Taken::measure(|| command.output());
        let output = output.with_context(|| format!("cannot start `{}`", arguments.cli.display()))?;
        latencies.push(taken);
        if !output.status.success() {
            bail!("`rootset call get_stats` failed: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let summary = latencies.summary();
    Ok(StartFigures {
        runs: summary.count,
        p50_ms: summary.p50_ms,
        p90_ms: summary.p90_ms,
        max_ms: summary.max_ms,
        peak_memory_kib: peak_memory_of_children_kib(),
    })
}
