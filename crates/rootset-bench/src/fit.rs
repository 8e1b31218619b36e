//! `context_fit`: one new message at the end of a long list, in a server's process that knows the conversation; and what leaves when
//! the list does not fit any more.

use std::path::PathBuf;

use anyhow::ensure;
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary};
use crate::notes::Notes;
use crate::output::print_report;
use crate::table::aligned;

/// One new message at the end of a long list of messages.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Messages in the list.
    #[arg(long, default_value_t = 2_000)]
    messages: usize,
    /// Additions measured.
    #[arg(long, default_value_t = 200)]
    calls: usize,
    /// Where the database is made; without it, a temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same messages.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One new message may take so long at the 95th percentile.
const WANTED_P95_MS: f64 = 30.0;
/// Notes in a tool's output.
const NOTES_PER_RESULT: u64 = 5;

#[derive(Debug, Serialize)]
struct Report {
    messages: usize,
    list_bytes: usize,
    /// The whole list, which nobody knows yet.
    first: Summary,
    /// Each with one new message that fits.
    addition: Summary,
    /// The same list again.
    repetition: Summary,
    /// Additions to a list that has to lose messages now and then; the slowest are those.
    addition_when_full: Summary,
    wanted_p95_ms: f64,
    is_fast_enough: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let client = Client::open(&folder.file("fit.db").as_path().into())?;
    let notes = Notes::new(arguments.seed);
    let mut list: Vec<Value> = (0..arguments.messages as u64).map(|number| message(&notes, number)).collect();
    let list_bytes = serde_json::to_vec(&list)?.len();
    let fit = |list: &[Value], budget: u64, session: &str, latencies: &mut Latencies| -> anyhow::Result<Value> {
        let request = json!({"session_id": session, "messages": list, "budget_tokens": budget, "cache_state": "warm"});
        let (answer, taken) = client.timed("context_fit", request)?;
        latencies.push(taken);
        Ok(answer)
    };
    let large = 1_000_000_000;
    let (mut first, mut addition) = (Latencies::default(), Latencies::default());
    let (mut repetition, mut when_full) = (Latencies::default(), Latencies::default());
    let answer = fit(&list, large, "all", &mut first)?;
    let tokens = answer["tokens_after"].as_u64().unwrap_or_default();
    for _ in 0..arguments.calls {
        list.push(message(&notes, list.len() as u64));
        let answer = fit(&list, large, "all", &mut addition)?;
        ensure!(
            answer["state"] == "appended" && answer["first_changed_index"].is_null(),
            "an addition changed the list"
        );
        fit(&list, large, "all", &mut repetition)?;
    }
    // Nearly full at its beginning, so that something has to leave on the way.
    list.truncate(arguments.messages);
    fit(&list, tokens, "full", &mut Latencies::default())?;
    for _ in 0..arguments.calls {
        list.push(message(&notes, list.len() as u64));
        fit(&list, tokens, "full", &mut when_full)?;
    }
    let addition = addition.summary();
    let report = Report {
        messages: arguments.messages,
        list_bytes,
        first: first.summary(),
        addition,
        repetition: repetition.summary(),
        addition_when_full: when_full.summary(),
        wanted_p95_ms: WANTED_P95_MS,
        is_fast_enough: addition.p95_ms <= WANTED_P95_MS,
    };
    print_report(&report, arguments.json, || report.text())
}

/// An instruction every hundred messages, otherwise calls and their results in turn.
fn message(notes: &Notes, number: u64) -> Value {
    let note = |number: u64| notes.note(number).text;
    let id = |number: u64| format!("call_{number}");
    match number % 100 {
        0 => json!({"role": "user", "content": note(number)}),
        99 => json!({"role": "assistant", "content": note(number)}),
        place if place % 2 == 1 => {
            let call =
                json!({"type": "tool_use", "id": id(number), "name": "Bash", "input": {"command": note(number)}});
            json!({"role": "assistant", "content": [call]})
        }
        _ => {
            let lines: Vec<String> = (0..NOTES_PER_RESULT).map(|line| note(number * NOTES_PER_RESULT + line)).collect();
            let result = json!({"type": "tool_result", "tool_use_id": id(number - 1), "content": lines.join("\n")});
            json!({"role": "user", "content": [result]})
        }
    }
}

impl Report {
    fn text(&self) -> String {
        let row = |name: &str, summary: &Summary| {
            let figure = |ms: f64| format!("{ms:.1}");
            let figures = [summary.p50_ms, summary.p95_ms, summary.max_ms].map(figure);
            [vec![name.to_owned(), summary.count.to_string()], figures.to_vec()].concat()
        };
        let rows = [
            row("the whole list, new", &self.first),
            row("one new message", &self.addition),
            row("the same list again", &self.repetition),
            row("one new message, budget full", &self.addition_when_full),
        ];
        let table = aligned(&["ms", "calls", "p50", "p95", "max"], &rows);
        let (messages, kib) = (self.messages, self.list_bytes / 1_024);
        let verdict = if self.is_fast_enough { "ok" } else { "MISSED" };
        format!("{messages} messages, {kib} KiB\n\n{table}\n\none new message: p95 <= {WANTED_P95_MS} ms: {verdict}")
    }
}
