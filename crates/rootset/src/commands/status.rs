//! `rootset gc status`.

use std::fmt::Write;

use rootset_api::{DiskAnswer, GcStatus, RoundsAnswer, StatusAnswer, VectorsAnswer};

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, amounts, bytes, counted, escaped, one_line, with_age};

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
    let rounds = &status.rounds;
    line("garbage", garbage(rounds));
    line("rounds", last_and_next(rounds));
    for source in rounds.sources.iter().flatten() {
        line(&source.state, render::waiting_source(source));
        if let Some(command) = render::what_to_type(source, &status.workspace_id) {
            line("", command);
        }
    }
    for run in status.undo_ends_soon.iter().flatten() {
        let (memories, until) = (run.trashed.get("memories"), run.undo_until.map(with_age).unwrap_or_default());
        let memories = counted(memories, "memory", "memories");
        line("undo ends", format!("{until}: {memories} of rootset undo {}", run.run_id));
    }
    if let Some(removed) = &status.removed_by_agents {
        let (memories, until) = (counted(removed.count, "memory", "memories"), with_age(removed.undo_until));
        let names: Vec<String> = removed.names.iter().map(|name| one_line(name, 40)).collect();
        let more = if removed.count > removed.names.len() as i64 { ", …" } else { "" };
        line("by agents", format!("{memories} removed: {}{more}; the first undo ends {until}", names.join(", ")));
    }
    if let Some(vectors) = &status.vectors {
        line("vectors", progress(vectors));
    }
    if !status.last_runs.is_empty() {
        let mut table = Table::new([
            Column::id("RUN"),
            Column::fixed("OPERATION"),
            Column::name("BY"),
            Column::time("AT"),
            Column::fixed("MEMORIES"),
        ]);
        for run in &status.last_runs {
            table.row([
                run.run_id.to_string(),
                run.operation.clone(),
                one_line(&run.actor, 24),
                run.at.to_string(),
                run.trashed.get("memories").to_string(),
            ]);
        }
        shown.push('\n');
        shown.push_str(&table.finish());
    }
    shown
}

fn progress(vectors: &VectorsAnswer) -> String {
    let VectorsAnswer { embedder, chunks, embedded, last_error } = vectors;
    let (of, by) = (counted(*chunks, "chunk", "chunks"), escaped(embedder));
    match (last_error, chunks - embedded) {
        (Some(error), _) => format!("{embedded} of {of} by {by}; the last attempt failed: {}", escaped(error)),
        (None, 0) => format!("all of {of} by {by}"),
        (None, _) => {
            format!("{embedded} of {of} by {by}; `rootset serve` and `rootset daemon` make the rest in the background")
        }
    }
}

fn garbage(rounds: &RoundsAnswer) -> String {
    match (rounds.garbage, rounds.last_at) {
        (_, None) => "not known: no round has run yet; `rootset gc plan all` looks now".to_owned(),
        (0, Some(_)) => "none in the last round".to_owned(),
        (found, Some(_)) => format!("{} in the last round, still there", counted(found, "memory", "memories")),
    }
}

fn last_and_next(rounds: &RoundsAnswer) -> String {
    let last = rounds.last_at.map_or_else(|| "none yet".to_owned(), |at| format!("last {}", with_age(at)));
    let next = rounds.next_at.map_or_else(
        || "the scheduler is off (`gc.enabled` is false)".to_owned(),
        |at| format!("next {}", with_age(at)),
    );
    format!("{last}; {next}")
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
