//! How fast an embedder is: one short text after the other, as searches bring them, and many texts together, as a database
//! does that gets a model. Texts are generated words; how well vectors find anything is measured elsewhere.

use std::time::Instant;

use serde::Serialize;

use crate::embedder;
use crate::latency::{Latencies, Summary, Taken};
use crate::output::{mebibytes, print_report};
use crate::process::{peak_memory_kib, processor_time};
use crate::random::Random;
use crate::vocabulary::Vocabulary;

/// Words of a question.
const SHORT_WORDS: usize = 8;
/// Texts handed over together, as Rootset does in the background.
const BULK_AT_ONCE: usize = 64;

/// Speed of an embedder: milliseconds for a short text, and texts a second in bulk.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// `local:FOLDER` (a sentence transformer) or `static:FOLDER` (a table of vectors).
    embedder: String,
    /// Short texts, one after the other.
    #[arg(long, default_value_t = 100)]
    short: usize,
    /// Texts in bulk.
    #[arg(long, default_value_t = 512)]
    bulk: usize,
    /// Words of a text in bulk; generated words have two to three tokens.
    #[arg(long, default_value_t = 40)]
    words: usize,
    /// Seed of the words.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    embedder: String,
    dimension: usize,
    load_ms: f64,
    short: Summary,
    bulk_texts: usize,
    bulk_bytes: usize,
    bulk_per_s: f64,
    /// Of one processor, over all threads: two that have nothing else to do take half of it. Only known on Linux.
    bulk_processor_ms_per_text: Option<f64>,
    peak_memory_kib: Option<u64>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let started = Instant::now();
    let embedder = embedder::of(&arguments.embedder, None)?.whole;
    let load_ms = started.elapsed().as_secs_f64() * 1e3;
    let mut random = Random::new(arguments.seed);
    let vocabulary = Vocabulary::new(&mut random);
    let mut text = |words: usize| -> String {
        let words: Vec<&str> = (0..words).map(|_| vocabulary.word(&mut random)).collect();
        words.join(" ")
    };
    let mut latencies = Latencies::default();
    let mut dimension = 0;
    for _ in 0..arguments.short.max(1) {
        let text = text(SHORT_WORDS);
        let (vectors, taken) = Taken::measure(|| embedder.embed(&[&text]));
        dimension = vectors?.first().map_or(0, Vec::len);
        latencies.push(taken);
    }
    let texts: Vec<String> = (0..arguments.bulk.max(1)).map(|_| text(arguments.words)).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    // Of the whole process: several threads do the work of one call.
    let processor = || processor_time(std::process::id());
    let (begun, before) = (Instant::now(), processor());
    for texts in borrowed.chunks(BULK_AT_ONCE) {
        embedder.embed(texts)?;
    }
    let (taken, count) = (begun.elapsed(), texts.len() as f64);
    let used = processor().zip(before).map(|(after, before)| after.saturating_sub(before));
    let report = Report {
        embedder: embedder.id().to_owned(),
        dimension,
        load_ms,
        short: latencies.summary(),
        bulk_texts: texts.len(),
        bulk_bytes: texts.iter().map(String::len).sum(),
        bulk_per_s: count / taken.as_secs_f64(),
        bulk_processor_ms_per_text: used.map(|used| used.as_secs_f64() * 1e3 / count),
        peak_memory_kib: peak_memory_kib(),
    };
    print_report(&report, arguments.json, || in_words(&report))
}

fn in_words(report: &Report) -> String {
    let Report { embedder, dimension, load_ms, short, bulk_texts, bulk_bytes, bulk_per_s, .. } = report;
    let processor = report.bulk_processor_ms_per_text.map(|ms| format!(", {ms:.1} ms of a processor each"));
    let processor = processor.unwrap_or_default();
    format!(
        "{embedder}: {dimension} dimensions, read in {load_ms:.0} ms\n\
         short texts: p50 {:.1} ms, p99 {:.1} ms, processor p50 {:.1} ms (wanted: at most 15 ms)\n\
         in bulk: {bulk_per_s:.1} texts/s of {} bytes{processor} (wanted: at least 60 texts/s)\n\
         peak memory: {}",
        short.p50_ms,
        short.p99_ms,
        short.processor_p50_ms,
        bulk_bytes / bulk_texts,
        mebibytes(report.peak_memory_kib),
    )
}
