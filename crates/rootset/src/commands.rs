//! One file per command: its arguments, the request of an operation that it builds, and how the answer is shown.

pub mod add;
pub mod audit;
pub mod backup;
pub mod brief;
pub mod call;
pub mod code;
pub mod collector;
pub mod completions;
pub mod config;
pub mod context;
pub mod daemon;
mod defrag;
pub mod doctor;
pub mod edit;
pub mod entity;
pub mod forget;
pub mod graph;
pub mod hook;
pub mod import;
pub mod index;
pub mod install;
pub mod list;
pub mod log;
pub mod man;
pub mod mcp;
#[cfg(feature = "local-model")]
pub mod model;
pub mod prune;
pub mod receipt;
pub mod remove;
pub mod retention;
pub mod review;
mod salvage;
pub mod search;
pub mod secrets;
#[cfg(feature = "http")]
pub mod serve;
pub mod show;
pub mod stats;
mod status;
pub mod supersede;
mod times;
pub mod token;
mod tour;
mod trash;
pub mod trust;
pub mod undo;
pub mod watch;
pub mod workspace;

use rootset_model::json;
use rootset_service::ServiceError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::arguments::Command;
use crate::exit::Failure;
use crate::program::Program;

pub fn run(command: Command, program: &Program) -> Result<(), Failure> {
    match command {
        Command::Add(arguments) => add::run(arguments, program),
        Command::Search(arguments) => search::run(arguments, program),
        Command::List(arguments) => list::run(arguments, program),
        Command::Show(arguments) => show::run(arguments, program),
        Command::Edit(arguments) => edit::run(arguments, program),
        Command::Rm(arguments) => remove::run(arguments, program),
        Command::Undo(arguments) => undo::run(arguments, program),
        Command::Forget(arguments) => forget::run(arguments, program),
        Command::Supersede(arguments) => supersede::run(arguments, program),
        Command::Hook(arguments) => hook::run(arguments, program),
        Command::Hooks(command) => hook::switch::run(&command, program),
        Command::Review(arguments) => review::run(arguments, program),
        Command::Brief(arguments) => brief::run(arguments, program),
        Command::Trust(arguments) => trust::run(arguments, program),
        Command::Untrust(arguments) => trust::run_untrust(arguments, program),
        Command::Index(arguments) => index::run(arguments, program),
        Command::Watch(arguments) => watch::run(arguments, program),
        Command::Code(command) => code::run(command, program),
        Command::Context(command) => context::run(command, program),
        Command::Prune(arguments) => prune::run(arguments, program),
        Command::Receipt(command) => receipt::run(command, program),
        Command::Log(arguments) => log::run(arguments, program),
        Command::Audit(arguments) => audit::run(arguments, program),
        Command::Trash(arguments) => trash::run(arguments, program),
        Command::Gc(command) => collector::run(command, program),
        Command::Entity(command) => entity::run(command, program),
        Command::Graph(command) => graph::run(command, program),
        Command::Workspace(command) => workspace::run(command, program),
        Command::Secrets(command) => secrets::run(command, program),
        Command::Token(command) => token::run(command, program),
        Command::Backup(command) => backup::run(command, program),
        Command::Defrag => defrag::run(program),
        Command::Stats(arguments) => stats::run(arguments, program),
        Command::Doctor(arguments) => doctor::run(arguments, program),
        #[cfg(feature = "http")]
        Command::Serve(arguments) => serve::run(arguments, program),
        Command::Daemon(arguments) => daemon::run(arguments, program),
        #[cfg(feature = "local-model")]
        Command::Model(command) => model::run(command, program),
        Command::Mcp(arguments) => mcp::run(arguments, program),
        Command::Config(command) => config::run(command, program),
        Command::Install(arguments) => install::run(&arguments, program),
        Command::Import(arguments) => import::run(&arguments, program),
        Command::Man(arguments) => man::run(&arguments, program),
        Command::Tour => tour::run(program),
        Command::Completions(arguments) => completions::run(arguments, program),
        Command::Call(arguments) => call::run(arguments, program),
    }
}

/// Words of a query as one text; none at all is no query.
fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(" "))
}

/// An option that was never given is absent, which is not the same as empty.
fn given<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}

/// A JSON object given as an option.
#[expect(clippy::disallowed_types, reason = "JSON that is not an object gets another error than text that is not JSON")]
fn object(option: &str, text: &str) -> Result<serde_json::Map<String, serde_json::Value>, ServiceError> {
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ServiceError::invalid(format!("`{option}` must be a JSON object"))),
        Err(error) => Err(ServiceError::invalid(format!("`{option}` {}", json::fault(&error)))),
    }
}

/// One of the words that an option takes.
fn word<T: DeserializeOwned + JsonSchema>(option: &str, text: &str) -> Result<T, ServiceError> {
    rootset_api::word(option, text).map_err(ServiceError::invalid)
}

/// Several of them.
fn words<T: DeserializeOwned + JsonSchema>(option: &str, texts: &[String]) -> Result<Vec<T>, ServiceError> {
    texts.iter().map(|text| word(option, text)).collect()
}
