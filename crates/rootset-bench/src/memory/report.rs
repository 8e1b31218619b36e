//! Figures for people and for programs, with the wanted ones beside them.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::measure::Figures;
use crate::latency::Summary;
use crate::output::mebibytes;
use crate::start::StartFigures;
use crate::table;

/// Up to this many memories the stricter ratio of `add_memory` to `raw` is wanted.
const SMALL_MEMORIES_MAX: usize = 10_000;

#[derive(Debug, Serialize)]
pub struct Report {
    memories: usize,
    seed: u64,
    bulk_per_s: f64,
    operations: Map<String, Value>,
    /// p50 of `add_memory` by p50 of `raw`; none on a server.
    add_to_raw: Option<f64>,
    bytes_per_memory: f64,
    peak_memory_kib: Option<u64>,
    start: Option<StartFigures>,
    wanted: Vec<Wanted>,
    /// Where the database was kept.
    database: Option<String>,
    #[serde(skip)]
    summaries: Vec<(&'static str, Summary)>,
}

#[derive(Debug, Serialize)]
struct Wanted {
    figure: &'static str,
    measured: f64,
    at_most: f64,
    ok: bool,
}

impl Report {
    pub fn new(figures: Figures, start: Option<StartFigures>, seed: u64, database: Option<String>) -> Self {
        let of = |name: &str| figures.operations.iter().find(|(it, _)| *it == name).map(|(_, summary)| *summary);
        let p50 = |name: &str| of(name).map_or(0.0, |summary| summary.p50_ms);
        let add_to_raw = of("raw").map(|raw| p50("add_memory") / raw.p50_ms);
        let at_most = |figure, measured, at_most| Wanted { figure, measured, at_most, ok: measured <= at_most };
        let ratio_max = if figures.memories <= SMALL_MEMORIES_MAX { 4.0 } else { 6.0 };
        let search_p99_ms = of("search_memory").map_or(0.0, |it| it.p99_ms);
        let wanted = match add_to_raw {
            Some(ratio) => vec![
                at_most("add_memory p50 / raw p50", ratio, ratio_max),
                at_most("get_memory p50 ms", p50("get_memory"), 0.2),
                at_most("search_memory p50 ms", p50("search_memory"), 10.0),
                at_most("search_memory p99 ms", search_p99_ms, 40.0),
            ],
            None => vec![
                at_most("bulk add, ms per memory", 1e3 / figures.bulk_per_s, 0.5),
                at_most("search_memory p50 ms", p50("search_memory"), 20.0),
            ],
        };
        Self {
            memories: figures.memories,
            seed,
            bulk_per_s: figures.bulk_per_s,
            operations: figures.operations.iter().map(|(name, it)| ((*name).to_owned(), json!(it))).collect(),
            add_to_raw,
            bytes_per_memory: figures.bytes_per_memory,
            peak_memory_kib: figures.peak_memory_kib,
            start,
            wanted,
            database,
            summaries: figures.operations,
        }
    }

    pub fn text(&self) -> String {
        let mut lines = vec![
            format!("{} memories, seed {}", self.memories, self.seed),
            String::new(),
            self.operations_table(),
            String::new(),
            format!("bulk add: {:.0} memories/s", self.bulk_per_s),
            format!("database: {:.0} bytes per memory", self.bytes_per_memory),
            format!("peak memory of this process: {}", mebibytes(self.peak_memory_kib)),
            match &self.start {
                Some(start) => start.line(),
                None => "SKIPPED: start of the command line; give its binary with `--cli PATH`".to_owned(),
            },
            String::new(),
            self.wanted_table(),
        ];
        if let Some(database) = &self.database {
            lines.push(format!("\nkept: {database}"));
        }
        lines.join("\n")
    }

    fn operations_table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .summaries
            .iter()
            .map(|(name, it)| {
                let ms = [it.p50_ms, it.p90_ms, it.p99_ms, it.max_ms].map(|ms| format!("{ms:.3}"));
                let mut row = vec![(*name).to_owned(), it.count.to_string()];
                row.extend(ms);
                row.push(format!("{:.3}", it.processor_p50_ms));
                row.push(format!("{:.0}", it.per_s));
                row
            })
            .collect();
        table::aligned(&["operation", "calls", "p50 ms", "p90 ms", "p99 ms", "max ms", "p50 cpu ms", "per s"], &rows)
    }

    fn wanted_table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .wanted
            .iter()
            .map(|it| {
                let verdict = if it.ok { "ok" } else { "MISSED" };
                vec![it.figure.into(), format!("{:.3}", it.measured), format!("≤ {}", it.at_most), verdict.into()]
            })
            .collect();
        table::aligned(&["figure", "measured", "wanted", ""], &rows)
    }
}
