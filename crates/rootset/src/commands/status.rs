//! `rootset gc status`.

use std::fmt::Write;

use rootset_api::{DiskAnswer, GcStatus, StatusAnswer};

use crate::exit::Failure;
use crate::render::{self, Table, bytes, one_line, short};
use crate::session::Session;

pub fn run(session: &Session) -> Result<(), Failure> {
    let answer = session.run(GcStatus::default())?;
    session.output.answer(&answer, render)?;
    if answer.defrag_recommended == Some(true) && !session.output.in_json() {
        session
            .output
            .talk(&render::warning("much was purged since the last time: `rootset defrag` gives the space back"));
    }
    Ok(())
}

fn render(answer: &StatusAnswer) -> String {
    let mut shown = String::new();
    let mut line = |label: &str, value: String| {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<14}"))).expect("writing to a string cannot fail");
    };
    let (live, trash) = (&answer.live, &answer.trash);
    line("live", amounts(live.memories, live.segments, live.sessions));
    line("trash", amounts(trash.memories, trash.segments, trash.sessions));
    line("unclassifiable", answer.unclassifiable.to_string());
    let share = answer.dead_fraction.unwrap_or_default() * 100.0;
    line("dead", format!("{share:.0} % of the chunks since the last defragmentation"));
    line("disk", sizes(&answer.disk));
    if !answer.last_runs.is_empty() {
        let mut table = Table::new(["RUN", "OPERATION", "BY", "AT", "MEMORIES"]);
        for run in &answer.last_runs {
            table.row([
                run.run_id.to_string(),
                run.operation.clone(),
                one_line(&run.actor, 24),
                short(run.at),
                run.trashed.memories.to_string(),
            ]);
        }
        shown.push('\n');
        shown.push_str(&table.finish());
    }
    shown
}

fn amounts(memories: i64, segments: i64, sessions: i64) -> String {
    render::listed([
        (memories, "memory", "memories"),
        (segments, "segment", "segments"),
        (sessions, "session", "sessions"),
    ])
}

fn sizes(disk: &DiskAnswer) -> String {
    let sizes = [
        (disk.db, "db"),
        (disk.wal, "wal"),
        (Some(disk.trash), "trash"),
        (disk.reclaimable, "reclaimable"),
        (disk.free, "free"),
    ];
    let shown = sizes.into_iter().filter_map(|(size, what)| Some(format!("{} {what}", bytes(size?))));
    shown.collect::<Vec<_>>().join(", ")
}
