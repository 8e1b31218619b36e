//! `rootset graph`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rootset_api::{ExportGraph, ExportedGraph, GraphFormat, ImportGraph, ImportedGraph, Request};
use rootset_service::ServiceError;

use super::object;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::input;
use crate::program::Program;
use crate::render::counted;

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    Import(ImportArguments),
    Export(ExportArguments),
}

/// Import entities and relations; no policy ever removes them
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A JSON file with `entities` and `relations`, or `-` for stdin
    file: PathBuf,
}

/// Print the whole graph
#[derive(Debug, Args)]
#[command(defer(described_by::<ExportGraph>))]
pub struct ExportArguments {
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    format: ExportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Json,
    Graphml,
}

pub fn run(command: GraphCommand, program: &Program) -> Result<(), Failure> {
    match command {
        GraphCommand::Import(arguments) => {
            let request = object("FILE", &input::read_file(&arguments.file)?)?;
            let answer = program.run(ImportGraph::parse(request.into()).map_err(ServiceError)?)?;
            program.output.answer(&answer, imported)
        }
        GraphCommand::Export(arguments) => {
            let format = match arguments.format {
                ExportFormat::Json => GraphFormat::Json,
                ExportFormat::Graphml => GraphFormat::Graphml,
            };
            let answer = program.run(ExportGraph { workspace_id: None, format: Some(format) })?;
            program.output.answer(&answer, exported)
        }
    }
}

fn imported(answer: &ImportedGraph) -> String {
    format!(
        "imported {}, {}\nundo: rootset undo {}\n",
        counted(answer.entities, "entity", "entities"),
        counted(answer.relations, "relation", "relations"),
        answer.run_id
    )
}

/// A document for a file, not for reading: as it is.
fn exported(answer: &ExportedGraph) -> String {
    match &answer.graphml {
        Some(document) => document.clone(),
        None => serde_json::to_string_pretty(answer).expect("an answer is always JSON") + "\n",
    }
}
