//! Arguments of the commands about entities and graphs.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum EntityCommand {
    /// Show an entity with its relations
    Show {
        /// Id or name
        #[arg(value_name = "ID")]
        entity: String,
    },
    Related(RelatedArguments),
}

/// Walk the graph from one entity
#[derive(Debug, Args)]
pub struct RelatedArguments {
    /// Id or name
    #[arg(value_name = "ID")]
    pub entity: String,
    /// How many relations away (2, from 1 to 5)
    #[arg(long, value_name = "COUNT")]
    pub depth: Option<i64>,
    /// How many entities (20, at most 100)
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub limit: Option<i64>,
}

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    Import(ImportArguments),
    Export(ExportArguments),
}

/// Import entities and relations; no policy ever removes them
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A JSON file with `entities` and `relations`, or `-` for stdin
    pub file: PathBuf,
}

/// Print the whole graph
#[derive(Debug, Args)]
pub struct ExportArguments {
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    pub format: ExportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Json,
    Graphml,
}
