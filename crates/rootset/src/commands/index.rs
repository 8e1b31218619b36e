//! `rootset index`.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::Args;
use rootset_api::{IndexAnswer, IndexCodebase};

use super::given;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::progress::Bar;
use crate::render::{self, counted, escaped};
use crate::stop::Farewell;

/// Bring the code index up to date with a folder
#[derive(Debug, Args)]
#[command(defer(described_by::<IndexCodebase>))]
pub struct IndexArguments {
    #[command(flatten)]
    scope: ScopeArguments,
    #[arg(long)]
    accept_missing: bool,
    #[arg(long, requires = "repo")]
    rebind: bool,
}

#[derive(Debug, Args)]
pub struct ScopeArguments {
    #[arg(default_value = ".")]
    path: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long = "language", short = 'l', value_name = "LANGUAGE")]
    languages: Vec<String>,
    /// Leave out test files
    #[arg(long)]
    no_tests: bool,
    #[arg(long, value_name = "BYTES")]
    max_file_size: Option<i64>,
}

impl ScopeArguments {
    /// What a scan is asked to look at.
    pub fn into_request(self) -> IndexCodebase {
        IndexCodebase {
            path: self.path,
            repo: self.repo,
            languages: given(self.languages),
            include_tests: self.no_tests.then_some(false),
            max_file_size: self.max_file_size,
            ..IndexCodebase::default()
        }
    }
}

pub fn run(arguments: IndexArguments, program: &Program) -> Result<(), Failure> {
    let request = IndexCodebase {
        accept_missing: arguments.accept_missing.then_some(true),
        rebind: arguments.rebind.then_some(true),
        ..arguments.scope.into_request()
    };
    let bar = Bar::new(program.output.shows_progress());
    let farewell = Farewell::saying(&program.output, kept(&request.path, bar.counts()))?;
    let answer = program.run_with_progress(request, bar.progress());
    drop((bar, farewell));
    let answer = answer?;
    program.output.answer(&answer, in_words)?;
    if !program.output.in_json() && answer.stale_memories > 0 {
        program.output.talk("to see and remove what is stale: rootset prune");
    }
    Ok(())
}

/// Each batch is a transaction, and a run that is cut off calls no file stale: what is done is right, and is not done again.
fn kept(path: &str, counts: impl Fn() -> (u64, u64) + Send + 'static) -> impl FnOnce() -> String + Send + 'static {
    let path = escaped(path);
    move || {
        let (done, total) = counts();
        let what = match total {
            0 => "stopped before any file was indexed".to_owned(),
            _ => format!("stopped: {} of {} are up to date and stay", done, counted(total, "file", "files")),
        };
        format!("{what}; continue with `rootset index {path}`")
    }
}

fn in_words(answer: &IndexAnswer) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    // Worth a word only when it was worth a wait.
    let elapsed = match answer.elapsed_ms {
        ms if ms < 1_000 => String::new(),
        ms => format!("  in {:.1} s", ms as f64 / 1e3),
    };
    line(format!(
        "{}  {} indexed, {} unchanged, {} gone{}",
        render::bold(escaped(&answer.repo)),
        counted(answer.files_indexed, "file", "files"),
        answer.files_unchanged,
        answer.files_removed,
        render::dim(elapsed),
    ));
    let functions = counted(answer.functions, "function", "functions");
    let classes = counted(answer.classes, "type", "types");
    let lines = counted(answer.total_lines, "line", "lines");
    line(format!("  {functions}, {classes}, {lines}{}", in_brackets(&by_count(&answer.languages))));
    if !answer.skipped.is_empty() {
        line(format!("  skipped: {}", by_count(&answer.skipped)));
    }
    if let Some(redacted) = answer.redacted.filter(|count| *count > 0) {
        line(format!("  {} not stored", counted(redacted, "likely secret", "likely secrets")));
    }
    if answer.stale_memories > 0 {
        line(format!("  stale: {}", counted(answer.stale_memories, "file", "files")));
    }
    for citation in &answer.dangling_citations {
        let name = citation.name.clone().unwrap_or_else(|| citation.memory_id.to_string());
        line(format!("  {} cites {}, which is gone", escaped(&name), escaped(&citation.cites)));
    }
    shown
}

/// `python 12, rust 3`: the most first.
fn by_count(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    counts.iter().map(|(name, count)| format!("{} {count}", name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}
