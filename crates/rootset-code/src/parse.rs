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

/// Callbacks that every text has.
const STEPS_BASE: usize = 100;
/// Bytes per callback beyond, that is five operations per byte. Of 6,000 files of twelve languages, the most that one
/// needed was three.
const BYTES_PER_STEP: usize = 20;
/// However long the text: recovering from errors costs a hundred times as much as reading on.
const STEPS_MAX: usize = 25_000;
/// Open brackets, those in strings and comments included. Parsing what is nested deeper takes the square of its length.
const OPEN_BRACKETS_MAX: usize = 1_000;
/// Open `<` within one line or statement.
const OPEN_ANGLES_MAX: usize = 200;

pub(crate) fn parse(parser: &mut Parser, table: &KindTable, text: &str) -> Result<Tree, GaveUp> {
    if text.len() > PARSED_BYTES_MAX {
        return Err(GaveUp::TooLong);
    }
    if is_nested_too_deep(text) {
        return Err(GaveUp::TooDeep);
    }
    parser.set_language(&table.language).expect("grammars are of the version that the parser reads");
    let mut steps_left = (STEPS_BASE + text.len() / BYTES_PER_STEP).min(STEPS_MAX);
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

/// Without knowing the language: brackets that nobody closed are counted wherever they stand.
fn is_nested_too_deep(text: &str) -> bool {
    let (mut brackets, mut angles) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => (brackets, angles) = (brackets + 1, 0),
            b'}' => (brackets, angles) = (brackets.saturating_sub(1), 0),
            b'<' => angles += 1,
            b'>' => angles = angles.saturating_sub(1),
            b';' | b'\n' => angles = 0,
            _ => continue,
        }
        if brackets > OPEN_BRACKETS_MAX || angles > OPEN_ANGLES_MAX {
            return true;
        }
    }
    false
}
