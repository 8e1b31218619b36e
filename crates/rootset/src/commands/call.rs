//! `rootset call`: any operation, JSON in and JSON out.

#![expect(clippy::disallowed_types, reason = "JSON is what this command is about")]

use clap::Args;
use rootset_api::{OperationInfo, catalogue};
use rootset_model::json;
use rootset_service::{ServiceError, unknown_operation};
use serde_json::{Map, Value, json};

use crate::exit::Failure;
use crate::input;
use crate::program::Program;
use crate::render::{Column, Table};

/// Run any operation: JSON in, JSON out; without a name, list them
#[derive(Debug, Args)]
pub struct CallArguments {
    /// The name of the operation, such as `search_memory`
    operation: Option<String>,
    /// The request as a JSON object, or `-` to read it from stdin [default: {}]
    request: Option<String>,
    /// Print what the operation takes and answers, as JSON schemas, and an example
    #[arg(long, requires = "operation", conflicts_with = "request")]
    schema: bool,
}

impl CallArguments {
    /// The list of operations is for people, unless they ask for JSON.
    pub fn answers_in_json(&self) -> bool {
        self.operation.is_some()
    }
}

pub fn run(arguments: CallArguments, program: &Program) -> Result<(), Failure> {
    let Some(operation) = arguments.operation else { return list(program) };
    if arguments.schema {
        return program.output.json(&described(find(&operation)?));
    }
    let request = match arguments.request.as_deref() {
        None => Value::Object(Map::new()),
        Some("-") => parse(&input::read_stdin()?)?,
        Some(text) => parse(text)?,
    };
    let answer = program.call(&operation, request)?;
    program.output.json(&answer)
}

fn list(program: &Program) -> Result<(), Failure> {
    let listed = |it: &OperationInfo| json!({"name": it.name, "effect": it.effect, "description": it.description()});
    let operations: Vec<Value> = catalogue().iter().map(listed).collect();
    program.output.answer(&json!({"operations": operations}), |_| {
        let mut table = Table::new([Column::fixed("OPERATION"), Column::fixed("EFFECT"), Column::text("WHAT IT DOES")]);
        for operation in catalogue() {
            let (name, effect) = (operation.name.to_owned(), operation.effect.as_str().to_owned());
            table.row([name, effect, first_sentence(operation.description())]);
        }
        table.finish()
    })?;
    if !program.output.in_json() {
        program.output.talk("rootset call NAME --schema shows what one takes and answers");
    }
    Ok(())
}

/// On one line and without its full stop.
fn first_sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.split_once(". ").map_or(line.trim_end_matches('.'), |(first, _)| first).to_owned()
}

fn find(name: &str) -> Result<&'static OperationInfo, ServiceError> {
    catalogue().iter().find(|it| it.name == name).ok_or_else(|| unknown_operation(name))
}

fn described(operation: &OperationInfo) -> Value {
    json!({
        "name": operation.name,
        "description": operation.description(),
        "effect": operation.effect,
        "request": operation.input_schema(),
        "response": operation.output_schema(),
        "example": (operation.example)(),
    })
}

fn parse(text: &str) -> Result<Value, ServiceError> {
    serde_json::from_str(text).map_err(|error| ServiceError::invalid(format!("the request {}", json::fault(&error))))
}
