//! Arguments of the commands about source code.

use clap::{Args, Subcommand};

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
