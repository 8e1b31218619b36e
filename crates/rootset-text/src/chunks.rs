//! Long text to chunks: the pieces that are ranked and embedded.
//!
//! A chunk ends where the text itself pauses: after a paragraph, else after a sentence, else between words, else
//! between characters. Invariants: ranges are ordered, do not overlap, begin and end with something visible, cover all
//! that is visible, and are at most [`CHUNK_BYTES_MAX`] long. Not here: what is done with a chunk.

use std::ops::Range;

use crate::chars::floor_boundary;
use crate::sentences::{sentences, trim_range};

/// Around two hundred words: enough to say something, little enough to say one thing.
pub const CHUNK_BYTES_TARGET: usize = 1_200;
/// What an embedder takes without cutting.
pub const CHUNK_BYTES_MAX: usize = 2_000;
/// A rest up to this long is not cut again; it would leave a scrap.
const LAST_CHUNK_BYTES_MAX: usize = 1_600;
/// A pause earlier than this is passed over: it would make a scrap of the chunk before it.
const CHUNK_BYTES_MIN: usize = 500;

/// The chunks of a text as byte ranges; none for blank text.
pub fn split(text: &str) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut rest = trim_range(text, 0..text.len());
    while !rest.is_empty() {
        let length = if rest.len() <= LAST_CHUNK_BYTES_MAX { rest.len() } else { chunk_length(&text[rest.clone()]) };
        chunks.push(trim_range(text, rest.start..rest.start + length));
        rest = trim_range_start(text, rest.start + length..rest.end);
    }
    chunks
}

/// Bytes of the first chunk of a text that is longer than one.
fn chunk_length(text: &str) -> usize {
    let window = &text[..floor_boundary(text, CHUNK_BYTES_MAX)];
    best(paragraph_ends(window))
        .or_else(|| best(sentences(window).into_iter().map(|sentence| sentence.end)))
        .or_else(|| best(word_ends(window)))
        .unwrap_or_else(|| floor_boundary(window, CHUNK_BYTES_TARGET))
}

/// The end nearest to the target. The end of the window is none: it only looks like one because the window stops there.
fn best(ends: impl Iterator<Item = usize>) -> Option<usize> {
    ends.filter(|end| (CHUNK_BYTES_MIN..CHUNK_BYTES_MAX - char::MAX.len_utf8()).contains(end))
        .min_by_key(|end| end.abs_diff(CHUNK_BYTES_TARGET))
}

fn paragraph_ends(window: &str) -> impl Iterator<Item = usize> {
    window.match_indices('\n').map(|(newline, _)| newline).filter(|newline| {
        let after = &window[newline + 1..];
        after.trim_start_matches([' ', '\t', '\r']).starts_with('\n')
    })
}

fn word_ends(window: &str) -> impl Iterator<Item = usize> {
    window.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(offset, _)| offset)
}

fn trim_range_start(text: &str, range: Range<usize>) -> Range<usize> {
    range.end - text[range.clone()].trim_start().len()..range.end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn short_text_is_one_chunk_and_blank_text_none() {
        assert_eq!(pieces("  a note \n"), ["a note"]);
        assert_eq!(pieces(" \n\t "), [""; 0]);
    }

    #[test]
    fn long_text_is_cut_after_paragraphs_first() {
        let paragraph = "A sentence of some length. ".repeat(40);
        let text = format!("{paragraph}\n\n{paragraph}\n\n{paragraph}");
        assert_eq!(pieces(&text), [paragraph.trim(); 3]);
    }

    #[test]
    fn without_paragraphs_it_is_cut_after_sentences_then_words_then_characters() {
        let sentences = "Nine words make up this sentence of the text. ".repeat(100);
        assert!(pieces(&sentences).iter().all(|piece| piece.ends_with("text.")));
        let words = "word ".repeat(1_000);
        assert!(pieces(&words).iter().all(|piece| piece.starts_with("word") && piece.ends_with("word")));
        let characters = "é".repeat(5_000);
        assert_eq!(pieces(&characters).concat(), characters);
        for text in [sentences, words, characters] {
            assert!(pieces(&text).iter().all(|piece| piece.len() <= CHUNK_BYTES_MAX));
        }
    }
}
