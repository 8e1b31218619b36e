//! Arguments of the commands about source code.

use clap::{Args, Subcommand};

/// Bring the code index up to date with a folder
#[derive(Debug, Args)]
pub struct IndexArguments {
    /// The folder; everything below it is one repository
    #[arg(default_value = ".")]
    pub path: String,
    #[command(flatten)]
    pub scope: ScopeArguments,
    /// Believe it when more than half of the files are missing
    #[arg(long)]
    pub accept_missing: bool,
    /// Point the repository at this folder instead of the one it had
    #[arg(long, requires = "repo")]
    pub rebind: bool,
}

/// Keep the code index up to date while files change, until Ctrl-C
#[derive(Debug, Args)]
pub struct WatchArguments {
    /// The folder; everything below it is one repository
    #[arg(default_value = ".")]
    pub path: String,
    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Clone, Debug, Args)]
pub struct ScopeArguments {
    /// Name of the repository; without it, the one it has, or the folder's name
    #[arg(long, value_name = "NAME")]
    pub repo: Option<String>,
    /// Only files in this language (may be repeated)
    #[arg(long = "language", short = 'l', value_name = "LANGUAGE")]
    pub languages: Vec<String>,
    /// Leave out files of tests
    #[arg(long)]
    pub no_tests: bool,
    /// Leave out larger files
    #[arg(long, value_name = "BYTES")]
    pub max_file_size: Option<i64>,
}

#[derive(Debug, Subcommand)]
pub enum CodeCommand {
    /// Find functions, classes and passages by words or names
    Search(CodeSearchArguments),
    /// Show a symbol by its name; the last parts of the name are enough
    Symbol(SymbolArguments),
    /// List who calls a symbol
    Callers(CallsArguments),
    /// List what a symbol calls
    Callees(CallsArguments),
    /// List the repositories
    Repos,
}

#[derive(Debug, Args)]
pub struct CodeSearchArguments {
    /// Words or names
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Only in this repository
    #[arg(long, value_name = "NAME")]
    pub repo: Option<String>,
    /// Only in this language (may be repeated)
    #[arg(long = "language", short = 'l', value_name = "LANGUAGE")]
    pub languages: Vec<String>,
    /// Results at most
    #[arg(long, short = 'n')]
    pub limit: Option<i64>,
}

#[derive(Debug, Args)]
pub struct SymbolArguments {
    /// As the language writes it: `Store.save`, `store::Store`
    pub name: String,
    /// Only in this repository
    #[arg(long, value_name = "NAME")]
    pub repo: Option<String>,
}

#[derive(Debug, Args)]
pub struct CallsArguments {
    /// As the language writes it: `Store.save`, `store::Store`
    pub name: String,
    /// Only symbols of this repository
    #[arg(long, value_name = "NAME")]
    pub repo: Option<String>,
    /// Results at most
    #[arg(long, short = 'n')]
    pub limit: Option<i64>,
}
