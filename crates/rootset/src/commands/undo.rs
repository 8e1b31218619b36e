//! `rootset undo`, also as `rootset gc undo`.

use std::fmt::Write;

use rootset_api::{ErrorCode, GcUndo, Restored, RunAnswer, UndoAnswer};
use rootset_model::RunId;
use rootset_service::ServiceError;

use crate::arguments::UndoArguments;
use crate::exit::{Failure, STATUS_CALLER};
use crate::render::{self, Table, counted, escaped, one_line, short, with_age};
use crate::session::Session;

pub fn run(arguments: UndoArguments, session: &Session) -> Result<(), Failure> {
    let answer = match arguments.target {
        Some(target) => undo(target, session)?,
        None => {
            let answer = session.run(GcUndo::default())?;
            match answer.runs.iter().flatten().next().filter(|_| arguments.last) {
                Some(newest) => undo_run(newest.run_id.to_string(), session)?,
                None => answer,
            }
        }
    };
    session.output.answer(&answer, render)?;
    if answer.conflicts.iter().flatten().next().is_none() { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

/// An id may be a run's or a memory's: nobody should have to know which.
fn undo(target: String, session: &Session) -> Result<UndoAnswer, ServiceError> {
    if target.parse::<RunId>().is_ok() {
        match undo_run(target.clone(), session) {
            Err(error) if error.code == ErrorCode::NotFound => {}
            outcome => return outcome,
        }
    }
    session.run(GcUndo { memory_id: Some(target), ..GcUndo::default() })
}

fn undo_run(run: String, session: &Session) -> Result<UndoAnswer, ServiceError> {
    session.run(GcUndo { run_id: Some(run), ..GcUndo::default() })
}

fn render(answer: &UndoAnswer) -> String {
    match &answer.runs {
        Some(runs) => table_of(runs),
        None => restored(answer),
    }
}

fn table_of(runs: &[RunAnswer]) -> String {
    if runs.is_empty() {
        return "nothing can be undone\n".to_owned();
    }
    let mut table = Table::new(["RUN", "OPERATION", "BY", "AT", "MEMORIES", "UNDO UNTIL"]);
    for run in runs {
        table.row([
            run.run_id.to_string(),
            run.operation.clone(),
            one_line(&run.actor, 24),
            short(run.at),
            run.trashed.memories.to_string(),
            run.undo_until.map(with_age).unwrap_or_default(),
        ]);
    }
    table.finish()
}

fn restored(answer: &UndoAnswer) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    if let Some(restored) = &answer.restored {
        line(match restored.removed.unwrap_or_default() {
            0 => format!("brought back {}", amounts(restored)),
            removed => format!("took out {}", counted(removed, "imported row", "imported rows")),
        });
    }
    for conflict in answer.conflicts.iter().flatten() {
        let reason = conflict.reason.replace('_', " ");
        let by = conflict.by.map(|by| format!(" by {by}")).unwrap_or_default();
        line(render::warning(format!("not brought back: {} ({reason}{by})", escaped(&conflict.id))));
    }
    shown
}

fn amounts(restored: &Restored) -> String {
    render::listed([
        (restored.memories, "memory", "memories"),
        (restored.revisions.unwrap_or_default(), "revision", "revisions"),
        (restored.untracked.unwrap_or_default(), "imported row", "imported rows"),
        (restored.segments.unwrap_or_default(), "segment", "segments"),
        (restored.sessions.unwrap_or_default(), "session", "sessions"),
        (restored.workspaces.unwrap_or_default(), "workspace", "workspaces"),
    ])
}
