//! One field of a content, read: its pieces by sentence, and what kind of sentence each is.
//!
//! Not here: what is a name (see `mentions`).

use std::ops::Range;

use crate::scan::{Kind, Piece, scan};
use crate::sentences::sentences;
use crate::words::is_stop;

/// A headline has at least this many words with capitals; fewer are as likely a name.
const HEADLINE_WORDS_MIN: usize = 4;

#[derive(Debug)]
pub(super) struct Reading<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    /// Each sentence with the range of its pieces.
    sentences: Vec<(Range<usize>, Range<usize>)>,
}

#[derive(Debug)]
pub(super) struct Sentence<'a, 'r> {
    /// The whole field; every place is a place in it.
    pub text: &'a str,
    pub start: usize,
    pub end: usize,
    pub pieces: &'r [Piece],
    /// Every word has a capital, so capitals say nothing.
    pub is_headline: bool,
    /// Most words are all capitals, so those say nothing.
    pub is_shouted: bool,
    /// Source code, where what stands side by side is not related.
    pub is_code: bool,
}

/// Hardly ever in prose.
const CODE_MARKS: &[&str] = &["();", ") {", "->", " == ", " = ", "/*", "&&"];

impl<'a> Reading<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let pieces = scan(text);
        let mut first = 0;
        let mut with_pieces = |sentence: Range<usize>| {
            let count = pieces[first..].iter().take_while(|piece| piece.start < sentence.end).count();
            first += count;
            (sentence, first - count..first)
        };
        let sentences = sentences(text).into_iter().map(&mut with_pieces).collect();
        Self { text, pieces, sentences }
    }

    pub(super) fn sentences(&self) -> impl Iterator<Item = Sentence<'a, '_>> {
        self.sentences.iter().map(|(range, pieces)| {
            let pieces = &self.pieces[pieces.clone()];
            let words = || pieces.iter().filter(|piece| piece.kind == Kind::Word).map(|piece| piece.of(self.text));
            let count = words().count();
            let is_ordinary = |word: &str| word.starts_with(char::is_lowercase) && !is_stop(word);
            let capitals = words().filter(|word| word.starts_with(char::is_uppercase)).count();
            let written = &self.text[range.clone()];
            Sentence {
                text: self.text,
                start: range.start,
                end: range.end,
                pieces,
                is_code: written.ends_with([';', '{', '}']) || CODE_MARKS.iter().any(|mark| written.contains(mark)),
                is_headline: capitals >= HEADLINE_WORDS_MIN && !words().any(is_ordinary),
                is_shouted: count >= HEADLINE_WORDS_MIN
                    && words().filter(|word| is_all_capitals(word)).count() * 2 > count,
            }
        })
    }
}

impl Sentence<'_, '_> {
    /// Whether the piece at an index would have a capital whatever it is: first in the sentence, in a list item, after
    /// a colon or a quotation mark.
    pub(super) fn is_initial(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|before| &self.pieces[before]) else { return true };
        let gap = &self.text[before.end..self.pieces[index].start];
        let is_list_number =
            index == 1 && gap.starts_with(['.', ')']) && before.of(self.text).bytes().all(|byte| byte.is_ascii_digit());
        is_list_number || gap.contains([':', '"', '“', '`', '\n', '•', '!', '?'])
    }
}

/// At least two letters, all of them capitals.
pub(super) fn is_all_capitals(word: &str) -> bool {
    word.chars().filter(|c| c.is_uppercase()).count() >= 2 && !word.chars().any(char::is_lowercase)
}
