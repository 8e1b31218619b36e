//! How many tokens a text has.

use rootset_api::Tokenizer;

use super::token_tables;

/// Texts are counted in pieces of about this size: the expressions that split words may give up on one enormous run of
/// blanks, and a cut costs no more than a token.
const PIECE_BYTES: usize = 16 << 10;

/// At least one: a segment that weighs nothing could never leave.
///
/// The first call with a table unpacks it, which takes a good part of a second.
pub fn count_tokens(tokenizer: Tokenizer, text: &str) -> u32 {
    let table = match tokenizer {
        Tokenizer::O200k => token_tables::o200k(),
        Tokenizer::Cl100k => token_tables::cl100k(),
        Tokenizer::CharsBy4 => return saturated(text.chars().count() / 4),
    };
    saturated(pieces(text).map(|piece| table.count_ordinary(piece)).sum())
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
        assert_eq!(count_tokens(Tokenizer::O200k, "hello world"), 2);
        assert_eq!(count_tokens(Tokenizer::CharsBy4, "äöüß äöüß"), 2);
        assert_eq!(count_tokens(Tokenizer::CharsBy4, ""), 1);
        assert_eq!(count_tokens(Tokenizer::O200k, ""), 1);
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
            assert!(count_tokens(Tokenizer::O200k, &run.repeat(100_000)) > 0, "{run:?}");
        }
    }
}
