//! Text to search terms: what is stored in the full-text index, and what a query asks of it.
//!
//! Both sides use the same terms. A word becomes its stem. An identifier becomes itself, whole and unstemmed, followed
//! by the stems of its parts: `getUserName` is found by itself, by `getusername` and by `user name`. Stop words are
//! indexed, and dropped from queries.
//!
//! Invariants: a term holds no white space and no `"`, is 1 to [`TERM_BYTES_MAX`] bytes long, and of ASCII punctuation
//! holds only [`TERM_PUNCTUATION`]. Not here: the index itself, and ranking.

pub(crate) mod reader;

use std::collections::HashSet;

use rootset_model::limits::QUERY_TERMS_MAX;

use crate::chars::{cut_bytes, plain};
use crate::scan::{Kind, scan};
use crate::words::is_stop;
use reader::{Term, TermReader};

/// Longer terms are cut: nobody types them, and an index of blobs is dead weight.
pub const TERM_BYTES_MAX: usize = crate::stem::TERM_BYTES_MAX;

/// The ASCII punctuation that terms may hold, for the index to keep inside terms. Beyond ASCII, every character of
/// [`index_terms`] is part of a term.
pub const TERM_PUNCTUATION: &str = "_.-/\\@+~:?#&=%()'";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    pub term: String,
    /// Written as one identifier: a text that holds it whole speaks of the same thing.
    pub is_identifier: bool,
}

/// All terms of a text in order, with one blank between them.
pub fn index_terms(text: &str) -> String {
    let plain = plain(text);
    let mut joined = String::with_capacity(plain.len() + plain.len() / 4);
    let mut push = |term: &str| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(term);
    };
    let mut reader = TermReader::new();
    for piece in scan(&plain) {
        reader.read(&plain, &piece, |term| with_indexed(term, |term, _| push(term)));
    }
    joined
}

/// The distinct terms of a query in order of first occurrence, without stop words unless there is nothing else.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let plain = plain(text);
    let terms = distinct_terms(&plain, StopWords::Dropped);
    if terms.is_empty() { distinct_terms(&plain, StopWords::Kept) } else { terms }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StopWords {
    Dropped,
    Kept,
}

fn distinct_terms(plain: &str, stop_words: StopWords) -> Vec<QueryTerm> {
    let mut seen = HashSet::new();
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut reader = TermReader::new();
    for piece in scan(plain) {
        if terms.len() >= QUERY_TERMS_MAX {
            break;
        }
        let word = piece.of(plain);
        if stop_words == StopWords::Dropped && piece.kind == Kind::Word && is_stop(&word.to_ascii_lowercase()) {
            continue;
        }
        reader.read(plain, &piece, |term| {
            with_indexed(term, |term, is_identifier| {
                if seen.insert(term.to_owned()) {
                    terms.push(QueryTerm { term: term.to_owned(), is_identifier });
                }
            });
        });
    }
    terms.truncate(QUERY_TERMS_MAX);
    terms
}

/// Calls `receive` with the indexed form of a term and whether it is an identifier; not at all for the whole of a word,
/// which is indexed by its stem, nor for a stem that says the whole again.
fn with_indexed(term: Term<'_>, receive: impl FnOnce(&str, bool)) {
    match term {
        Term::Whole { kind: Kind::Word, .. } => {}
        Term::Whole { folded, kind } => receive(cut_bytes(folded, TERM_BYTES_MAX), kind.is_identifier()),
        Term::Run { repeats_whole: true, .. } => {}
        Term::Run { stem, .. } | Term::Part { stem } => receive(stem, false),
    }
}

/// Whether a text ends by asking something; bracketed remarks after the question mark do not count.
pub fn is_question(text: &str) -> bool {
    let mut text = text.trim_end();
    while let Some(open) = text.strip_suffix(']').and_then(|rest| rest.rfind('[')) {
        text = text[..open].trim_end();
    }
    text.ends_with(['?', '？', '؟'])
}

/// How people ask for the present value of something.
const STATE_QUESTIONS: &[&str] = &[
    "how many",
    "how much",
    "what is",
    "what's",
    "what are",
    "what date",
    "what deadline",
    "when is",
    "when do",
    "when does",
    "which",
];

