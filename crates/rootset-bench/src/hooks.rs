//! `rootset hook`, as a client runs it: a process for each event, on a database with many memories and a long transcript.
//!
//! The database is filled by one process and the events are measured by another: Linux counts the resident size of the parent of a
//! program into that program's peak (`start.rs`).

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::{BATCH_MEMORIES, Client};
use crate::database::BenchFolder;
use crate::latency::{Latencies, Summary, Taken};
use crate::notes::Notes;
use crate::output::{mebibytes, print_report};
use crate::platform::peak_memory_of_children_kib;
use crate::table::aligned;

/// What a hook of an agent's client takes, event by event.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The `rootset` binary.
    #[arg(long, value_name = "PATH")]
    cli: PathBuf,
    #[arg(long, default_value_t = 10_000)]
    memories: usize,
    /// Messages in the transcript.
    #[arg(long, default_value_t = 2_000)]
    segments: usize,
    /// Events of each kind.
    #[arg(long, default_value_t = 200)]
    events: usize,
    /// Where the database is made; without it, a temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// The same seed gives the same notes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder that this program has filled.
    #[arg(long, value_name = "FOLDER", hide = true)]
    filled: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const DATABASE: &str = "hooks.db";
const TRANSCRIPT: &str = "transcript.jsonl";
/// Prompts of one window: more than its caps would let in.
const PROMPTS_PER_SESSION: usize = 20;
/// The events, what they are called here, and how long each may take at the 95th percentile.
const EVENTS: [(&str, &str, f64); 5] = [
    ("SessionStart", "start", 20.0),
    ("UserPromptSubmit", "recall", 20.0),
    ("PreCompact", "compaction", 150.0),
    ("Stop", "turn", 150.0),
    ("SessionEnd", "end", 150.0),
];
/// Peak memory of any of them.
const WANTED_PEAK_KIB: u64 = 40 * 1_024;

#[derive(Debug, Serialize)]
struct Report {
    memories: usize,
    segments: usize,
    transcript_bytes: u64,
    events: Vec<EventFigures>,
    /// A program that does nothing, started in the same way.
    bare_start: Summary,
    peak_memory_kib: Option<u64>,
    wanted_peak_memory_kib: u64,
}

#[derive(Debug, Serialize)]
struct EventFigures {
    event: &'static str,
    name: &'static str,
    /// How many were answered with something.
    answered: usize,
    wanted_p95_ms: f64,
    #[serde(flatten)]
    summary: Summary,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(folder) = &arguments.filled {
        let report = measure(arguments, folder)?;
        return print_report(&report, arguments.json, || report.text());
    }
    let folder = BenchFolder::create(arguments.dir.as_deref())?;
    let database = folder.file(DATABASE);
    fill(arguments, &database, &folder.file(TRANSCRIPT))?;
    let itself = std::env::current_exe().context("cannot find the path of this program")?;
    let parent = database.parent().context("a database is in a folder")?;
    let mut command = Command::new(itself);
    command.args(["hooks", "--cli"]).arg(&arguments.cli).arg("--filled").arg(parent);
    for (name, value) in
        [("--memories", arguments.memories), ("--segments", arguments.segments), ("--events", arguments.events)]
    {
        command.args([name, &value.to_string()]);
    }
    command.args(arguments.json.then_some("--json"));
    ensure!(command.status().context("cannot start this program again")?.success(), "the hooks were not measured");
    Ok(())
}

fn fill(arguments: &Arguments, database: &Path, transcript: &Path) -> anyhow::Result<()> {
    let notes = Notes::new(arguments.seed);
    let client = Client::open(&database.into())?;
    let numbers: Vec<u64> = (0..arguments.memories as u64).collect();
    for batch in numbers.chunks(BATCH_MEMORIES) {
        client.add_batch(batch.iter().map(|number| notes.note(*number).request()).collect())?;
    }
    let mut lines = String::new();
    for number in 0..arguments.segments as u64 {
        writeln!(lines, "{}", line(&notes, number))?;
    }
    Ok(std::fs::write(transcript, lines)?)
}

