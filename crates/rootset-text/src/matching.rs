//! Decides for each memory whether it is about what a person wants forgotten.
//!
//! Stricter than search, because what matches is proposed for deletion: identifiers must occur as they are, whole
//! (`TKT-100` is not in `TKT-1000`), every other word must occur too, and a quoted phrase as one sequence. Not here:
//! the plan that follows, and the index that narrows down what is looked at; [`Matcher::index_terms`] only promises the
//! index something that no match can lack.

use std::collections::{BTreeSet, HashMap};

use crate::chars::{cut_bytes, fold, plain};
use crate::matching::phrase::{Phrase, Strictness, Units};
use crate::scan::{Kind, Piece, scan};
use crate::terms::TERM_BYTES_MAX;
use crate::terms::reader::{Term, TermReader};
use crate::words::is_stop;

mod phrase;

/// What a request begins with before it comes to the point.
const LEADING_WORDS: &[&str] = &[
    "any",
    "anything",
    "delete",
    "details",
    "drop",
    "entries",
    "erase",
    "every",
    "everything",
    "fact",
    "facts",
    "forget",
    "info",
    "information",
    "know",
    "knowledge",
    "memories",
    "memory",
    "mention",
    "mentions",
    "note",
    "notes",
    "please",
    "purge",
    "record",
    "records",
    "reference",
    "references",
    "remember",
    "remove",
    "stored",
    "stuff",
    "thing",
    "things",
];

/// Between what a request begins with and its point.
const TURNING_WORDS: &[&str] = &[
    "about",
    "concerning",
    "containing",
    "for",
    "from",
    "in",
    "mentioning",
    "naming",
    "of",
    "on",
    "regarding",
    "to",
    "with",
];

/// Verbs and quantities that are no part of the point even without a turning word.
const REQUEST_WORDS: &[&str] =
    &["any", "anything", "delete", "erase", "every", "everything", "forget", "please", "purge", "remove"];

/// What a text must hold to match.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// Case-folded pieces, to their place among the requirements.
    identifiers: HashMap<String, usize>,
    /// Stems, likewise.
    words: HashMap<String, usize>,
    phrases: Vec<Phrase>,
    index_terms: Vec<String>,
}

impl Matcher {
    /// None when the query says nothing that could be looked for.
    pub fn new(query: &str) -> Option<Self> {
        let plain = plain(query);
        let pieces = scan(&plain);
        let mut builder = Builder::new(&plain);
        let mut quotations = quotations(&plain).into_iter().peekable();
        let unquoted = quotations.peek().map_or(plain.len(), |first| first.start);
        let mut index = point(&plain, &pieces[..pieces.partition_point(|piece| piece.end <= unquoted)]);
        while let Some(piece) = pieces.get(index) {
            while quotations.next_if(|quotation| quotation.end <= piece.start).is_some() {}
            let rest = &pieces[index..];
            let together = match quotations.peek() {
                Some(quotation) if quotation.start <= piece.start => {
                    let inside = &rest[..rest.partition_point(|piece| piece.end <= quotation.end)];
                    builder.phrase(inside, Strictness::Anywhere);
                    inside.len()
                }
                _ if piece.kind == Kind::Lone => {
                    builder.phrase(&rest[..lone_run(rest)], Strictness::Anywhere);
                    lone_run(rest)
                }
                _ if piece.kind == Kind::Compound => {
                    builder.phrase(&rest[..1], Strictness::BetweenWords);
                    1
                }
                _ => {
                    builder.piece(piece);
                    1
                }
            };
            index += together.max(1);
        }
        builder.build()
    }

    /// Whether the fields of one memory, taken together, hold everything asked for.
    pub fn matches<'a>(&self, fields: impl IntoIterator<Item = &'a str>) -> bool {
        let mut missing = Missing::of(self);
        let mut reader = TermReader::new();
        for field in fields {
            let plain = plain(field);
            let pieces = scan(&plain);
            for piece in &pieces {
                reader.read(&plain, piece, |term| missing.strike(self, term));
            }
            if missing.phrases.iter().any(|is_missing| *is_missing) {
                let mut units = Units::of(&plain, &pieces, &mut reader);
                units.add_inner(&plain, &pieces, &mut reader);
                for (phrase, is_missing) in self.phrases.iter().zip(&mut missing.phrases) {
                    *is_missing = *is_missing && !phrase.occurs_in(&units);
                }
            }
            if missing.is_nothing() {
                return true;
            }
        }
        false
    }

    /// Terms of the full-text index that every match holds, in its `terms::index_terms`. Sorted, distinct.
    pub fn index_terms(&self) -> Vec<String> {
        self.index_terms.clone()
    }

    /// A literal that every match holds, for a search without an index; empty when none can be promised.
    ///
    /// None ever can: for every letter, digit and mark that a query may hold there is another character which NFKC
    /// makes the same (`ａlice＠acme．io` matches `alice@acme.io`), and the text as stored holds that one.
    pub fn probe(&self) -> &str {
        ""
    }
}

