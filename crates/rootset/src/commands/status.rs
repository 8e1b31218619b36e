//! `rootset gc status`.

use std::fmt::Write;

use rootset_api::{DiskAnswer, GcStatus, StatusAnswer};

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Table, amounts, bytes, one_line, short};

pub fn run(program: &Program) -> Result<(), Failure> {
    let status = program.run(GcStatus::default())?;
    program.output.answer(&status, render)?;
    if status.defrag_recommended == Some(true) && !program.output.in_json() {
        program
            .output
            .talk(&render::warning("much was purged since the last defragmentation: `rootset defrag` frees the space"));
    }
    Ok(())
}

fn render(status: &StatusAnswer) -> String {
    let mut shown = String::new();
    let mut line = |label: &str, value: String| {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<14}"))).expect("writing to a string cannot fail");
    };
    line("live", amounts(&status.live.counts).in_words());
    line("trash", amounts(&status.trash.counts).in_words());
    line("unclassifiable", status.unclassifiable.to_string());
    let share = status.dead_fraction.unwrap_or_default() * 100.0;
    line("dead", format!("{share:.0} % of the chunks since the last defragmentation"));
    line("disk", sizes(&status.disk));
    if let Some(waiting) = &status.waiting {
        line("waiting", waiting.clone());
    }
    if !status.last_runs.is_empty() {
        let mut table = Table::new(["RUN", "OPERATION", "BY", "AT", "MEMORIES"]);
        for run in &status.last_runs {
            table.row([
                run.run_id.to_string(),
                run.operation.clone(),
                one_line(&run.actor, 24),
                short(run.at),
                run.trashed.get("memories").to_string(),
            ]);
        }
        shown.push('\n');
        shown.push_str(&table.finish());
    }
    shown
}

fn sizes(disk: &DiskAnswer) -> String {
    let sizes = [
        ("db", disk.db),
        ("wal", disk.wal),
        ("trash", Some(disk.trash)),
        ("reclaimable", disk.reclaimable),
        ("free", disk.free),
    ];
    let known = sizes.into_iter().filter_map(|(name, size)| Some(format!("{} {name}", bytes(size?))));
    known.collect::<Vec<_>>().join(", ")
}
