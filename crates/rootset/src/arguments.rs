//! The global flags and the list of commands, as clap reads them. The arguments of a command are in its file. Their
//! help is the documentation of the request's fields, or their own doc comments for flags that only the command line
//! has.

mod examples;
mod help;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
pub use help::described_by;
use rootset_api::ListTrash;

use crate::commands::add::AddArguments;
use crate::commands::audit::AuditArguments;
use crate::commands::backup::BackupCommand;
use crate::commands::brief::BriefArguments;
use crate::commands::call::CallArguments;
use crate::commands::code::CodeCommand;
use crate::commands::collector::CollectorCommand;
use crate::commands::completions::CompletionsArguments;
use crate::commands::config::ConfigCommand;
use crate::commands::context::ContextCommand;
use crate::commands::daemon::DaemonArguments;
use crate::commands::doctor::DoctorArguments;
use crate::commands::edit::EditArguments;
use crate::commands::entity::EntityCommand;
use crate::commands::forget::ForgetArguments;
use crate::commands::graph::GraphCommand;
use crate::commands::hook::HookArguments;
use crate::commands::hook::switch::HooksCommand;
use crate::commands::import::ImportMemoriesArguments;
use crate::commands::index::IndexArguments;
use crate::commands::install::InstallArguments;
use crate::commands::list::ListArguments;
use crate::commands::list::PageArguments;
use crate::commands::log::LogArguments;
use crate::commands::man::ManArguments;
use crate::commands::mcp::McpArguments;
#[cfg(feature = "local-model")]
use crate::commands::model::ModelCommand;
use crate::commands::prune::PruneArguments;
use crate::commands::receipt::ReceiptCommand;
use crate::commands::remove::RemoveArguments;
use crate::commands::review::ReviewArguments;
use crate::commands::search::SearchArguments;
use crate::commands::secrets::SecretsCommand;
#[cfg(feature = "http")]
use crate::commands::serve::ServeArguments;
use crate::commands::show::ShowArguments;
use crate::commands::stats::StatsArguments;
use crate::commands::supersede::SupersedeArguments;
use crate::commands::token::TokenCommand;
use crate::commands::trust::{TrustArguments, UntrustArguments};
use crate::commands::undo::UndoArguments;
use crate::commands::watch::WatchArguments;
use crate::commands::workspace::WorkspaceCommand;

/// Memory for AI agents, with a garbage collector
#[derive(Debug, Parser)]
#[command(name = "rootset", version, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    #[command(flatten)]
    pub global: GlobalArguments,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArguments {
    /// Database: a path or `postgres://USER@HOST/NAME` [env: ROOTSET_DB]
    #[arg(long, global = true, value_name = "DATABASE")]
    pub db: Option<String>,
    /// Workspace to work in [env: ROOTSET_WORKSPACE]
    #[arg(long, short = 'w', global = true, value_name = "ID")]
    pub workspace: Option<String>,
    /// Configuration file [env: ROOTSET_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<String>,
    /// Print the answer as JSON, errors too
    #[arg(long, global = true)]
    pub json: bool,
    /// Print only the answer, without remarks
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Answer every question with yes
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// Log more to stderr; repeat for even more [env: ROOTSET_LOG]
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(visible_alias = "remember")]
    Add(AddArguments),
    #[command(visible_alias = "recall")]
    Search(SearchArguments),
    List(ListArguments),
    Show(ShowArguments),
    Edit(EditArguments),
    #[command(visible_alias = "remove")]
    Rm(RemoveArguments),
    Undo(UndoArguments),
    Forget(ForgetArguments),
    Review(ReviewArguments),
    Brief(BriefArguments),
    Trust(TrustArguments),
    // The other half of `trust`, whose help names it.
    #[command(hide = true)]
    Untrust(UntrustArguments),
    Supersede(SupersedeArguments),
    Index(IndexArguments),
    Watch(WatchArguments),
    /// Search the code index, look up symbols, list callers and callees
    #[command(subcommand)]
    Code(CodeCommand),
    /// Manage an agent's context window: show it, free space, restore segments
    #[command(subcommand)]
    Context(ContextCommand),
    Prune(PruneArguments),
    /// Check the signed receipt of an erasure
    #[command(subcommand)]
    Receipt(ReceiptCommand),
    Log(LogArguments),
    Audit(AuditArguments),
    /// List what is in the trash, newest first
    #[command(defer(described_by::<ListTrash>))]
    Trash(PageArguments),
    /// Garbage collection: plans, purging, retention, and why something is alive
    #[command(subcommand)]
    Gc(CollectorCommand),
    /// Show the entities that memories mention
    #[command(subcommand)]
    Entity(EntityCommand),
    /// Import or export the graph
    #[command(subcommand)]
    Graph(GraphCommand),
    /// Manage workspaces, which keep memories apart
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Find secrets that are stored, and redact them
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Manage the tokens of the HTTP API
    #[command(subcommand)]
    Token(TokenCommand),
    /// Create, verify and restore backups
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Rebuild the database and free the space of purged data
    Defrag,
    Stats(StatsArguments),
    Doctor(DoctorArguments),
    #[cfg(feature = "http")]
    Serve(ServeArguments),
    Daemon(DaemonArguments),
    Mcp(McpArguments),
    /// Fetch, add, list and remove the models that run inside Rootset
    #[cfg(feature = "local-model")]
    #[command(subcommand)]
    Model(ModelCommand),
    /// Show the settings in force
    #[command(subcommand)]
    Config(ConfigCommand),
    Install(InstallArguments),
    /// Switch off what Rootset does by itself inside agents, and on again
    #[command(subcommand)]
    Hooks(HooksCommand),
    // Clients type it, not people; `rootset hooks` is theirs.
    #[command(hide = true)]
    Hook(HookArguments),
    Import(ImportMemoriesArguments),
    /// See Rootset at work in two minutes, on a temporary database
    Tour,
    Completions(CompletionsArguments),
    // The last line of the help names it.
    #[command(hide = true)]
    Man(ManArguments),
    Call(CallArguments),
}

