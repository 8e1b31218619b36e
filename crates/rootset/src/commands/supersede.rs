//! `rootset supersede`.

use rootset_api::SupersedeMemory;

use crate::arguments::SupersedeArguments;
use crate::exit::Failure;
use crate::render::escaped;
use crate::session::Session;

pub fn run(arguments: SupersedeArguments, session: &Session) -> Result<(), Failure> {
    let (memory_id, by, reason) = (arguments.old, arguments.new, arguments.reason);
    let answer = session.run(SupersedeMemory { workspace_id: None, memory_id, by, reason })?;
    session.output.answer(&answer, |answer| {
        let chain: Vec<String> = answer.chain.iter().map(|name| escaped(name)).collect();
        format!("superseded: {}\n", chain.join(" → "))
    })
}
