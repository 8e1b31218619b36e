//! Figures for people and for programs, with the wanted ones beside them.

use serde::Serialize;

use super::collect::{self, Throughput};
use super::readers::ReaderFigures;
use super::{classify, defrag, simulate};
use crate::table;

#[derive(Debug, Serialize)]
pub struct Report {
    seed: u64,
    classify: Option<classify::Figures>,
    simulate: Option<simulate::Figures>,
    collect: Option<collect::Figures>,
    defrag: Option<defrag::Figures>,
    wanted: Vec<Wanted>,
}

#[derive(Debug, Serialize)]
struct Wanted {
    figure: &'static str,
    measured: f64,
    at_most: f64,
    ok: bool,
}

impl Report {
    pub fn new(
        seed: u64,
        classify: Option<classify::Figures>,
        simulate: Option<simulate::Figures>,
        collect: Option<collect::Figures>,
        defrag: Option<defrag::Figures>,
    ) -> Self {
        let at_most = |figure, measured, at_most| Wanted { figure, measured, at_most, ok: measured <= at_most };
        let mut wanted = Vec::new();
        if let Some(classify) = &classify {
            wanted.push(at_most("classify, processor ms", classify.processor_p50_ms, 1_000.0));
            if let Some(kib) = classify.peak_above_rows_kib {
                wanted.push(at_most("classify, peak above rows MB", kib as f64 * 1.024e-3, 200.0));
            }
        }
        if let Some(collect) = &collect {
            wanted.push(at_most("set_retention, dry run, processor ms", collect.simulate.processor_p50_ms, 300.0));
        }
        if let Some(ratio) = defrag.as_ref().and_then(|defrag| defrag.after_to_fresh) {
            wanted.push(at_most("defrag, size / fresh size", ratio, 1.05));
        }
        Self { seed, classify, simulate, collect, defrag, wanted }
    }

    pub fn text(&self) -> String {
        let mut parts = vec![format!("collector, seed {}", self.seed)];
        parts.extend(self.classify.as_ref().map(classify_text));
        parts.extend(self.simulate.as_ref().map(|it| simulate_text("simulate", it)));
        parts.extend(self.collect.as_ref().map(collect_text));
        parts.extend(self.defrag.as_ref().map(defrag_text));
        if !self.wanted.is_empty() {
            parts.push(self.wanted_table());
        }
        parts.join("\n\n")
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

fn classify_text(it: &classify::Figures) -> String {
    format!(
        "classify {} rows: {:.0} ms ({:.0} ms of the processor), {} expired, peak above the rows {}",
        it.rows,
        it.clock_p50_ms,
        it.processor_p50_ms,
        it.expired,
        mebibytes(it.peak_above_rows_kib)
    )
}

fn simulate_text(name: &str, it: &simulate::Figures) -> String {
    format!(
        "{name}: {} memories over {} days in {:.0} ms ({:.0} ms of the processor), {} would go",
        it.memories, it.days, it.clock_p50_ms, it.processor_p50_ms, it.gone
    )
}

fn collect_text(it: &collect::Figures) -> String {
    let mut lines = vec![
        format!("{} memories, {} chunks, {} entities", it.memories, it.chunks, it.entities),
        simulate_text("set_retention, dry run", &it.simulate),
        format!(
            "gc_plan: {} memories in {:.0} ms ({:.0} ms of the processor), peak {} above what was there before",
            it.plan.items,
            it.plan.clock_ms,
            it.plan.processor_ms,
            mebibytes(it.plan.peak_above_kib)
        ),
    ];
    let rates = [("gc_apply", it.apply), ("gc_undo", it.undo), ("gc_purge", it.purge)];
    lines.extend(rates.map(|(name, rate)| throughput_text(name, rate)));
    lines.push(format!("skipped by gc_apply: {}", it.apply_skipped));
    lines.push(String::new());
    let readers =
        [("idle", it.readers.idle), ("gc_apply", it.readers.during_apply), ("gc_purge", it.readers.during_purge)];
    let rows: Vec<Vec<String>> = readers.into_iter().flat_map(|(when, figures)| reader_rows(when, figures)).collect();
    lines.push(table::aligned(&["readers during", "calls", "p50 ms", "p90 ms", "p99 ms", "max ms"], &rows));
    lines.join("\n")
}

fn reader_rows(when: &str, figures: ReaderFigures) -> [Vec<String>; 2] {
    [("get_memory", figures.get_memory), ("search_memory", figures.search_memory)].map(|(operation, it)| {
        let ms = [it.p50_ms, it.p90_ms, it.p99_ms, it.max_ms].map(|ms| format!("{ms:.3}"));
        let mut row = vec![format!("{when}: {operation}"), it.count.to_string()];
        row.extend(ms);
        row
    })
}

fn throughput_text(name: &str, it: Throughput) -> String {
    format!("{name}: {} memories in {:.0} ms, {:.0} memories/s", it.memories, it.clock_ms, it.memories_per_s)
}

fn defrag_text(it: &defrag::Figures) -> String {
    let ratio = it.after_to_fresh.map_or_else(String::new, |ratio| format!("; {ratio:.3} of a fresh database"));
    format!(
        "defrag of {} memories of which {} were purged: {:.0} ms, {} bytes become {}{ratio}",
        it.memories, it.purged, it.clock_ms, it.bytes_before, it.bytes_after
    )
}

fn mebibytes(kib: Option<u64>) -> String {
    kib.map_or_else(|| "not known on this system".to_owned(), |kib| format!("{:.1} MiB", kib as f64 / 1024.0))
}
