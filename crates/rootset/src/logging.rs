//! Logs go to stderr and hold ids, counts and errors, never content.

use rootset_service::ServiceError;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

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
    let level = level.max(raised);
    // These log whole requests and the parameters of statements, and those are content.
    let quiet = level.min(LevelFilter::WARN);
    let targets = Targets::new().with_default(level).with_target("rmcp", quiet).with_target("tokio_postgres", quiet);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false);
    tracing_subscriber::registry().with(lines).with(targets).init();
    Ok(())
}

fn parse(text: &str) -> Result<LevelFilter, ServiceError> {
    text.trim().parse().map_err(|_| {
        ServiceError::invalid(format!("`{LEVEL_VARIABLE}` is `{text}`; allowed: off, error, warn, info, debug, trace"))
    })
}
