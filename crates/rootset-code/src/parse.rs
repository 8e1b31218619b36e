//! Text to syntax tree, within a budget of steps.
//!
//! The parser calls back every hundred operations; those calls are counted, so that equal text gives up at the same
//! place on every machine.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::grammar::KindTable;
use crate::limits::PARSED_BYTES_MAX;

/// Why a file was not read as code. It can still be read as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveUp {
    /// The language has no grammar: it is a text format.
    NoGrammar,
    /// Longer than what is parsed.
    TooLong,
    /// The parser's steps are used up: errors that it cannot recover from, or ambiguity without end.
    TooManySteps,
    TooDeep,
    TooManySymbols,
    TooManyReferences,
}

impl GaveUp {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoGrammar => "no_grammar",
            Self::TooLong => "too_long",
            Self::TooManySteps => "too_many_steps",
            Self::TooDeep => "too_deep",
            Self::TooManySymbols => "too_many_symbols",
            Self::TooManyReferences => "too_many_references",
        }
    }
}

/// Calls back that every text has.
const STEPS_BASE: usize = 2_000;
/// Operations per byte that are allowed beyond: code that people write needs about one, broken code a few.
const BYTES_PER_STEP: usize = 10;

pub(crate) fn parse(parser: &mut Parser, table: &KindTable, text: &str) -> Result<Tree, GaveUp> {
    if text.len() > PARSED_BYTES_MAX {
        return Err(GaveUp::TooLong);
    }
    parser.set_language(&table.language).expect("grammars are of the version that the parser reads");
    let mut steps_left = STEPS_BASE + text.len() / BYTES_PER_STEP;
    let mut count = |_: &tree_sitter::ParseState| match steps_left.checked_sub(1) {
        Some(left) => {
            steps_left = left;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let tree = parser.parse_with_options(&mut |at, _| &text.as_bytes()[at.min(text.len())..], None, Some(options));
    if tree.is_none() {
        // What is left of this parse must not be continued by the next.
        parser.reset();
    }
    tree.ok_or(GaveUp::TooManySteps)
}