/// What has not been found yet.
struct Missing {
    identifiers: Vec<bool>,
    words: Vec<bool>,
    phrases: Vec<bool>,
    /// Identifiers and words not found.
    count: usize,
}

impl Missing {
    fn of(matcher: &Matcher) -> Self {
        Self {
            identifiers: vec![true; matcher.identifiers.len()],
            words: vec![true; matcher.words.len()],
            phrases: vec![true; matcher.phrases.len()],
            count: matcher.identifiers.len() + matcher.words.len(),
        }
    }

    fn strike(&mut self, matcher: &Matcher, term: Term<'_>) {
        let found = match term {
            Term::Whole { folded, .. } => matcher.identifiers.get(folded).map(|&place| &mut self.identifiers[place]),
            Term::Run { stem, .. } | Term::Part { stem } => {
                matcher.words.get(stem).map(|&place| &mut self.words[place])
            }
        };
        if let Some(is_missing) = found
            && std::mem::take(is_missing)
        {
            self.count -= 1;
        }
    }

    fn is_nothing(&self) -> bool {
        self.count == 0 && !self.phrases.contains(&true)
    }
}

/// Collects requirements, each once.
struct Builder<'a> {
    text: &'a str,
    reader: TermReader,
    identifiers: HashMap<String, usize>,
    words: HashMap<String, usize>,
    phrases: Vec<Phrase>,
    index_terms: BTreeSet<String>,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            reader: TermReader::new(),
            identifiers: HashMap::new(),
            words: HashMap::new(),
            phrases: Vec::new(),
            index_terms: BTreeSet::new(),
        }
    }

    /// A word, unless it says nothing; or an identifier.
    fn piece(&mut self, piece: &Piece) {
        let folded = fold(piece.of(self.text));
        if piece.kind.is_identifier() {
            let place = self.identifiers.len();
            self.identifiers.entry(folded).or_insert(place);
            self.promise(piece);
        } else if !is_stop(&folded) && !REQUEST_WORDS.contains(&folded.as_str()) {
            let words = &mut self.words;
            self.reader.read(self.text, piece, |term| {
                if let Term::Run { stem, .. } = term {
                    let place = words.len();
                    words.entry(stem.to_owned()).or_insert(place);
                }
            });
            self.promise(piece);
        }
    }

    fn phrase(&mut self, pieces: &[Piece], strictness: Strictness) {
        let units = Units::of(self.text, pieces, &mut self.reader);
        match (units.len(), pieces) {
            (0, _) => {}
            // One thing in quotes is that thing; a stop word counts, since somebody took the trouble to quote it.
            (1, [piece]) if piece.kind.is_identifier() => self.piece(piece),
            _ => {
                pieces.iter().for_each(|piece| self.promise(piece));
                self.phrases.push(Phrase::new(units, strictness));
            }
        }
    }

    /// Notes the index terms that every occurrence of a piece has. The parts of camel case are not among them, nor is
    /// the whole of it: `getusers` is the same identifier as `getUsers`, and is indexed as a word.
    fn promise(&mut self, piece: &Piece) {
        let index_terms = &mut self.index_terms;
        let mut promise = |term: &str| {
            if !index_terms.contains(term) {
                index_terms.insert(term.to_owned());
            }
        };
        // The parts of a compound may be written apart.
        self.reader.read(self.text, piece, |term| match term {
            Term::Whole { kind: Kind::Word | Kind::Camel | Kind::Compound, .. } | Term::Part { .. } => {}
            Term::Whole { folded, .. } => promise(cut_bytes(folded, TERM_BYTES_MAX)),
            Term::Run { stem, .. } => promise(stem),
        });
    }

    fn build(self) -> Option<Matcher> {
        let is_empty = self.identifiers.is_empty() && self.words.is_empty() && self.phrases.is_empty();
        (!is_empty).then(|| Matcher {
            identifiers: self.identifiers,
            words: self.words,
            phrases: self.phrases,
            index_terms: self.index_terms.into_iter().collect(),
        })
    }
}

/// How many pieces only lead up to the point: `forget everything about`, and the like. All of them when there is none.
fn point(text: &str, pieces: &[Piece]) -> usize {
    let mut point = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let word = fold(piece.of(text));
        if piece.kind == Kind::Word && TURNING_WORDS.contains(&word.as_str()) {
            point = index + 1;
        } else if piece.kind != Kind::Word || !(LEADING_WORDS.contains(&word.as_str()) || is_stop(&word)) {
            return point;
        }
    }
    pieces.len()
}

/// How many characters that stand alone follow each other directly, from the first piece on, which is one.
fn lone_run(pieces: &[Piece]) -> usize {
    let follows = |pair: &&[Piece]| pair[0].end == pair[1].start && pair[1].kind == Kind::Lone;
    1 + pieces.windows(2).take_while(follows).count()
}

