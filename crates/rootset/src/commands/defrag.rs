//! `rootset defrag`.

use rootset_api::Defrag;

use crate::exit::Failure;
use crate::prompt;
use crate::render::bytes;
use crate::session::Session;

pub fn run(session: &Session) -> Result<(), Failure> {
    let is_file = session.configuration()?.location()?.path().is_some();
    let meanwhile = if is_file { "nobody can write to it" } else { "others keep working" };
    prompt::confirm(session, &format!("rebuild the database while {meanwhile}"))?;
    let answer = session.run(Defrag { confirm: Some(true) })?;
    session
        .output
        .answer(&answer, |answer| format!("{} before, {} now\n", bytes(answer.bytes_before), bytes(answer.bytes_after)))
}
