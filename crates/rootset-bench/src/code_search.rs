//! Whether code search finds the file that a fix changed, on the history of any git repository.
//!
//! A case is a commit whose message says that it fixes something and that modified one source file, tests and documents
//! aside. The query is the message, the tree is that of the parent commit, and a plain BM25 over the same files stands
//! beside it. Rules that the figures depend on:
//!
//! - Only the newest commits of the history are looked at, merges left out, and a seed draws from those that qualify.
//! - Messages that name the path or the base name of the changed file are left out, and so are very short ones. Lines about
//!   people (`Signed-off-by:`) are not part of a query.
//! - Tests are in neither ranking. BM25 ranks source files alone; Rootset is asked without a filter, so that a document that
//!   it returns costs it a place.
//! - The seed's default was chosen before anything was measured.

mod baseline;
mod checkout;
mod history;

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use rootset_code::is_test;
use serde::Serialize;
use serde_json::json;

use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary};
use crate::output::print_report;
use baseline::Baseline;
use checkout::{Checkout, git};
use history::Case;

/// Results asked for: several symbols of one file count once, and the deepest figure is R@5.
const RESULTS: usize = 40;
const SEED: u64 = 20_261_119;

/// How often code search finds the file that a fix changed, beside BM25 over whole files.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Git repositories, with their histories; nothing in them is changed.
    #[arg(required = true)]
    repositories: Vec<PathBuf>,
    /// Cases of each repository.
    #[arg(long, default_value_t = 60)]
    cases: usize,
    /// The same seed draws the same cases from the same history.
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// Folder for checkouts and databases; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Only print the cases, one JSON object per line.
    #[arg(long)]
    list: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    seed: u64,
    repositories: Vec<Measured>,
    all: Figures,
}

#[derive(Debug, Serialize)]
struct Measured {
    repository: String,
    head: String,
    figures: Figures,
    search: Summary,
    outcomes: Vec<Outcome>,
}

/// The place of the changed file in each ranking, from 1; absent: not found.
#[derive(Clone, Debug, Serialize)]
struct Outcome {
    commit: String,
    path: String,
    rootset: Option<usize>,
    bm25: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Figures {
    cases: usize,
    rootset: Recall,
    bm25: Recall,
}

#[derive(Debug, Serialize)]
struct Recall {
    r_at_1: f64,
    r_at_5: f64,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut repositories = Vec::new();
    for repository in &arguments.repositories {
        let cases = history::cases(repository, arguments.cases, arguments.seed)?;
        if arguments.list {
            for case in &cases {
                println!("{}", serde_json::to_string(case)?);
            }
        } else {
            ensure!(!cases.is_empty(), "no commit of `{}` is a case", repository.display());
            repositories.push(measured(repository, &cases, arguments)?);
        }
    }
    if arguments.list {
        return Ok(());
    }
    let all = Figures::of(repositories.iter().flat_map(|measured| &measured.outcomes));
    let report = Report { seed: arguments.seed, repositories, all };
    print_report(&report, arguments.json, || report.text())
}

fn measured(repository: &Path, cases: &[Case], arguments: &Arguments) -> anyhow::Result<Measured> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let checkout = Checkout::create(repository, folder.file("tree"))?;
    let client = Client::open(&folder.file("code.db").into())?;
    let mut baseline = Baseline::default();
    let mut latencies = Latencies::default();
    let mut outcomes = Vec::new();
    for case in cases {
        checkout.switch(&case.parent)?;
        let index = json!({ "path": checkout.folder(), "repo": "tree", "accept_missing": true });
        client.call("index_codebase", index)?;
        let (answer, taken) = client.timed("search_code", json!({ "query": case.query, "limit": RESULTS }))?;
        latencies.push(taken);
        let mut found: Vec<&str> = Vec::new();
        for result in answer["results"].as_array().context("`search_code` answered without `results`")? {
            let path = result["file_path"].as_str().context("a result without `file_path`")?;
            if !found.contains(&path) && !is_test(path) {
                found.push(path);
            }
        }
        let ranked = baseline.rank(&checkout.sources(&case.parent)?, &case.query);
        let place_in = |list: &[&str]| list.iter().position(|path| *path == case.path).map(|at| at + 1);
        outcomes.push(Outcome {
            commit: case.commit.clone(),
            path: case.path.clone(),
            rootset: place_in(&found),
            bm25: place_in(&ranked.iter().map(String::as_str).collect::<Vec<_>>()),
        });
        eprint!("\r{} of {}", outcomes.len(), cases.len());
    }
    eprintln!();
    Ok(Measured {
        repository: repository.display().to_string(),
        head: String::from_utf8(git(repository, &["rev-parse", "HEAD"])?)?.trim().to_owned(),
        figures: Figures::of(&outcomes),
        search: latencies.summary(),
        outcomes,
    })
}

impl Figures {
    fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome> + Clone) -> Self {
        let places = |place: fn(&Outcome) -> Option<usize>| -> Vec<Option<usize>> {
            outcomes.clone().into_iter().map(place).collect()
        };
        let (rootset, bm25) = (places(|it| it.rootset), places(|it| it.bm25));
        Self { cases: rootset.len(), rootset: Recall::of(&rootset), bm25: Recall::of(&bm25) }
    }
}

impl Recall {
    fn of(places: &[Option<usize>]) -> Self {
        let within = |depth: usize| {
            let found = places.iter().flatten().filter(|place| **place <= depth).count();
            found as f64 / places.len().max(1) as f64
        };
        Self { r_at_1: within(1), r_at_5: within(5) }
    }
}

impl Report {
    fn text(&self) -> String {
        let row = |name: &str, figures: &Figures, search: Option<&Summary>| {
            let latency = search.map_or_else(String::new, |it| format!("{:.1} ms", it.p50_ms));
            format!(
                "{name:24} {:5}   {:.3} / {:.3}   {:.3} / {:.3}   {latency}",
                figures.cases, figures.rootset.r_at_1, figures.rootset.r_at_5, figures.bm25.r_at_1, figures.bm25.r_at_5,
            )
        };
        let mut lines = vec![format!("R@1 / R@5                cases   rootset         BM25            search p50")];
        for it in &self.repositories {
            let path = it.repository.trim_end_matches("/repo").trim_end_matches("/.git");
            let name = path.rsplit('/').next().unwrap_or_default();
            lines.push(row(name, &it.figures, Some(&it.search)));
        }
        lines.push(row("all", &self.all, None));
        lines.push("wanted: both at least .03 above BM25, and R@5 at least .80".to_owned());
        lines.join("\n")
    }
}
