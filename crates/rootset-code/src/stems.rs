//! English stems of folded words, so that "parse configuration" finds `parse_configurations`.

use rust_stemmers::{Algorithm, Stemmer};

/// Last letters of words that no rule of the stemmer applies to. Stemming is most of the cost of a term, and these are
/// a quarter of English.
const FINAL_LETTERS: &[u8] = b"abfhjkopquvwxz";

pub(crate) struct Stems {
    english: Stemmer,
}

impl Default for Stems {
    fn default() -> Self {
        Self { english: Stemmer::create(Algorithm::English) }
    }
}

impl Stems {
    /// Appends the stem of a folded word. Words with digits or letters beyond ASCII are their own.
    pub(crate) fn push_stem(&self, folded: &str, out: &mut String) {
        let is_word = folded.len() > 3 && folded.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_word || FINAL_LETTERS.contains(&folded.as_bytes()[folded.len() - 1]) {
            out.push_str(folded);
        } else {
            out.push_str(&self.english.stem(folded));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_meet_in_one_stem() {
        let stem = |word: &str| {
            let mut out = String::new();
            Stems::default().push_stem(word, &mut out);
            out
        };
        assert_eq!(stem("configurations"), stem("configuration"));
        assert_eq!(stem("parsing"), stem("parse"));
        assert_eq!(stem("utf8"), "utf8");
        assert_eq!(stem("größen"), "größen");
    }
}
