//! The sentences of a text that speak of something.
//!
//! A sentence speaks of it if it holds the words that name it; one that follows and begins with a pronoun goes on speaking of
//! it. Not here: which texts are read, and in which order sentences are shown.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::scan::scan;
use crate::sentences::sentences;
use crate::terms::{index_terms, query_terms};

/// How a sentence begins that goes on about whom or what the one before it named.
const GOES_ON: &[&str] =
    &["he", "she", "it", "they", "his", "her", "hers", "its", "their", "this", "that", "these", "those"];

/// The words that name something.
#[derive(Clone, Debug)]
pub struct Subject {
    terms: BTreeSet<String>,
}

impl Subject {
    /// `None` if the words name nothing.
    pub fn new(words: &str) -> Option<Self> {
        let terms: BTreeSet<String> = query_terms(words).into_iter().map(|term| term.term).collect();
        (!terms.is_empty()).then_some(Self { terms })
    }

    pub fn is_named_in(&self, text: &str) -> bool {
        let terms = index_terms(text);
        let words: BTreeSet<&str> = terms.split(' ').collect();
        self.terms.iter().all(|term| words.contains(term.as_str()))
    }

    /// In order, as ranges of bytes without white space at their ends.
    pub fn sentences_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut goes_on = false;
        let is_about = |range: &Range<usize>| {
            let sentence = &text[range.clone()];
            goes_on = self.is_named_in(sentence) || goes_on && begins_with_pronoun(sentence);
            goes_on
        };
        sentences(text).into_iter().filter(is_about).collect()
    }
}

/// All sentences of a text that is about one thing as a whole.
pub fn all_sentences(text: &str) -> Vec<Range<usize>> {
    sentences(text)
}

fn begins_with_pronoun(sentence: &str) -> bool {
    let first = scan(sentence).into_iter().next().map(|piece| piece.of(sentence).to_lowercase());
    first.is_some_and(|word| GOES_ON.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about<'a>(words: &str, text: &'a str) -> Vec<&'a str> {
        let subject = Subject::new(words).expect("a subject");
        subject.sentences_in(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn only_sentences_that_name_it_or_go_on_about_it_speak_of_it() {
        let text =
            "Alice owns the ledger. She works from Lyon. Bob owns the API. It listens on port 8443. Ask Alice first.";
        assert_eq!(about("alice", text), ["Alice owns the ledger.", "She works from Lyon.", "Ask Alice first."]);
        assert_eq!(about("the API", text), ["Bob owns the API.", "It listens on port 8443."]);
        assert!(about("zeppelins", text).is_empty());
    }

    #[test]
    fn every_word_of_a_name_counts() {
        let text = "Alice Moreau owns the ledger.\nAlice Smith left.";
        assert_eq!(about("Alice Moreau", text), ["Alice Moreau owns the ledger."]);
        assert!(Subject::new("  ").is_none());
    }
}
