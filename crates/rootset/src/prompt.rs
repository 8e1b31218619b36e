//! Questions before something is removed. Without a terminal nobody can answer, so nothing is asked and nothing is done.

use std::io::{BufRead, IsTerminal, Write};

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;

/// A longer answer is not an answer.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Goes on only after a `y`. The action is in words that follow "to".
pub fn confirm(program: &Program, action: &str) -> Result<(), Failure> {
    let is_yes = |answer: &str| matches!(answer.to_lowercase().as_str(), "y" | "yes");
    ask(program, action, "[y/N]", is_yes)
}

/// For what cannot be undone: goes on only after this very word.
pub fn confirm_word(program: &Program, action: &str, word: &str) -> Result<(), Failure> {
    ask(program, action, &format!("Type `{word}` to go on:"), |answer| answer == word)
}

/// Whether somebody could answer.
pub fn is_possible() -> bool {
    std::io::stdin().is_terminal()
}

fn ask(program: &Program, action: &str, how: &str, agrees: impl Fn(&str) -> bool) -> Result<(), Failure> {
    if program.global.yes {
        return Ok(());
    }
    if !is_possible() {
        let message = format!("a confirmation is needed to {action}, and stdin is not a terminal");
        let error = ServiceError::new(ErrorCode::ConfirmationRequired, message);
        return Err(error.with_hint("confirm with `--yes`").into());
    }
    // Written even when quiet: a question nobody sees is not a question.
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{action}? {how} ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = std::io::Read::take(std::io::stdin().lock(), ANSWER_BYTES_MAX).read_line(&mut answer);
    if read.is_ok() && agrees(answer.trim()) {
        return Ok(());
    }
    if answer.is_empty() {
        // The end of input leaves the cursor behind the question.
        let _ = writeln!(stderr);
    }
    drop(stderr);
    program.output.talk("nothing was changed");
    Err(Failure::Said(STATUS_CALLER))
}
