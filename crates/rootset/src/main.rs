//! The `rootset` program: one command, one operation of the service, one answer.
//!
//! Thin on purpose: every rule lives in the service. What is here: arguments, configuration, prompts, and how answers
//! look on a terminal. stdout is data, stderr is talk.

mod arguments;
#[cfg(feature = "http")]
mod background;
mod commands;
mod configuration;
mod editor;
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
mod render;
mod rounds;
mod stop;

use std::process::ExitCode;

use arguments::Arguments;
use exit::Failure;
use output::Output;
use program::Program;

/// Parsing and storing allocate little pieces by the million; the system's allocator costs a tenth of the time of both.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
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
    }
    program.finish();
    status
}
