//! `rootset man`.

use clap::Args;
use rootset_service::ServiceError;

use crate::arguments;
use crate::exit::Failure;
use crate::program::Program;

/// Print a manual page, for `man -l -`
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The command, such as `gc plan`; default: the whole program
    command: Vec<String>,
}

/// The page of one command, in the language of `man`.
pub fn run(arguments: &ManArguments, program: &Program) -> Result<(), Failure> {
    let mut command = arguments::command();
    // Gives every command its full name, as its page is called, and the options that all have.
    command.build();
    for name in &arguments.command {
        let found = command.find_subcommand(name).cloned();
        let unknown = || {
            ServiceError::invalid(format!("no command `rootset {}`", arguments.command.join(" ")))
                .with_hint("`rootset --help` lists the commands")
        };
        command = found.ok_or_else(unknown)?;
    }
    let title = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command).title(title).render(&mut page)?;
    program.output.text(&String::from_utf8_lossy(&page))
}
