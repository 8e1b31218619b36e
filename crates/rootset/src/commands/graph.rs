//! `rootset graph`.

use serde_json::{Value, json};

use super::object;
use crate::arguments::{ExportFormat, GraphCommand};
use crate::exit::Failure;
use crate::input;
use crate::render::{count, counted, text};
use crate::session::Session;

pub fn run(command: GraphCommand, session: &Session) -> Result<(), Failure> {
    match command {
        GraphCommand::Import(arguments) => {
            let request = object("FILE", &input::read_file(&arguments.file)?)?;
            let answer = session.call("import_graph", request)?;
            session.output.answer(&answer, imported)
        }
        GraphCommand::Export(arguments) => {
            let format = match arguments.format {
                ExportFormat::Json => "json",
                ExportFormat::Graphml => "graphml",
            };
            let answer = session.call("export_graph", json!({"format": format}))?;
            session.output.answer(&answer, exported)
        }
    }
}

fn imported(answer: &Value) -> String {
    format!(
        "imported {}, {}\nundo: rootset undo {}\n",
        counted(count(answer, "entities"), "entity", "entities"),
        counted(count(answer, "relations"), "relation", "relations"),
        text(answer, "run_id")
    )
}

/// A document for a file, not for reading: as it is.
fn exported(answer: &Value) -> String {
    match answer.get("graphml").and_then(Value::as_str) {
        Some(document) => document.to_owned(),
        None => format!("{answer:#}\n"),
    }
}
