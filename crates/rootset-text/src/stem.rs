//! One word to its stem.
//!
//! Not here: case folding (the word arrives folded) and stop words (a matter of queries).

use rust_stemmers::{Algorithm, Stemmer};

use crate::chars::cut_bytes;
use crate::words::base_of;

/// Longer terms are cut: nobody types them, and an index of blobs is dead weight.
pub(crate) const TERM_BYTES_MAX: usize = 64;

/// Last letters of words that no rule of the stemmer applies to. Stemming is most of the cost of a term, and these are
/// a quarter of English.
const FINAL_LETTERS: &[u8] = b"abfhjkopquvwxz";
/// Last letters of words of three letters that a rule may apply to.
const SHORT_FINAL_LETTERS: &[u8] = b"dgsy";

/// English stems. Words with digits or letters beyond ASCII stay as they are.
pub(crate) struct Stems {
    english: Stemmer,
}

impl Stems {
    pub(crate) fn new() -> Self {
        Self { english: Stemmer::create(Algorithm::English) }
    }

    /// Calls `receive` with the stem of a case-folded word, at most [`TERM_BYTES_MAX`] long.
    pub(crate) fn with_stem(&self, folded: &str, receive: impl FnOnce(&str)) {
        if folded.len() > TERM_BYTES_MAX {
            return receive(cut_bytes(folded, TERM_BYTES_MAX));
        }
        if folded.len() < 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return receive(folded);
        }
        let base = base_of(folded).unwrap_or(folded);
        if is_stem(base) { receive(base) } else { receive(&self.english.stem(base)) }
    }
}

/// Whether it is certain without looking closer that a word is its own stem.
fn is_stem(word: &str) -> bool {
    match word.as_bytes() {
        [_, _, last] => !SHORT_FINAL_LETTERS.contains(last),
        [.., last] => FINAL_LETTERS.contains(last),
        [] => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(word: &str) -> String {
        let mut stem = String::new();
        Stems::new().with_stem(word, |it| stem.push_str(it));
        stem
    }

    #[test]
    fn regular_and_irregular_forms_meet_in_one_stem() {
        assert_eq!(stem("running"), stem("ran"));
        assert_eq!(stem("went"), stem("goes"));
        assert_eq!(stem("memories"), stem("memory"));
        assert_eq!(stem("children"), stem("child"));
    }

    #[test]
    fn words_that_are_not_stemmed_would_not_change() {
        let english = Stemmer::create(Algorithm::English);
        let endings = ["", "e", "ing", "ational", "fulness", "sses", "ogi", "ization", "ement", "ably", "ative"];
        for number in 0..26_u32.pow(3) {
            let letter = |place: u32| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8);
            let ending = endings[number as usize % endings.len()];
            let short = String::from_iter([letter(0), letter(1), letter(2)]);
            let long = format!("{}{}{ending}{}", letter(1), letter(2), letter(0));
            for word in [short, long].iter().filter(|word| is_stem(word)) {
                assert_eq!(english.stem(word), word.as_str());
            }
        }
    }

    #[test]
    fn what_is_not_english_stays_whole() {
        assert_eq!(stem("größtes"), "größtes");
        assert_eq!(stem("k8s"), "k8s");
        assert_eq!(stem(&"é".repeat(40)).len(), TERM_BYTES_MAX);
    }
}