/// The insides of pairs of quotation marks, in order.
fn quotations(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut quotations = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (offset, c) in text.char_indices() {
        match (open, c) {
            (Some((start, close)), _) if c == close => {
                quotations.push(start..offset);
                open = None;
            }
            (None, '"' | '`') => open = Some((offset + 1, c)),
            (None, '“') => open = Some((offset + '“'.len_utf8(), '”')),
            _ => {}
        }
    }
    quotations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, text: &str) -> bool {
        Matcher::new(query).unwrap().matches([text])
    }

    #[test]
    fn an_address_matches_itself_and_no_other() {
        for text in [
            "ALICE@ACME.IO",
            "<alice@acme.io>",
            "write to alice@acme.io.",
            "mailto:alice@acme.io",
            "(alice@acme.io)",
            "alice@acme.io's",
            "alice@acme.io, bob@acme.io",
            "`alice@acme.io`",
            "_alice@acme.io_",
            "ａｌｉｃｅ＠acme.io",
            "https://acme.io/?mail=alice@acme.io&x=1",
            "alice@acme.io…",
            "請聯繫alice@acme.io",
            "alice@acme.io/calendar",
        ] {
            assert!(matches("alice@acme.io", text), "{text}");
        }
        for text in [
            "alice.smith@acme.io",
            "alice@acme.io.uk",
            "xalice@acme.io",
            "alice@acme.iox",
            "x+alice@acme.io",
            "bob-alice@acme.io",
            "o'alice@acme.io",
            "x_alice@acme.io",
            "alice@acme.io_x",
            "éalice@acme.io",
            "alice at acme.io",
            "alice @acme.io",
        ] {
            assert!(!matches("alice@acme.io", text), "{text}");
        }
    }

    #[test]
    fn an_issue_matches_itself_and_no_longer_one() {
        for text in
            ["TKT-100", "tkt-100.", "[TKT-100]: x", "https://jira.io/browse/TKT-100", "TKT-100's", "docs/TKT-100.md"]
        {
            assert!(matches("TKT-100", text), "{text}");
        }
        for text in ["TKT-1000", "XTKT-100", "TKT-100-2", "A-TKT-100", "TKT-100_b", "TKT-100.2", "TKT 100", "TKT100"] {
            assert!(!matches("TKT-100", text), "{text}");
        }
    }

    #[test]
    fn other_identifiers_match_whole_whatever_their_case() {
        assert!(
            matches("getUsers", "call getusers()")
                && matches("getUsers", "api.getUsers")
                && !matches("getUsers", "get users")
        );
        assert!(matches("user_id", "USER_ID") && !matches("user_id", "user_id_2"));
        assert!(matches("src/lib.rs", "see src/lib.rs.") && !matches("src/lib.rs", "a/src/lib.rs"));
        assert!(matches("v1.2", "at V1.2,") && !matches("v1.2", "v1.2.3") && !matches("v1.2", "v1.2-rc1"));
        assert!(matches("rootset-text", "crates/rootset-text/src") && !matches("rootset-text", "rootset-text-extra"));
    }

    #[test]
    fn a_request_comes_to_its_point() {
        for query in [
            "everything about project Falcon",
            "please forget all mentions of the Falcon project",
            "delete any notes regarding Project Falcons",
            "\"project falcon\"",
            "forget everything about \"project falcon\"",
        ] {
            assert!(matches(query, "The kick-off of Project Falcon is on Monday"), "{query}");
            assert!(!matches(query, "The falcon is a bird"), "{query}");
        }
        for query in ["", "forget everything", "all of the above", "the", "\"\"", "?!", "all memories"] {
            assert!(Matcher::new(query).is_none(), "{query}");
        }
    }

    #[test]
    fn words_may_be_spread_over_fields_but_phrases_may_not() {
        assert!(Matcher::new("falcon budget").unwrap().matches(["Falcon", "the budgets"]));
        assert!(!Matcher::new("falcon budget").unwrap().matches(["Falcon", "no figures"]));
        assert!(!Matcher::new("\"falcon budget\"").unwrap().matches(["Falcon", "budget"]));
        assert!(!Matcher::new("\"falcon budget\"").unwrap().matches(["budget falcon"]));
        assert!(matches("東京", "在東京的") && !matches("東京", "京東"));
        assert!(matches("\"alice@acme.io\"", "x alice@acme.io") && !matches("\"alice@acme.io\"", "alice@acme.io.uk"));
    }

    #[test]
    fn index_terms_are_what_every_match_holds() {
        assert_eq!(Matcher::new("everything about TKT-100").unwrap().index_terms(), ["100", "tkt", "tkt-100"]);
        assert_eq!(Matcher::new("getUsers").unwrap().index_terms(), ["getus"]);
        assert_eq!(Matcher::new("follow-up notes").unwrap().index_terms(), ["follow", "note", "up"]);
    }
}
