//! Arguments of the commands that remove, bring back, and explain.

use clap::{Args, Subcommand};
use rootset_api::StrategyChoice;

use super::memory::PageArguments;
use crate::commands::retention::RetentionCommand;
use crate::commands::undo::UndoArguments;

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

/// Find garbage, show it, and remove it
#[derive(Debug, Args)]
pub struct PruneArguments {
    #[arg(long, value_name = "STRATEGY", conflicts_with = "plan", help = strategies())]
    pub strategy: Option<String>,
    /// Apply this plan, from an earlier preview
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<String>,
    /// An item to keep, by id (may be repeated)
    #[arg(long, value_name = "ID")]
    pub exclude: Vec<String>,
    /// Go on although a limit is exceeded
    #[arg(long)]
    pub allow_large: bool,
    /// Only show what would be removed
    #[arg(long)]
    pub dry_run: bool,
}

fn strategies() -> String {
    StrategyChoice::listed(|choice| {
        let default = if choice == StrategyChoice::default() { " (the default)" } else { "" };
        format!("`{}`{default}", choice.word())
    })
}

/// Run the collector's scheduler until it is stopped
#[derive(Debug, Args)]
pub struct DaemonArguments {
    /// Do what is due now and end, for use from cron
    #[arg(long)]
    pub once: bool,
    /// Accept the time of this machine after its clock has jumped
    #[arg(long)]
    pub trust_clock: bool,
}

#[derive(Debug, Subcommand)]
pub enum CollectorCommand {
    Plan(PlanArguments),
    Apply(ApplyArguments),
    Undo(UndoArguments),
    Purge(PurgeArguments),
    /// Live and trashed memories, last runs, and what could be reclaimed
    Status,
    /// How long memories are kept
    #[command(subcommand)]
    Retention(RetentionCommand),
    /// Say why something is alive, or why it is not
    Explain {
        /// Any id, or a memory's name
        id: String,
    },
}

/// Find garbage and make a plan of it, or show a plan that was made before
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// Strategies (all of them when none is named), or the id of a plan
    #[arg(value_name = "STRATEGY|PLAN")]
    pub what: Vec<String>,
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
