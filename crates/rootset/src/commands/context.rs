//! `rootset context`: an agent's context window.

mod analyze;
mod change;
mod files;
mod read;

use crate::arguments::ContextCommand;
use crate::exit::Failure;
use crate::session::Session;

pub fn run(command: ContextCommand, session: &Session) -> Result<(), Failure> {
    match command {
        ContextCommand::List(arguments) => read::sessions(&arguments, session),
        ContextCommand::Import(arguments) => files::import(arguments, session),
        ContextCommand::Add(arguments) => change::add(arguments, session),
        ContextCommand::Show(arguments) => read::show(&arguments, session),
        ContextCommand::Analyze(arguments) => analyze::analyze(&arguments, session),
        ContextCommand::Prune(arguments) => change::prune(&arguments, session),
        ContextCommand::Top(arguments) => analyze::top(&arguments.session, arguments.limit, session),
        ContextCommand::Explain(arguments) => read::explain(&arguments.session, &arguments.segment, session),
        ContextCommand::Restore(arguments) => change::restore(&arguments, session),
        ContextCommand::Search(arguments) => read::search(arguments, session),
        ContextCommand::Pin(arguments) => change::pin(&arguments, session),
        ContextCommand::Unpin(arguments) => change::unpin(&arguments, session),
        ContextCommand::Compress(arguments) => change::compress(&arguments, session),
        ContextCommand::Focus(arguments) => change::focus(&arguments, session),
        ContextCommand::Configure(arguments) => change::configure(&arguments, session),
        ContextCommand::Export(arguments) => files::export(&arguments, session),
        ContextCommand::Rm(arguments) => change::remove(&arguments.session, session),
    }
}
