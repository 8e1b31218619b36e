//! `rootset completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Failure;
use crate::program::Program;

/// Print a completion script
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell to print it for
    shell: Shell,
}

pub fn run(arguments: CompletionsArguments, program: &Program) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "rootset", &mut script);
    program.output.text(&String::from_utf8_lossy(&script))
}
