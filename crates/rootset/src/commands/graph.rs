//! `rootset graph`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rootset_api::{ExportGraph, ExportedGraph, GraphFormat, ImportGraph, ImportedGraph, Request};
use rootset_model::limits::IMPORT_ROWS_MAX;
use rootset_service::ServiceError;

use super::object;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::input;
use crate::program::Program;
use crate::render::{counted, escaped_in_json};

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    Import(ImportArguments),
    Export(ExportArguments),
}

/// Import entities and relations; no policy ever removes them
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A JSON file with `entities` and `relations`, such as an export, or `-` for stdin
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
            for part in parts(ImportGraph::parse(request.into()).map_err(ServiceError)?) {
                program.output.answer(&program.run(part)?, imported)?;
            }
            Ok(())
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

/// An export may have more rows than one request takes. Entities come first, so that relations find them.
fn parts(mut whole: ImportGraph) -> Vec<ImportGraph> {
    if whole.entities.len() + whole.relations.len() <= IMPORT_ROWS_MAX {
        return vec![whole];
    }
    let (entities, relations) = (std::mem::take(&mut whole.entities), std::mem::take(&mut whole.relations));
    let of_entities = entities.chunks(IMPORT_ROWS_MAX).map(|it| ImportGraph { entities: it.to_vec(), ..whole.clone() });
    let of_relations =
        relations.chunks(IMPORT_ROWS_MAX).map(|it| ImportGraph { relations: it.to_vec(), ..whole.clone() });
    of_entities.chain(of_relations).collect()
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
        None => escaped_in_json(&serde_json::to_string_pretty(answer).expect("an answer is always JSON")) + "\n",
    }
}

#[cfg(test)]
mod tests {
    use rootset_api::{EntityInput, RelationInput};

    use super::*;

    #[test]
    fn a_large_export_is_imported_in_parts_with_entities_first() {
        let whole = ImportGraph {
            entities: vec![EntityInput::default(); IMPORT_ROWS_MAX + 1],
            relations: vec![RelationInput::default(); 2],
            ..ImportGraph::default()
        };
        let sizes: Vec<_> = parts(whole).iter().map(|it| (it.entities.len(), it.relations.len())).collect();
        assert_eq!(sizes, [(IMPORT_ROWS_MAX, 0), (1, 0), (0, 2)]);
    }
}
