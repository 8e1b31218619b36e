//! `rootset rm`.

use serde_json::json;

use crate::arguments::RemoveArguments;
use crate::exit::Failure;
use crate::session::Session;
use crate::{prompt, render};

/// Each memory is a removal of its own; one that cannot be removed does not hold up the others.
pub fn run(arguments: RemoveArguments, session: &Session) -> Result<(), Failure> {
    let action = match arguments.memories.as_slice() {
        [one] => format!("move `{}` to the trash", render::one_line(one, 128)),
        several => format!("move {} memories to the trash", several.len()),
    };
    prompt::confirm(session, &action)?;
    let mut failed = None;
    for memory in &arguments.memories {
        match session.call("delete_memory", json!({"memory_id": memory})) {
            Ok(answer) => session.output.answer(&answer, render::applied)?,
            Err(error) => {
                session.output.error(&error);
                failed = failed.or(Some(error.code.exit_status()));
            }
        }
    }
    failed.map_or(Ok(()), |status| Err(Failure::Said(status)))
}
