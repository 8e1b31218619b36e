//! `rootset rm`.

use clap::Args;
use rootset_api::DeleteMemory;

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::{prompt, render};

/// Move memories to the trash
#[derive(Debug, Args)]
#[command(defer(described_by::<DeleteMemory>))]
pub struct RemoveArguments {
    #[arg(id = "memory_id", value_name = "ID", required = true)]
    memories: Vec<String>,
    #[arg(long)]
    backup: bool,
}

/// Each memory is a removal of its own; one that cannot be removed does not hold up the others.
pub fn run(arguments: RemoveArguments, program: &Program) -> Result<(), Failure> {
    let action = match arguments.memories.as_slice() {
        [one] => format!("move `{}` to the trash", render::one_line(one, 128)),
        several => format!("move {} memories to the trash", several.len()),
    };
    prompt::confirm(program, &action)?;
    let mut failed = None;
    // One backup, before the first of them goes.
    let mut backup = arguments.backup.then_some(true);
    for memory_id in arguments.memories {
        match program.run(DeleteMemory { workspace_id: None, memory_id, backup: backup.take() }) {
            Ok(answer) => program.output.answer(&answer, render::deleted)?,
            Err(error) => {
                program.output.error(&error);
                failed = failed.or(Some(error.code.exit_status()));
            }
        }
    }
    failed.map_or(Ok(()), |status| Err(Failure::Said(status)))
}
