//! `rootset undo`, also as `rootset gc undo`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{ErrorCode, GcUndo, RunAnswer, UndoAnswer};
use rootset_model::RunId;
use rootset_service::ServiceError;

use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render::{self, Column, Table, amounts, counted, escaped, one_line};

/// Shorter ones would often be ambiguous.
const PREFIX_CHARS_MIN: usize = 4;

/// Restore what was removed; without an id, list what can be undone
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// The id of a run (its beginning is enough) or joint plan, or the id or former name of a memory
    #[arg(value_name = "RUN|MEMORY")]
    target: Option<String>,
    /// Undo the newest run that can be undone
    #[arg(long, conflicts_with = "target")]
    last: bool,
    /// Undo all rounds of a drain and stop it
    #[arg(long, value_name = "ID", conflicts_with_all = ["target", "last"])]
    drain: Option<String>,
}

pub fn run(arguments: UndoArguments, program: &Program) -> Result<(), Failure> {
    let is_drain = arguments.drain.is_some();
    let answer = match (arguments.target, arguments.drain) {
        (Some(target), _) => undo(target, program)?,
        (None, Some(drain)) => program.run(GcUndo { drain_id: Some(drain), ..GcUndo::default() })?,
        (None, None) => {
            let listed = program.run(GcUndo::default())?;
            match listed.runs.iter().flatten().next().filter(|_| arguments.last) {
                Some(newest) => program.run(of_run(newest.run_id.to_string()))?,
                None => listed,
            }
        }
    };
    program.output.answer(&answer, render)?;
    if is_drain && !program.output.in_json() {
        program.output.talk("the drain is stopped: nothing more of its source goes until a policy changes");
    }
    if answer.conflicts.iter().flatten().next().is_some() { Err(Failure::Said(STATUS_CALLER)) } else { Ok(()) }
}

/// An id may be a run's or a memory's: nobody should have to know which.
fn undo(target: String, program: &Program) -> Result<UndoAnswer, ServiceError> {
    if let Some(run) = run_named(&target, program)? {
        match program.run(of_run(run.to_string())) {
            Err(error) if error.code == ErrorCode::NotFound => {}
            outcome => return outcome,
        }
    }
    program.run(GcUndo { memory_id: Some(target), ..GcUndo::default() })
}

/// The run of an id, or of the beginning of one, as tables show it. `None`: it is something else, a memory's name perhaps.
pub fn run_named(text: &str, program: &Program) -> Result<Option<RunId>, ServiceError> {
    if let Ok(run) = text.parse() {
        return Ok(Some(run));
    }
    if text.len() < PREFIX_CHARS_MIN || !text.chars().all(|it| it.is_ascii_hexdigit() || it == '-') {
        return Ok(None);
    }
    let listed = program.run(GcUndo::default())?;
    let begins = |run: &RunId| run.to_string().starts_with(&text.to_ascii_lowercase());
    let mut found = listed.runs.into_iter().flatten().map(|run| run.run_id).filter(begins);
    let first = found.next();
    if found.next().is_some() {
        let message = format!("the ids of several runs begin with `{text}`");
        return Err(ServiceError::invalid(message).with_hint("give more of the id; `rootset undo` lists the runs"));
    }
    Ok(first)
}

fn of_run(run: String) -> GcUndo {
    GcUndo { run_id: Some(run), ..GcUndo::default() }
}

fn render(answer: &UndoAnswer) -> String {
    match &answer.runs {
        Some(listed) => runs(listed),
        None => restored(answer),
    }
}

/// Enough to tell one run from another.
const NAMES_CHARS: usize = 160;

fn runs(runs: &[RunAnswer]) -> String {
    if runs.is_empty() {
        return "nothing can be undone; `rootset log` shows what was changed\n".to_owned();
    }
    let mut table = Table::new([
        Column::id("RUN"),
        Column::fixed("OPERATION"),
        Column::name("BY").spare(),
        Column::time("AT"),
        Column::fixed("MEMORIES"),
        Column::text("NAMES").spare(),
        Column::until("UNDO UNTIL"),
        Column::id("DRAIN").spare(),
    ]);
    for run in runs {
        let drain = run.drain_id.map(|drain| drain.to_string()).unwrap_or_default();
        table.row([
            run.run_id.to_string(),
            run.operation.clone(),
            one_line(&run.actor, 24),
            run.at.to_string(),
            run.trashed.get("memories").to_string(),
            one_line(&run.names.as_deref().unwrap_or_default().join(", "), NAMES_CHARS),
            run.undo_until.map(|until| until.to_string()).unwrap_or_default(),
            drain,
        ]);
    }
    table.finish()
}

fn restored(answer: &UndoAnswer) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    if let Some(restored) = &answer.restored {
        line(match restored.get("removed") {
            0 => format!("restored {}", amounts(restored).in_words()),
            removed => format!("removed {}", counted(removed, "imported row", "imported rows")),
        });
    }
    for part in answer.parts.iter().flatten() {
        let workspace = escaped(&part.workspace_id);
        match (&part.restored, &part.problem) {
            (Some(restored), _) => line(format!("  {workspace}: {}", amounts(restored).in_words())),
            (None, problem) => {
                let problem = escaped(problem.as_deref().unwrap_or_default());
                line(render::warning(format!("  {workspace}: {problem}")));
            }
        }
    }
    for conflict in answer.conflicts.iter().flatten() {
        let reason = conflict.reason.replace('_', " ");
        let by = conflict.by.map(|by| format!(" by {by}")).unwrap_or_default();
        line(render::warning(format!("not restored: {} ({reason}{by})", escaped(&conflict.id))));
    }
    shown
}
