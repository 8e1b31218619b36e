//! Decisions about one long context window, in memory: additions, mark, analysis, plan, retained tokens.
//!
//! No database and no text: this is what `rootset-gc` alone needs, on one core.

mod session;

use std::time::Duration;

use rootset_gc::context::{
    Focus, Now, Population, Scoring, Target, Window, analyse, find_roots, mark, plan, retained_tokens,
};
use rootset_model::Timestamp;
use serde::Serialize;

use crate::latency::{Latencies, Taken};
use crate::output::print_report;
use crate::process::{forget_peak, peak_memory_kib};
use crate::table::aligned;
use session::GeneratedSession;

/// Speed of mark, analysis and plan on a generated session, without a database.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(long, default_value_t = 1_000_000)]
    segments: usize,
    /// References of each segment to earlier ones.
    #[arg(long, default_value_t = 5)]
    references: usize,
    /// Share of references that go to the last fifty segments; the others go anywhere, which is harder on caches.
    #[arg(long, default_value_t = 0.6)]
    near: f64,
    /// Share of all tokens that the plan frees.
    #[arg(long, default_value_t = 0.5)]
    target: f64,
    /// How often each step is done; the fastest is reported.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// The same seed gives the same session.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    segments: usize,
    references: usize,
    tokens: u64,
    reachable: usize,
    planned: usize,
    steps: Vec<Step>,
    /// Additions of the first and of the last hundredth of the session.
    first_addition_p50_us: f64,
    last_addition_p50_us: f64,
    /// Of all: one that made room for as many again.
    slowest_addition_ms: f64,
}

#[derive(Debug, Serialize)]
struct Step {
    name: &'static str,
    /// Of the processor.
    ms: f64,
    wanted_ms: Option<f64>,
    peak_memory_kib: Option<u64>,
}

/// Wanted for a million segments with five million references.
const MARK_WANTED_MS: f64 = 250.0;
const ANALYSE_AND_PLAN_WANTED_MS: f64 = 1_000.0;
/// Wanted for what is in a window as agents have them, however much has left it.
const SMALL_WINDOW_WANTED_MS: f64 = 10.0;
const SMALL_WINDOW_SEGMENTS: usize = 1_000;
const SMALL_WINDOW_TOKENS: u64 = 32_000;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let report = measure(arguments);
    print_report(&report, arguments.json, || report.text())
}

fn measure(arguments: &Arguments) -> Report {
    let mut session = GeneratedSession::new(arguments.seed, arguments.references, arguments.near);
    let hundredth = (arguments.segments / 100).max(1);
    let (mut first, mut last) = (Latencies::default(), Latencies::default());
    let mut slowest = Duration::ZERO;
    forget_peak();
    let ((), filled) = Taken::measure(|| {
        for number in 0..arguments.segments {
            let segment = session.next_segment();
            let ((), taken) = Taken::measure(|| session.add(&segment));
            slowest = slowest.max(taken.processor);
            if number < hundredth {
                first.push(taken);
            }
            if number + hundredth >= arguments.segments {
                last.push(taken);
            }
        }
    });
    let mut steps = vec![step("fill", filled, None)];

    let window = session.window();
    let (focus, scoring) = (Focus::default(), Scoring::default());
    let now = Now { step: arguments.segments as u64, at: Timestamp(arguments.segments as i64 * 1_000) };
    let roots = find_roots(window, &focus, now, Population::Active);
    let target = Target::tokens((window.tokens() as f64 * arguments.target) as u64);
    let again = |name, wanted_ms, work: &dyn Fn()| fastest(name, wanted_ms, arguments.runs, work);
    let marks = || mark(window.graph(), roots.segments(), Population::Active);
    let analysis = || analyse(window, &focus, now, &scoring);
    steps.push(again("mark", Some(MARK_WANTED_MS), &|| drop(marks())));
    steps.push(again("analyse", None, &|| drop(analysis())));
    let planned = || plan(window, &analysis(), target);
    steps.push(again("analyse and plan", Some(ANALYSE_AND_PLAN_WANTED_MS), &|| drop(planned())));
    steps.push(again("retained tokens", None, &|| drop(retained_tokens(window, roots.segments()))));
    let (references, tokens) = (references(window), window.tokens());
    let (reachable, planned) = (marks().count(), planned().items.len());
    for (name, segments_max, tokens_max) in [
        ("… 1,000 segments stay", SMALL_WINDOW_SEGMENTS, u64::MAX),
        ("… 32,000 tokens stay", usize::MAX, SMALL_WINDOW_TOKENS),
    ] {
        session.stash_all_but_last(segments_max, tokens_max);
        let window = session.window();
        let target = Target::tokens((window.tokens() as f64 * arguments.target) as u64);
        let small = || drop(plan(window, &analyse(window, &focus, now, &scoring), target));
        steps.push(fastest(name, Some(SMALL_WINDOW_WANTED_MS), arguments.runs, &small));
    }
    Report {
        segments: arguments.segments,
        references,
        tokens,
        reachable,
        planned,
        steps,
        first_addition_p50_us: first.summary().processor_p50_ms * 1_000.0,
        last_addition_p50_us: last.summary().processor_p50_ms * 1_000.0,
        slowest_addition_ms: slowest.as_secs_f64() * 1_000.0,
    }
}

fn references(window: &Window) -> usize {
    let segments = window.graph().segments(Population::Active);
    segments.map(|segment| window.graph().references_of(segment).count()).sum()
}

fn fastest(name: &'static str, wanted_ms: Option<f64>, runs: usize, work: &dyn Fn()) -> Step {
    forget_peak();
    let runs = (0..runs.max(1)).map(|_| Taken::measure(work).1);
    let fastest = runs.min_by_key(|taken| taken.processor).expect("there is at least one run");
    step(name, fastest, wanted_ms)
}

fn step(name: &'static str, taken: Taken, wanted_ms: Option<f64>) -> Step {
    Step { name, ms: taken.processor.as_secs_f64() * 1_000.0, wanted_ms, peak_memory_kib: peak_memory_kib() }
}

impl Report {
    fn text(&self) -> String {
        let rows = self.steps.iter().map(|step| {
            let wanted = step.wanted_ms.map_or(String::new(), |ms| format!("≤ {ms:.0}"));
            let peak = step.peak_memory_kib.map_or(String::new(), |kib| format!("{}", kib / 1_024));
            vec![step.name.to_owned(), format!("{:.1}", step.ms), wanted, peak]
        });
        let table = aligned(&["", "ms", "wanted", "peak MiB"], &rows.collect::<Vec<_>>());
        format!(
            "{} segments, {} references, {} tokens; {} reachable, {} in the plan\n\n{table}\n\n\
             one addition: p50 {:.1} µs at the start, {:.1} µs at the end; the slowest of all {:.1} ms",
            self.segments,
            self.references,
            self.tokens,
            self.reachable,
            self.planned,
            self.first_addition_p50_us,
            self.last_addition_p50_us,
            self.slowest_addition_ms
        )
    }
}
