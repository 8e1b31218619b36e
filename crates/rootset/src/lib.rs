//! The `rootset` program: one command, one operation of the service, one answer.
//!
//! Thin on purpose: every rule lives in the service. What is here: arguments, configuration, prompts, and how answers
//! look on a terminal. stdout is data, stderr is talk.
//!
//! A library only so that tests can reach what reads files of other people ([`reading`]); the binary is [`run_program`].

mod arguments;
mod background;
mod commands;
mod configuration;
mod deliveries;
mod editor;
mod embedding;
mod exit;
#[cfg(feature = "http")]
mod first_token;
mod input;
mod logging;
mod models;
mod output;
mod platform;
mod program;
mod progress;
mod prompt;
#[doc(hidden)]
pub mod reading;
mod receipt_file;
mod render;
mod rounds;
#[cfg(feature = "http")]
mod serving;
mod stop;
mod workspaces;

use std::process::ExitCode;

use arguments::Arguments;
use exit::Failure;
use output::Output;
use program::Program;

pub fn run_program() -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    match arguments::parse(&given) {
        Ok(arguments) => run(arguments),
        Err(usage) => exit::end_with_usage(&usage, arguments::wants_json(&given)),
    }
}

/// The answer is printed and flushed before the session ends: nobody waits for use counts or pending work.
fn run(Arguments { global, command }: Arguments) -> ExitCode {
    let output = Output::new(&global, command.answers_in_json());
    if let Err(failure) = logging::start(global.verbose, command.runs_on()) {
        return exit::end_with(Err(failure), &output);
    }
    let has_a_person = !command.runs_on() && !command.serves_an_agent();
    let program = Program::new(global, output.clone());
    let outcome: Result<(), Failure> = commands::run(command, &program);
    let status = exit::end_with(outcome, &output);
    if has_a_person {
        program.welcome();
        program.tell_of_workspace();
        program.tell_of_removals();
    }
    program.finish();
    status
}
