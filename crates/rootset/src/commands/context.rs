//! `rootset context`: an agent's context window.

mod analyze;
mod change;
mod collect;
mod files;
mod read;

use clap::Subcommand;
use rootset_api::ContextListSessions;

use crate::arguments::described_by;
use crate::commands::list::PageArguments;
use crate::exit::Failure;
use crate::program::Program;
use analyze::{AnalyzeArguments, TopArguments};
use change::{
    AddSegmentArguments, CompressArguments, ConfigureArguments, FocusArguments, PinArguments, PruneContextArguments,
    RestoreSegmentsArguments, SegmentsArguments, SessionArguments,
};
use collect::CollectArguments;
use files::{ExportContextArguments, ImportContextArguments};
use read::{SearchStashArguments, SegmentArguments, ShowContextArguments};

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List the sessions, most recently used first
    #[command(defer(described_by::<ContextListSessions>))]
    List(PageArguments),
    Import(ImportContextArguments),
    Add(AddSegmentArguments),
    Show(ShowContextArguments),
    Analyze(AnalyzeArguments),
    Collect(CollectArguments),
    Prune(PruneContextArguments),
    Top(TopArguments),
    /// Explain why a segment stays or may leave
    Explain(SegmentArguments),
    Restore(RestoreSegmentsArguments),
    Search(SearchStashArguments),
    Pin(PinArguments),
    /// Unpin segments, so that they may leave the window again
    Unpin(SegmentsArguments),
    Compress(CompressArguments),
    Focus(FocusArguments),
    Configure(ConfigureArguments),
    Export(ExportContextArguments),
    /// Move a session to the trash, its stash included
    Rm(SessionArguments),
}

pub fn run(command: ContextCommand, program: &Program) -> Result<(), Failure> {
    match command {
        ContextCommand::List(arguments) => read::sessions(arguments, program),
        ContextCommand::Import(arguments) => files::import(arguments, program),
        ContextCommand::Add(arguments) => change::add(arguments, program),
        ContextCommand::Show(arguments) => read::show(arguments, program),
        ContextCommand::Analyze(arguments) => analyze::analyze(&arguments, program),
        ContextCommand::Collect(arguments) => collect::run(&arguments, program),
        ContextCommand::Prune(arguments) => change::prune(arguments, program),
        ContextCommand::Top(arguments) => analyze::top(arguments, program),
        ContextCommand::Explain(arguments) => read::explain(arguments, program),
        ContextCommand::Restore(arguments) => change::restore(arguments, program),
        ContextCommand::Search(arguments) => read::search(arguments, program),
        ContextCommand::Pin(arguments) => change::pin(arguments, program),
        ContextCommand::Unpin(arguments) => change::unpin(arguments, program),
        ContextCommand::Compress(arguments) => change::compress(arguments, program),
        ContextCommand::Focus(arguments) => change::focus(arguments, program),
        ContextCommand::Configure(arguments) => change::configure(arguments, program),
        ContextCommand::Export(arguments) => files::export(arguments, program),
        ContextCommand::Rm(arguments) => change::remove(arguments, program),
    }
}
