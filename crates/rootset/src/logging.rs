//! Logs go to stderr and hold ids, counts and errors, never content.

use rootset_service::ServiceError;
use tracing_subscriber::filter::LevelFilter;

use crate::exit::Failure;

/// The variable that sets the level; `-v` raises it from the default.
pub const LEVEL_VARIABLE: &str = "ROOTSET_LOG";

/// A command that runs on has nobody who waits for its answer: its log is its answer.
pub fn start(verbose: u8, runs_on: bool) -> Result<(), Failure> {
    let level = match std::env::var_os(LEVEL_VARIABLE).filter(|value| !value.is_empty()) {
        Some(value) => parse(&value.to_string_lossy())?,
        None if runs_on => LevelFilter::INFO,
        None => LevelFilter::WARN,
    };
    let raised = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level.max(raised))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .init();
    Ok(())
}

fn parse(text: &str) -> Result<LevelFilter, ServiceError> {
    text.trim().parse().map_err(|_| {
        ServiceError::invalid(format!("`{LEVEL_VARIABLE}` is `{text}`; allowed: off, error, warn, info, debug, trace"))
    })
}
