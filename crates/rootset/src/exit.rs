//! How a command can fail, what is printed about it, and the exit status.

use std::io;
use std::process::ExitCode;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::output::Output;

/// The status of everything that is the caller's, usage errors included.
pub const STATUS_CALLER: u8 = 1;

#[derive(Debug)]
pub enum Failure {
    Error(ServiceError),
    /// Everything was said already; only the status is left.
    Said(u8),
    /// Nobody reads what we write any more: not worth a word.
    ClosedPipe,
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Failure {
    /// For writing to stdout only; an error about a file names the file.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Error(
                ServiceError::new(ErrorCode::Internal, format!("the answer could not be written: {error}"))
                    .with_hint("the command itself was carried out; `rootset log` shows what it changed"),
            ),
        }
    }
}

/// Says what is left to say, and answers with the status.
pub fn end_with(outcome: Result<(), Failure>, output: &Output) -> ExitCode {
    match outcome {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Said(status)) => ExitCode::from(status),
        Err(Failure::Error(error)) => {
            output.error(&error);
            ExitCode::from(error.code.exit_status())
        }
    }
}

/// Ends after the arguments could not be understood, or asked for help.
pub fn end_with_usage(usage: &clap::Error, in_json: bool) -> ExitCode {
    if !usage.use_stderr() {
        // Help and version. A closed pipe is all that can go wrong, and `rootset --help | head` is no error.
        let _ = usage.print();
        return ExitCode::SUCCESS;
    }
    match (in_json, usage.kind()) {
        (true, _) => Output::for_json().error(&usage_error(usage)),
        // Without a command, all of them are listed.
        (false, clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) => {
            let _ = usage.print();
        }
        (false, _) => Output::for_people().error(&usage_error(usage)),
    }
    ExitCode::from(STATUS_CALLER)
}

/// Clap's message as one line; its tip as the hint, else how the command is used.
fn usage_error(usage: &clap::Error) -> ServiceError {
    let text = usage.render().to_string();
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.trim_start_matches("error: ").split("\n\n").map(str::trim);
    let message = paragraphs.next().map(on_one_line).unwrap_or_default();
    let rest: Vec<&str> = paragraphs.collect();
    let after = |start: &str| rest.iter().find_map(|paragraph| paragraph.strip_prefix(start)).map(on_one_line);
    let hint = after("tip: ").or_else(|| after("Usage: ").map(|usage| format!("usage: {usage}")));
    ServiceError::invalid(message).with_hint(hint.unwrap_or_else(|| "see `rootset --help`".to_owned()))
}
