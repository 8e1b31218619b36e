//! `rootset context`: an agent's context window.

mod analyze;
mod change;
mod files;
mod read;

use clap::Subcommand;
use rootset_api::ContextListSessions;

use crate::arguments::described_by;
use crate::commands::list::PageArguments;
use crate::exit::Failure;
use crate::session::Session;
use analyze::{AnalyzeArguments, TopArguments};
use change::{
    AddSegmentArguments, CompressArguments, ConfigureArguments, FocusArguments, PinArguments, PruneContextArguments,
    RestoreSegmentsArguments, SegmentsArguments, SessionArguments,
};
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

pub fn run(command: ContextCommand, session: &Session) -> Result<(), Failure> {
    match command {
        ContextCommand::List(arguments) => read::sessions(arguments, session),
        ContextCommand::Import(arguments) => files::import(arguments, session),
        ContextCommand::Add(arguments) => change::add(arguments, session),
        ContextCommand::Show(arguments) => read::show(arguments, session),
        ContextCommand::Analyze(arguments) => analyze::analyze(&arguments, session),
        ContextCommand::Prune(arguments) => change::prune(arguments, session),
        ContextCommand::Top(arguments) => analyze::top(arguments, session),
        ContextCommand::Explain(arguments) => read::explain(arguments, session),
        ContextCommand::Restore(arguments) => change::restore(arguments, session),
        ContextCommand::Search(arguments) => read::search(arguments, session),
        ContextCommand::Pin(arguments) => change::pin(arguments, session),
        ContextCommand::Unpin(arguments) => change::unpin(arguments, session),
        ContextCommand::Compress(arguments) => change::compress(arguments, session),
        ContextCommand::Focus(arguments) => change::focus(arguments, session),
        ContextCommand::Configure(arguments) => change::configure(arguments, session),
        ContextCommand::Export(arguments) => files::export(arguments, session),
        ContextCommand::Rm(arguments) => change::remove(arguments, session),
    }
}
