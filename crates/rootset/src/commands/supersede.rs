//! `rootset supersede`.

use clap::Args;
use rootset_api::SupersedeMemory;

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::escaped;

/// Mark one memory as replaced by another
#[derive(Debug, Args)]
#[command(defer(described_by::<SupersedeMemory>))]
pub struct SupersedeArguments {
    #[arg(id = "memory_id", value_name = "OLD")]
    old: String,
    #[arg(id = "by", value_name = "NEW")]
    new: String,
    #[arg(long)]
    reason: Option<String>,
}

pub fn run(arguments: SupersedeArguments, program: &Program) -> Result<(), Failure> {
    let (memory_id, by, reason) = (arguments.old, arguments.new, arguments.reason);
    let answer = program.run(SupersedeMemory { memory_id, by, reason, ..SupersedeMemory::default() })?;
    program.output.answer(&answer, |answer| {
        let chain: Vec<String> = answer.chain.iter().map(|name| escaped(name)).collect();
        format!("superseded: {}\n", chain.join(" → "))
    })
}
