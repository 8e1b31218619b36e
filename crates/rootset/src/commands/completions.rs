//! `rootset completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Failure;
use crate::session::Session;

/// Print a completion script
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell to print it for
    shell: Shell,
}

pub fn run(arguments: CompletionsArguments, session: &Session) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "rootset", &mut script);
    session.output.text(&String::from_utf8_lossy(&script))
}
