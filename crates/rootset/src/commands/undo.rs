//! `rootset undo`, also as `rootset gc undo`.

use std::fmt::Write;

use rootset_api::ErrorCode;
use rootset_model::RunId;
use rootset_service::ServiceError;
use serde_json::{Value, json};

use crate::arguments::UndoArguments;
use crate::exit::{Failure, STATUS_CALLER};
use crate::render::{self, Table, count, counted, escaped, list, one_line, short, text, with_age};
use crate::session::Session;

pub fn run(arguments: UndoArguments, session: &Session) -> Result<(), Failure> {
    let answer = match arguments.target.as_deref() {
        Some(target) => undo(target, session)?,
        None => {
            let runs = session.call("gc_undo", json!({}))?;
            match list(&runs, "runs").first().filter(|_| arguments.last) {
                Some(newest) => session.call("gc_undo", json!({"run_id": newest["run_id"]}))?,
                None => runs,
            }
        }
    };
    session.output.answer(&answer, render)?;
    if list(&answer, "conflicts").is_empty() { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

/// An id may be a run's or a memory's: nobody should have to know which.
fn undo(target: &str, session: &Session) -> Result<Value, ServiceError> {
    if target.parse::<RunId>().is_ok() {
        match session.call("gc_undo", json!({"run_id": target})) {
            Err(error) if error.code == ErrorCode::NotFound => {}
            outcome => return outcome,
        }
    }
    session.call("gc_undo", json!({"memory_id": target}))
}

fn render(answer: &Value) -> String {
    match answer.get("runs") {
        Some(_) => runs(list(answer, "runs")),
        None => restored(answer),
    }
}

fn runs(runs: &[Value]) -> String {
    if runs.is_empty() {
        return "nothing can be undone\n".to_owned();
    }
    let mut table = Table::new(["RUN", "OPERATION", "BY", "AT", "MEMORIES", "UNDO UNTIL"]);
    for run in runs {
        table.row([
            text(run, "run_id").to_owned(),
            text(run, "operation").to_owned(),
            one_line(text(run, "actor"), 24),
            short(text(run, "at")),
            count(&run["trashed"], "memories").to_string(),
            with_age(text(run, "undo_until")),
        ]);
    }
    table.finish()
}

fn restored(answer: &Value) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    let removed = count(&answer["restored"], "removed");
    match removed {
        0 => line(format!("brought back {}", render::amounts(&answer["restored"]))),
        removed => line(format!("took out {}", counted(removed, "imported row", "imported rows"))),
    }
    for conflict in list(answer, "conflicts") {
        let reason = text(conflict, "reason").replace('_', " ");
        let by = text(conflict, "by");
        let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
        line(render::warning(format!("not brought back: {} ({reason}{by})", escaped(text(conflict, "id")))));
    }
    shown
}
