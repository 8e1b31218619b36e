//! Arguments of the commands that remove, bring back, and explain.

use clap::{Args, Subcommand};

use super::memory::PageArguments;

/// Bring removed things back; without an id, list what can be undone
#[derive(Debug, Args)]
pub struct UndoArguments {
    /// A run, or a memory by id or by the name it had
    #[arg(value_name = "RUN|MEMORY")]
    pub target: Option<String>,
}

/// Find everything that matches, show it, and remove it
#[derive(Debug, Args)]
pub struct ForgetArguments {
    /// Words such as `project Falcon`; identifiers such as `alice@acme.io` match exactly
    pub query: Vec<String>,
    /// Only with this tag (may be repeated: all of them)
    #[arg(long = "tag", short, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only of this source
    #[arg(long)]
    pub source: Option<String>,
    /// Only written by this one
    #[arg(long, value_name = "NAME")]
    pub written_by: Option<String>,
    /// Only created after
    #[arg(long, value_name = "TIME")]
    pub after: Option<String>,
    /// Only created before
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Look among `memories`, `revisions`, `entities` or `code` (may be repeated)
    #[arg(long = "kind", value_name = "KIND")]
    pub kinds: Vec<String>,
    /// Take pinned memories too
    #[arg(long)]
    pub include_pinned: bool,
    /// Erase for good instead of moving to the trash
    #[arg(long)]
    pub purge: bool,
    /// Go on although a limit is exceeded
    #[arg(long)]
    pub allow_large: bool,
    /// Only show what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub enum CollectorCommand {
    Plan(PlanArguments),
    Apply(ApplyArguments),
    Undo(UndoArguments),
    Purge(PurgeArguments),
    /// Say why something is alive, or why it is not
    Explain {
        /// Any id, or a memory's name
        id: String,
    },
}

/// Show a stored plan
#[derive(Debug, Args)]
pub struct PlanArguments {
    #[arg(value_name = "PLAN")]
    pub plan: String,
    #[command(flatten)]
    pub page: PageArguments,
}

/// Apply a reviewed plan
#[derive(Debug, Args)]
pub struct ApplyArguments {
    #[arg(value_name = "PLAN")]
    pub plan: String,
    /// An item to keep, by id (may be repeated)
    #[arg(long, value_name = "ID")]
    pub exclude: Vec<String>,
    /// Go on although a limit is exceeded
    #[arg(long)]
    pub allow_large: bool,
}

/// Remove trash for good
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct PurgeArguments {
    /// The run whose trash to remove
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Everything that has been in the trash for longer: `7d`, `24h`; `0s` is all of it
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
}
