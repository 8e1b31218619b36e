//! How many tokens a text has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Texts are counted in pieces of about this size: the expressions that split words may give up on one enormous run of
/// blanks, and a cut costs no more than a token.
const PIECE_BYTES: usize = 16 << 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Tokenizer {
    #[default]
    #[serde(rename = "o200k")]
    O200k,
    #[serde(rename = "cl100k")]
    Cl100k,
    /// Characters divided by four: no table to load, and close enough for prose.
    #[serde(rename = "chars/4")]
    CharsBy4,
}

impl Tokenizer {
    pub const ALL: [Self; 3] = [Self::O200k, Self::Cl100k, Self::CharsBy4];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::CharsBy4 => "chars/4",
        }
    }

    /// At least one: a segment that weighs nothing could never leave.
    ///
    /// The first call with a table loads it, which takes a good part of a second.
    pub fn count(self, text: &str) -> u32 {
        let table = match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
            Self::CharsBy4 => return saturated(text.chars().count() / 4),
        };
        saturated(pieces(text).map(|piece| table.count_ordinary(piece)).sum())
    }
}

fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// Cut after a line where there is one, else anywhere between two characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if end > PIECE_BYTES {
            let limit = (0..=PIECE_BYTES).rev().find(|place| rest.is_char_boundary(*place)).unwrap_or(end);
            end = rest[..limit].rfind('\n').map_or(limit, |line_end| line_end + 1);
        }
        let (piece, left) = rest.split_at(end);
        rest = left;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_counts() {
        assert_eq!(Tokenizer::O200k.count("hello world"), 2);
        assert_eq!(Tokenizer::CharsBy4.count("äöüß äöüß"), 2);
        assert_eq!(Tokenizer::CharsBy4.count(""), 1);
        assert_eq!(Tokenizer::O200k.count(""), 1);
    }

    #[test]
    fn pieces_are_the_text_again_and_none_is_large() {
        let text = "ein Satz mit Umlauten: äöü\n".repeat(5_000) + &"ä".repeat(40_000);
        assert_eq!(pieces(&text).collect::<String>(), text);
        assert!(pieces(&text).all(|piece| piece.len() <= PIECE_BYTES));
    }

    #[test]
    fn hostile_runs_are_counted() {
        for run in [" ", "\n", "a", "A", "=", "\u{3000}", "\u{1f600}"] {
            assert!(Tokenizer::O200k.count(&run.repeat(100_000)) > 0, "{run:?}");
        }
    }
}