/// Whether a query asks how something is, not what happened once.
pub fn asks_for_state(query: &str) -> bool {
    let query = query.to_lowercase();
    !query.contains("did ") && STATE_QUESTIONS.iter().any(|question| query.contains(question))
}

/// The terms of each phrase in quotation marks; single words are terms of the query already.
pub fn quoted_phrases(query: &str) -> Vec<String> {
    let plain = query.replace(['“', '”', '„'], "\"");
    let quoted = plain.split('"').skip(1).step_by(2);
    quoted.map(index_terms).filter(|phrase| phrase.contains(' ')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_ends_with_its_mark_whatever_remark_follows() {
        assert!(is_question("What's new? "));
        assert!(is_question("Seen this? [image: a dog] [image: a cat]"));
        assert!(!is_question("Is it? I doubt it."));
        assert!(!is_question("]"));
        assert!(!is_question(""));
    }

    fn query(text: &str) -> Vec<String> {
        query_terms(text).into_iter().map(|it| it.term).collect()
    }

    #[test]
    fn words_become_stems_in_the_index() {
        assert_eq!(index_terms("Caroline's children went RUNNING, quickly."), "carolin child go run quick");
        assert_eq!(index_terms("ＦＵＬＬ width"), "full width");
        assert_eq!(index_terms(" \t\"'…"), "");
    }

    #[test]
    fn identifiers_are_whole_and_in_parts() {
        assert_eq!(index_terms("getUserName()"), "getusername getusernam get user name");
        assert_eq!(index_terms("GitHub"), "github git hub");
        assert_eq!(index_terms("snake_case."), "snake_case snake case");
        assert_eq!(index_terms("see TKT-100."), "see tkt-100 tkt 100");
        assert_eq!(index_terms("alice@acme.io,"), "alice@acme.io alic acm io");
        assert_eq!(index_terms("src/lib.rs"), "src/lib.rs src lib.rs lib rs");
        assert_eq!(index_terms("v1.2.3"), "v1.2.3 v1 2 3");
        assert_eq!(index_terms("https://acme.io/x"), "https://acme.io/x acme.io acm io x");
    }

    #[test]
    fn every_way_to_write_an_identifier_finds_it() {
        let indexed = index_terms("We call getUsers in userService.ts");
        let indexed: Vec<&str> = indexed.split(' ').collect();
        for text in ["getUsers", "getusers", "get users", "user service", "userService.ts", "userservice"] {
            let missing: Vec<_> = query(text).into_iter().filter(|it| !indexed.contains(&it.as_str())).collect();
            assert!(missing.is_empty(), "{text}: {missing:?}");
        }
    }

    #[test]
    fn a_query_tells_whether_it_asks_for_a_state_and_what_it_quotes() {
        assert!(asks_for_state("How many commits are merged?") && asks_for_state("When is the webinar?"));
        assert!(!asks_for_state("How many did Ann buy?") && !asks_for_state("falcon deploy"));
        assert_eq!(
            quoted_phrases("who said \"the falcon escapes\" or “Blue paint” or \"one\"?"),
            ["the falcon escap", "blue paint"]
        );
        assert_eq!(quoted_phrases("5\" screens"), [""; 0]);
    }

    #[test]
    fn unspaced_scripts_and_emoji_are_terms_of_their_own() {
        assert_eq!(index_terms("東京へ👍🏽 ok"), "東 京 へ 👍 ok");
        assert_eq!(index_terms("नमस्ते"), "नमस्ते");
    }

    #[test]
    fn queries_lose_stop_words_and_repetitions() {
        assert_eq!(
            query("When did Caroline go to the support group, the support group?"),
            ["carolin", "go", "support", "group"]
        );
        assert_eq!(query("What did you do?"), ["what", "did", "you", "do"]);
        assert_eq!(query("Isn't it TKT-1?"), ["tkt-1", "tkt", "1"]);
        assert!(query_terms("TKT-1")[0].is_identifier && !query_terms("TKT-1")[1].is_identifier);
    }

    #[test]
    fn terms_are_bounded_in_length_and_queries_in_terms() {
        assert_eq!(index_terms(&"x".repeat(1_000)).len(), TERM_BYTES_MAX);
        let many: String = (0..1_000).map(|number| format!("word{number} ")).collect();
        assert_eq!(query_terms(&many).len(), QUERY_TERMS_MAX);
    }
}
