//! What a query for code asks for: terms with their weights, and names that it writes like code.
//!
//! A few words are taken as they are. Of a longer text (an issue, a commit message) words without meaning are dropped, its
//! first line counts more than the rest, and only what is written like code is a name. Pure.

use rootset_code::{identifier_term, name_parts, term_counts};
use rootset_text::is_stop_word;

/// Words up to which a query is a name or a few key words, not a text.
const SHORT_QUERY_WORDS: usize = 3;
/// More terms do not make a query clearer.
const TERMS_MAX: usize = 64;
/// The first line of a text is its title.
const TITLE_WEIGHT: f64 = 2.0;
/// Words that nearly every request for a change holds.
const REQUEST_WORDS: [&str; 14] = [
    "bug", "bugfix", "close", "closes", "fix", "fixed", "fixes", "fixing", "issue", "issues", "ref", "refs",
    "resolves", "see",
];

#[derive(Clone, Debug)]
pub struct CodeQuery {
    pub terms: Vec<WeighedTerm>,
    pub names: Vec<WantedName>,
    /// Longer than a name or a few key words.
    pub is_text: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WeighedTerm {
    pub term: String,
    pub weight: f64,
}

impl CodeQuery {
    pub fn of(query: &str) -> Self {
        let is_text = query.split_whitespace().nth(SHORT_QUERY_WORDS).is_some();
        let names = query.split_whitespace().filter(|word| !is_text || is_written_like_code(word));
        let names = names.filter_map(WantedName::of).collect();
        let mut asked = if is_text { meaningful(query) } else { query.to_owned() };
        let mut counts = term_counts(&asked, TERMS_MAX);
        if counts.is_empty() {
            asked = query.to_owned();
            counts = term_counts(&asked, TERMS_MAX);
        }
        let title = match asked.trim().split_once('\n') {
            Some((title, _)) => term_counts(title, TERMS_MAX),
            None => Vec::new(),
        };
        let terms = counts
            .into_iter()
            .map(|(term, count)| {
                let is_in_title = title.iter().any(|(in_title, _)| *in_title == term);
                let weight = (1.0 + (count as f64).ln()) * if is_in_title { TITLE_WEIGHT } else { 1.0 };
                WeighedTerm { term, weight }
            })
            .collect();
        Self { terms, names, is_text }
    }

    pub fn plain_terms(&self) -> Vec<String> {
        self.terms.iter().map(|it| it.term.clone()).collect()
    }
}

/// The text without addresses and words that say nothing.
fn meaningful(query: &str) -> String {
    let mut kept = String::with_capacity(query.len());
    for line in query.trim().lines() {
        for word in line.split_whitespace().filter(|word| !word.contains("://")) {
            for run in word.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let folded = run.to_lowercase();
                if !is_stop_word(&folded) && !REQUEST_WORDS.contains(&folded.as_str()) {
                    kept.push_str(run);
                    kept.push(' ');
                }
            }
        }
        kept.push('\n');
    }
    kept
}

/// `CamelCase`, `snake_case`, `a.b`, `a::b`, `f()`, or between backticks.
fn is_written_like_code(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let is_camel_case = bare.chars().zip(bare.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    let is_joined = ['_', '.', ':', '#'].into_iter().any(|mark| bare.contains(mark));
    !word.contains("://") && (is_camel_case || is_joined || word.contains('`') || word.contains("()"))
}

/// A name as people write it into a query: `Store.save()`, `store::Store`, `save`.
#[derive(Clone, Debug)]
pub struct WantedName {
    parts: Vec<String>,
    /// The last part, as it was written.
    written: String,
}

/// How a symbol is called what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameMatch {
    None,
    /// Its name is the one word.
    Name,
    /// Its qualified name ends in the several parts.
    Qualified,
}

impl WantedName {
    fn of(word: &str) -> Option<Self> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let parts: Vec<String> = name_parts(word).into_iter().map(identifier_term).collect();
        let written = name_parts(word).last().copied()?.to_owned();
        Some(Self { parts, written })
    }

    /// Whether a symbol's own name is written like it: of `Listen` and `listen` one is meant.
    pub fn is_written_so(&self, qualified_name: &str) -> bool {
        name_parts(qualified_name).last() == Some(&self.written.as_str())
    }

    pub fn compare(&self, qualified_name: &str) -> NameMatch {
        let parts: Vec<String> = name_parts(qualified_name).into_iter().map(identifier_term).collect();
        match self.parts.len() {
            1 if parts.last() == self.parts.first() => NameMatch::Name,
            2.. if parts.ends_with(&self.parts) => NameMatch::Qualified,
            _ => NameMatch::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str) -> usize {
        CodeQuery::of(query).names.len()
    }

    #[test]
    fn words_of_a_text_are_names_only_where_they_look_like_code() {
        assert_eq!((names("save"), names("open store")), (1, 2));
        assert_eq!(names("the store does not save what was written"), 0);
        let like_code = "the parseConfig of max_size in app.Store calls `save` and flush() for nothing.";
        assert_eq!(names(like_code), 5);
    }

    #[test]
    fn a_text_loses_words_without_meaning_and_its_title_counts_more() {
        let query = CodeQuery::of("fix: the total of a cart\n\nThe cart was empty. See https://example.org/cart");
        let terms: Vec<(&str, bool)> = query.terms.iter().map(|it| (it.term.as_str(), it.weight > 1.9)).collect();
        assert_eq!(terms, [("total", true), ("cart", true), ("empty", false), ("empti", false)]);
        assert!(query.terms[1].weight > query.terms[0].weight, "it is said twice");
    }

    #[test]
    fn a_few_words_are_taken_as_they_are_and_nothing_else_may_be_left() {
        assert_eq!(CodeQuery::of("is_all").plain_terms(), ["is_all", "is", "all"]);
        assert_eq!(CodeQuery::of("where is it and what").plain_terms()[0], "where");
        assert!(CodeQuery::of(" ** ").terms.is_empty());
    }
}
