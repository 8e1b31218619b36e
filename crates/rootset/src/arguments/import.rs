//! Arguments of `rootset import`.

use std::path::PathBuf;

use clap::Args;

/// Bring memories from elsewhere: shows what would be added, then asks
#[derive(Debug, Args)]
pub struct ImportMemoriesArguments {
    /// The JSON lines of @modelcontextprotocol/server-memory (`-` for stdin), or the folder of a backup
    pub file: PathBuf,
    /// Of a backup: the workspace to take out of it
    #[arg(long, value_name = "ID")]
    pub from: Option<String>,
    /// Only show what would be added
    #[arg(long)]
    pub dry_run: bool,
}
