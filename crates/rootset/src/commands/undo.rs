//! `rootset undo`, also as `rootset gc undo`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{ErrorCode, GcUndo, RunAnswer, UndoAnswer};
use rootset_model::RunId;
use rootset_service::ServiceError;

use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render::{self, Table, amounts, counted, escaped, one_line, short, with_age};

/// Restore what was removed; without an id, list what can be undone
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// The id of a run or joint plan, or the id or former name of a memory
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
    if target.parse::<RunId>().is_ok() {
        match program.run(of_run(target.clone())) {
            Err(error) if error.code == ErrorCode::NotFound => {}
            outcome => return outcome,
        }
    }
    program.run(GcUndo { memory_id: Some(target), ..GcUndo::default() })
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

fn runs(runs: &[RunAnswer]) -> String {
    if runs.is_empty() {
        return "nothing can be undone\n".to_owned();
    }
    // The ids of drains take room that most lists do not need.
    let has_drains = runs.iter().any(|run| run.drain_id.is_some());
    let headings = ["RUN", "OPERATION", "BY", "AT", "MEMORIES", "UNDO UNTIL"];
    let mut table = Table::new(headings.into_iter().chain(has_drains.then_some("DRAIN")));
    for run in runs {
        let drain = run.drain_id.map(|drain| drain.to_string()).unwrap_or_default();
        let cells = [
            run.run_id.to_string(),
            run.operation.clone(),
            one_line(&run.actor, 24),
            short(run.at),
            run.trashed.get("memories").to_string(),
            run.undo_until.map(with_age).unwrap_or_default(),
        ];
        table.row(cells.into_iter().chain(has_drains.then_some(drain)));
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
