//! `rootset defrag`.

use serde_json::json;

use crate::exit::Failure;
use crate::prompt;
use crate::render::{bytes, count};
use crate::session::Session;

pub fn run(session: &Session) -> Result<(), Failure> {
    prompt::confirm(session, "rebuild the database while nobody can write to it")?;
    let answer = session.call("defrag", json!({"confirm": true}))?;
    session.output.answer(&answer, |answer| {
        format!("{} before, {} now\n", bytes(count(answer, "bytes_before")), bytes(count(answer, "bytes_after")))
    })
}
