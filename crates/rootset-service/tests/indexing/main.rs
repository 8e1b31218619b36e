//! The code index as a caller sees it: JSON in, JSON out, over real trees and a real database.
//!
//! Each test is a line of the specification's scenarios or a sentence of its chapter on the code index. What an answer
//! does not tell (which files are stale, which rows a run wrote) is read from the database itself.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

mod answering;
mod at_once;
mod certainty;
mod citing;
mod erasing;
mod freshening;
mod guarding;
#[path = "../operations/harness.rs"]
#[allow(dead_code, reason = "the tests of the other operations use the rest of it")]
mod harness;
mod hostile;
mod idioms;
mod ignoring;
mod matching;
mod missing;
mod place;
mod properties;
mod references;
mod renaming;
mod replay;
mod repositories;
mod scopes;
mod secrets;
mod switching;
mod symbols;
mod trashing;
mod unchanged;
mod worktrees;
