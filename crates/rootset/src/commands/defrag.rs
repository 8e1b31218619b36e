//! `rootset defrag`.

use rootset_api::Defrag;

use crate::exit::Failure;
use crate::program::Program;
use crate::prompt;
use crate::render::bytes;

pub fn run(program: &Program) -> Result<(), Failure> {
    let is_file = program.configuration()?.location()?.path().is_some();
    let meanwhile = if is_file { "nobody can write to it" } else { "others keep working" };
    prompt::confirm(program, &format!("rebuild the database while {meanwhile}"))?;
    let answer = program.run(Defrag { confirm: Some(true) })?;
    program
        .output
        .answer(&answer, |answer| format!("{} before, {} now\n", bytes(answer.bytes_before), bytes(answer.bytes_after)))
}
