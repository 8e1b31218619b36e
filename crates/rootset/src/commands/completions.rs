//! `rootset completions`.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::exit::Failure;
use crate::session::Session;

pub fn run(arguments: CompletionsArguments, session: &Session) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "rootset", &mut script);
    session.output.text(&String::from_utf8_lossy(&script))
}