/// A line of a transcript: a prompt every fifty, otherwise calls and their results in turn.
fn line(notes: &Notes, number: u64) -> Value {
    let text = |number: u64| notes.note(number).text;
    let (kind, content) = match number % 50 {
        0 => ("user", json!(format!("From now on, {}", text(number)))),
        place if place % 2 == 1 => {
            let input =
                json!({"file_path": format!("/project/src/file{}.rs", number % 40), "new_string": text(number)});
            ("assistant", json!([{"type": "tool_use", "id": format!("t{number}"), "name": "Edit", "input": input}]))
        }
        _ => {
            let output: Vec<String> = (0..5).map(|line| text(number * 5 + line)).collect();
            let id = format!("t{}", number - 1);
            ("user", json!([{"type": "tool_result", "tool_use_id": id, "content": output.join("\n")}]))
        }
    };
    let parent = number.checked_sub(1).map(|before| format!("u{before}"));
    json!({
        "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s",
        "timestamp": "2026-01-01T00:00:00Z", "message": {"role": kind, "content": content},
    })
}

fn measure(arguments: &Arguments, folder: &Path) -> anyhow::Result<Report> {
    let notes = Notes::new(arguments.seed);
    let transcript = folder.join(TRANSCRIPT);
    let mut events = Vec::new();
    for (event, name, wanted_p95_ms) in EVENTS {
        let (mut latencies, mut answered) = (Latencies::default(), 0);
        for number in 0..arguments.events {
            let session = format!("{name}-{}", if name == "recall" { number / PROMPTS_PER_SESSION } else { number });
            let input = json!({
                "session_id": session, "transcript_path": transcript, "cwd": folder, "hook_event_name": event,
                "source": "startup", "trigger": "auto", "prompt": notes.question((number * 7) as u64),
            });
            let mut command = Command::new(&arguments.cli);
            command.arg("--db").arg(folder.join(DATABASE)).args(["--workspace", "home", "hook", "claude-code"]);
            let (output, taken) = Taken::measure(|| answer(&mut command, folder, input.to_string().as_bytes()));
            latencies.push(taken);
            answered += usize::from(!output?.is_empty());
        }
        events.push(EventFigures { event, name, answered, wanted_p95_ms, summary: latencies.summary() });
    }
    let peak_memory_kib = peak_memory_of_children_kib();
    let mut bare_start = Latencies::default();
    for _ in 0..arguments.events {
        let (output, taken) = Taken::measure(|| answer(&mut Command::new("/bin/true"), folder, b""));
        output?;
        bare_start.push(taken);
    }
    Ok(Report {
        memories: arguments.memories,
        segments: arguments.segments,
        transcript_bytes: std::fs::metadata(&transcript)?.len(),
        events,
        bare_start: bare_start.summary(),
        peak_memory_kib,
        wanted_peak_memory_kib: WANTED_PEAK_KIB,
    })
}

/// As a client does it: the event to stdin, the answer from stdout; with nothing of the measurer's own home.
fn answer(command: &mut Command, home: &Path, input: &[u8]) -> anyhow::Result<Vec<u8>> {
    let command = command.env("HOME", home).env_remove("CLAUDE_PROJECT_DIR").env_remove("CLAUDE_CONFIG_DIR");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    // A program that reads nothing closes its end.
    let _ = child.stdin.take().context("it was asked for")?.write_all(input);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("a hook ended with {}", output.status);
    }
    Ok(output.stdout)
}

impl Report {
    fn text(&self) -> String {
        let figure = |ms: f64| format!("{ms:.1}");
        let row = |name: &str, answered: String, wanted: String, summary: &Summary| {
            let figures = [summary.p50_ms, summary.p95_ms, summary.p99_ms, summary.max_ms].map(figure);
            [vec![name.to_owned(), summary.count.to_string(), answered], figures.to_vec(), vec![wanted]].concat()
        };
        let mut rows: Vec<Vec<String>> = Vec::new();
        for event in &self.events {
            let is_met = event.summary.p95_ms <= event.wanted_p95_ms;
            let wanted = format!("<= {:.0}{}", event.wanted_p95_ms, if is_met { "" } else { " MISSED" });
            rows.push(row(event.event, event.answered.to_string(), wanted, &event.summary));
        }
        rows.push(row("/bin/true", "-".to_owned(), "-".to_owned(), &self.bare_start));
        let table = aligned(&["ms", "events", "answered", "p50", "p95", "p99", "max", "p95 wanted"], &rows);
        format!(
            "{} memories, transcript of {} messages and {} KiB\n\n{table}\n\npeak memory {} (wanted: {})",
            self.memories,
            self.segments,
            self.transcript_bytes / 1_024,
            mebibytes(self.peak_memory_kib),
            mebibytes(Some(self.wanted_peak_memory_kib)),
        )
    }
}
