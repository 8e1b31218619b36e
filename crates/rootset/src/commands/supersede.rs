//! `rootset supersede`.

use serde_json::{Value, json};

use crate::arguments::SupersedeArguments;
use crate::exit::Failure;
use crate::render::{escaped, list};
use crate::session::Session;

pub fn run(arguments: SupersedeArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({"memory_id": arguments.old, "by": arguments.new, "reason": arguments.reason});
    let answer = session.call("supersede_memory", request)?;
    session.output.answer(&answer, |answer| {
        let chain: Vec<String> = list(answer, "chain").iter().filter_map(Value::as_str).map(escaped).collect();
        format!("superseded: {}\n", chain.join(" → "))
    })
}
