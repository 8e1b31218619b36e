//! `rootset call`: any operation, JSON in and JSON out.

use rootset_service::ServiceError;
use serde_json::{Map, Value};

use crate::arguments::CallArguments;
use crate::exit::Failure;
use crate::input;
use crate::session::Session;

pub fn run(arguments: CallArguments, session: &Session) -> Result<(), Failure> {
    let request = match arguments.request.as_deref() {
        None => Value::Object(Map::new()),
        Some("-") => parse(&input::read_stdin()?)?,
        Some(text) => parse(text)?,
    };
    let answer = session.call(&arguments.operation, request)?;
    session.output.json(&answer)
}

fn parse(text: &str) -> Result<Value, ServiceError> {
    serde_json::from_str(text).map_err(|error| ServiceError::invalid(format!("the request is not JSON: {error}")))
}
