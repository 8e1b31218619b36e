//! `rootset supersede`.

use clap::Args;
use rootset_api::SupersedeMemory;

use crate::exit::Failure;
use crate::render::escaped;
use crate::session::Session;

/// Say that one memory is replaced by another
#[derive(Debug, Args)]
pub struct SupersedeArguments {
    /// The memory that is no longer true, by id or name
    old: String,
    /// The memory that replaces it, by id or name
    new: String,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

pub fn run(arguments: SupersedeArguments, session: &Session) -> Result<(), Failure> {
    let (memory_id, by, reason) = (arguments.old, arguments.new, arguments.reason);
    let answer = session.run(SupersedeMemory { workspace_id: None, memory_id, by, reason })?;
    session.output.answer(&answer, |answer| {
        let chain: Vec<String> = answer.chain.iter().map(|name| escaped(name)).collect();
        format!("superseded: {}\n", chain.join(" → "))
    })
}
