//! `rootset gc status`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::exit::Failure;
use crate::render::{self, Table, bytes, count, flag, list, one_line, short, text};
use crate::session::Session;

pub fn run(session: &Session) -> Result<(), Failure> {
    let answer = session.call("gc_status", json!({}))?;
    session.output.answer(&answer, render)?;
    if flag(&answer, "defrag_recommended") && !session.output.in_json() {
        session
            .output
            .talk(&render::warning("much was purged since the last time: `rootset defrag` gives the space back"));
    }
    Ok(())
}

fn render(answer: &Value) -> String {
    let mut shown = String::new();
    let mut line = |label: &str, value: String| {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<14}"))).expect("writing to a string cannot fail");
    };
    line("live", amounts(&answer["live"]));
    line("trash", amounts(&answer["trash"]));
    line("unclassifiable", count(answer, "unclassifiable").to_string());
    let share = answer["dead_fraction"].as_f64().unwrap_or_default() * 100.0;
    line("dead", format!("{share:.0} % of the chunks since the last defragmentation"));
    let sizes: Vec<String> = answer["disk"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(field, size)| Some(format!("{} {field}", bytes(size.as_i64()?))))
        .collect();
    line("disk", sizes.join(", "));
    let runs = list(answer, "last_runs");
    if !runs.is_empty() {
        let mut table = Table::new(["RUN", "OPERATION", "BY", "AT", "MEMORIES"]);
        for run in runs {
            table.row([
                text(run, "run_id").to_owned(),
                text(run, "operation").to_owned(),
                one_line(text(run, "actor"), 24),
                short(text(run, "at")),
                count(&run["trashed"], "memories").to_string(),
            ]);
        }
        shown.push('\n');
        shown.push_str(&table.finish());
    }
    shown
}

/// Counts by kind, or a plain number.
fn amounts(counts: &Value) -> String {
    match counts.as_i64() {
        Some(number) => number.to_string(),
        None => render::amounts(counts),
    }
}
