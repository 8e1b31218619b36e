//! `rootset call`: any operation, JSON in and JSON out.

#![expect(clippy::disallowed_types, reason = "JSON is what this command is about")]

use clap::Args;
use rootset_model::json;
use rootset_service::ServiceError;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::input;
use crate::program::Program;

/// Run any operation: JSON in, JSON out
#[derive(Debug, Args)]
pub struct CallArguments {
    /// The name of the operation, such as `search_memory`
    operation: String,
    /// The request as a JSON object, or `-` to read it from stdin [default: {}]
    request: Option<String>,
}

pub fn run(arguments: CallArguments, program: &Program) -> Result<(), Failure> {
    let request = match arguments.request.as_deref() {
        None => Value::Object(Map::new()),
        Some("-") => parse(&input::read_stdin()?)?,
        Some(text) => parse(text)?,
    };
    let answer = program.call(&arguments.operation, request)?;
    program.output.json(&answer)
}

fn parse(text: &str) -> Result<Value, ServiceError> {
    serde_json::from_str(text).map_err(|error| ServiceError::invalid(format!("the request {}", json::fault(&error))))
}