impl Command {
    /// Programs call it: its answers and errors are JSON without being asked.
    pub fn answers_in_json(&self) -> bool {
        matches!(self, Self::Call(arguments) if arguments.answers_in_json())
    }

    /// An agent is at the other end: remarks for people are lost on it.
    pub fn serves_an_agent(&self) -> bool {
        match self {
            Self::Mcp(_) => true,
            Self::Hook(arguments) => arguments.answers_a_client(),
            _ => false,
        }
    }

    /// It ends when it is told to, not when it has answered.
    pub fn runs_on(&self) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::Serve(_) => true,
            Self::Watch(_) => true,
            Self::Daemon(arguments) => !arguments.once,
            _ => false,
        }
    }
}

/// All commands, with examples in their help.
pub fn command() -> clap::Command {
    examples::shown_by(Arguments::command(), &help::heading("Examples"))
}

pub fn parse(given: &[OsString]) -> Result<Arguments, clap::Error> {
    let matches = help::grouped(command()).try_get_matches_from(given).map_err(harmless)?;
    Arguments::from_arg_matches(&matches)
}

/// Commands that remove something: nobody who mistyped another one is led to them.
const REMOVING: [&str; 7] = ["defrag", "delete", "forget", "prune", "purge", "remove", "rm"];

/// The error without suggestions to remove something.
fn harmless(mut error: clap::Error) -> clap::Error {
    let is_harmless = |name: &String| !REMOVING.contains(&name.as_str());
    let kept = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names.into_iter().filter(is_harmless).collect(),
        Some(ContextValue::String(name)) => Some(name).filter(is_harmless).into_iter().collect(),
        _ => Vec::new(),
    };
    if !kept.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(kept));
    }
    error
}

/// Whether the caller expects JSON, asked when the arguments as a whole cannot be understood.
pub fn wants_json(given: &[OsString]) -> bool {
    const WITH_VALUE: [&str; 4] = ["--db", "--workspace", "-w", "--config"];
    let mut command = None;
    let mut before_end = given.iter().skip(1).take_while(|it| *it != "--");
    while let Some(argument) = before_end.next() {
        let text = argument.to_string_lossy();
        if text == "--json" {
            return true;
        }
        if WITH_VALUE.contains(&text.as_ref()) {
            before_end.next();
        } else if command.is_none() && !text.starts_with('-') {
            command = Some(text);
        }
    }
    command.is_some_and(|command| command == "call")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_finds_no_fault_in_the_arguments() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn json_is_expected_by_flag_or_from_call() {
        let wants = |line: &str| wants_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(wants("rootset list --json --nonsense"));
        assert!(wants("rootset --db x call"));
        assert!(!wants("rootset --db call search x --nonsense"));
        assert!(!wants("rootset search call --nonsense"));
        assert!(!wants("rootset search -- --json"));
    }
}
