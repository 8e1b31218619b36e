//! Who calls whom: answers of `find_references` beside what a real tool says of the same tree.
//!
//! The truth is a file of JSON lines, one per call site: `{"file", "line", "name", "targets": [{"file", "line"}]}`; no
//! target: the call leads out of the tree, or to what is neither function nor type. Scripts in `truth/` write such files.
//!
//! Rules that the figures depend on:
//!
//! - Sites are drawn by a seed among those with a target; each target's callers are asked for, all pages.
//! - Recall: of the drawn sites, those that are among the callers of one of their targets.
//! - Precision: of all callers that were answered, those whose site has the target. Answers in lines where the truth knows
//!   no call of that name are `unjudged`. A *possible* answer that says that the target overrides what is called is right
//!   if a method of that name is called.
//! - Elsewhere: drawn sites that were not answered and that `unresolved` of the same answer does not count: it says that
//!   they lead to another symbol or out of the index, and `elsewhere` counts them.
//! - Dropped: drawn sites that are not even in `elsewhere`.

mod judge;
mod truth;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary};
use crate::output::print_report;
use crate::random::Random;
use judge::{Answered, Judge, Left};
use truth::Truth;

/// Results of one page: as many as a request may ask for.
const PAGE: u64 = 100;
/// Targets with more callers are left out, with their sites: each page of theirs is as much work as all of them.
const CALLERS_MAX: usize = 2_000;

/// Callers, measured against what a real tool says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The tree.
    path: PathBuf,
    /// Call sites and their targets, as JSON lines; see `crates/rootset-bench/truth`.
    truth: PathBuf,
    /// Call sites that are drawn.
    #[arg(long, default_value_t = 600)]
    sites: usize,
    /// The same seed draws the same sites.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes what was missed and what was wrong, one per line.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Folder for the temporary database; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
pub struct Report {
    files: u64,
    truth_sites: usize,
    drawn_sites: usize,
    targets: usize,
    /// Targets that are no symbol of the index: their sites count as missed.
    unknown_targets: usize,
    /// Sites of targets with too many callers.
    left_out: usize,
    recall: f64,
    recall_certain: f64,
    certain: usize,
    certain_precision: f64,
    possible: usize,
    possible_precision: f64,
    unjudged: usize,
    elsewhere: usize,
    dropped: usize,
    callers: Option<Summary>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let database = folder.file("code.db");
    let client = Client::open(&database.as_path().into())?;
    let scanned = client.call("index_codebase", json!({ "path": arguments.path.canonicalize()? }))?;
    let repo = scanned["repo"].as_str().context("`index_codebase` answered without `repo`")?.to_owned();
    let truth = Truth::read(&arguments.truth, &database)?;
    let mut random = Random::new(arguments.seed);
    let drawn = truth.draw(arguments.sites, &mut random);
    ensure!(!drawn.is_empty(), "no call in `{}` has a target", arguments.truth.display());
    let mut judge = Judge::default();
    let mut latencies = Latencies::default();
    let by_target = truth.by_target(&drawn);
    let mut report = Report {
        files: scanned["files_seen"].as_u64().unwrap_or_default(),
        truth_sites: truth.len(),
        drawn_sites: drawn.len(),
        targets: by_target.len(),
        ..Report::default()
    };
    for (target, sites) in &by_target {
        let Some(name) = truth.name_of(target) else {
            report.unknown_targets += 1;
            judge.unknown(target, sites, &truth);
            continue;
        };
        let Some((answered, left)) = callers(&client, &repo, name, &mut latencies)? else {
            report.left_out += sites.len();
            continue;
        };
        judge.answer(name, sites, &truth, &answered, left);
    }
    report.callers = Some(latencies.summary());
    judge.fill(&mut report);
    if let Some(list) = &arguments.list {
        fs::write(list, judge.list()).with_context(|| format!("cannot write `{}`", list.display()))?;
    }
    print_report(&report, arguments.json, || report.text())
}

/// Every page of the callers of a symbol, and what is in no list. `None`: they are too many.
fn callers(
    client: &Client,
    repo: &str,
    name: &str,
    latencies: &mut Latencies,
) -> anyhow::Result<Option<(Vec<Answered>, Left)>> {
    let mut answered = Vec::new();
    loop {
        let request = json!({ "qualified_name": name, "repo": repo, "limit": PAGE, "offset": answered.len() });
        let (answer, taken) = client.timed("get_callers", request)?;
        // Later pages are the same work again.
        if answered.is_empty() {
            latencies.push(taken);
        }
        let results = answer["results"].as_array().context("`get_callers` answered without `results`")?;
        answered.extend(results.iter().map(of_result));
        let number = |field: &str| answer[field].as_u64().unwrap_or_default() as usize;
        if number("total") > CALLERS_MAX {
            return Ok(None);
        }
        if results.is_empty() || answered.len() >= number("total") {
            return Ok(Some((answered, Left { unresolved: number("unresolved"), elsewhere: number("elsewhere") })));
        }
    }
}

fn of_result(result: &Value) -> Answered {
    let text = |field: &str| result[field].as_str().unwrap_or_default().to_owned();
    Answered {
        file: text("file_path"),
        line: result["line"].as_i64().unwrap_or_default(),
        is_certain: result["certainty"] == "certain",
        reason: text("reason"),
    }
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "{} files; {} of {} calls with targets drawn, {} targets ({} are no symbols), {} left out\n\
             certain precision {:.3} of {} (wanted ≥ .98)\n\
             recall {:.3} (wanted ≥ .9), certain alone {:.3}\n\
             possible precision {:.3} of {} (wanted ≥ .5)\n\
             answers that the truth does not know: {}; missed: {} said to lead elsewhere, {} not counted",
            self.files,
            self.drawn_sites,
            self.truth_sites,
            self.targets,
            self.unknown_targets,
            self.left_out,
            self.certain_precision,
            self.certain,
            self.recall,
            self.recall_certain,
            self.possible_precision,
            self.possible,
            self.unjudged,
            self.elsewhere,
            self.dropped,
        );
        if let Some(callers) = &self.callers {
            let _ = write!(
                text,
                "\nget_callers: p50 {:.1} ms (wanted ≤ 30), p99 {:.1} ms (wanted ≤ 200), {} questions",
                callers.p50_ms, callers.p99_ms, callers.count
            );
        }
        text
    }
}
