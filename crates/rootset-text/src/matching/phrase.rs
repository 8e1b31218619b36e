//! Words that must follow each other.
//!
//! A text is seen as units: a word is its stem, an identifier is itself, a compound such as `follow-up` is one unit per
//! word. Not here: which phrases there are.

use crate::scan::{Kind, Piece};
use crate::terms::reader::{Term, TermReader};

/// Between units that do not follow each other; no piece reads like it.
const BARRIER: &str = " ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Wherever the words follow each other.
    Anywhere,
    /// Not where a hyphen joins them to more: `rootset-text` is not in `rootset-text-extra`.
    BetweenWords,
}

/// Borders of a text's words, as far as phrases are concerned.
#[derive(Clone, Debug)]
pub(super) struct Units {
    units: Vec<Unit>,
}

#[derive(Clone, Debug)]
struct Unit {
    key: String,
    /// A hyphen joins it to the unit before.
    is_joined: bool,
}

impl Units {
    /// The units of a plain text, or of a part of it.
    pub(super) fn of(text: &str, pieces: &[Piece], reader: &mut TermReader) -> Self {
        let mut units = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let first = units.len();
            reader.read(text, piece, |term| match (piece.kind, term) {
                (Kind::Word | Kind::Camel | Kind::Compound, Term::Run { stem, .. }) => {
                    units.push(Unit { key: stem.to_owned(), is_joined: units.len() > first });
                }
                (Kind::Word | Kind::Camel | Kind::Compound, _) => {}
                (_, Term::Whole { folded, .. }) if units.len() == first => {
                    units.push(Unit { key: folded.to_owned(), is_joined: false });
                }
                _ => {}
            });
        }
        Self { units }
    }

    /// Adds the compounds inside paths and addresses, each by itself: `rootset-text` is in `crates/rootset-text/src`.
    pub(super) fn add_inner(&mut self, text: &str, pieces: &[Piece], reader: &mut TermReader) {
        let units = &mut self.units;
        for piece in pieces.iter().filter(|piece| matches!(piece.kind, Kind::Url | Kind::Path | Kind::Dotted)) {
            let mut inside = Kind::Word;
            let mut is_joined = false;
            reader.read(text, piece, |term| match term {
                Term::Whole { kind, .. } => {
                    inside = kind;
                    is_joined = false;
                    if kind == Kind::Compound {
                        units.push(Unit { key: BARRIER.to_owned(), is_joined: false });
                    }
                }
                Term::Run { stem, .. } if inside == Kind::Compound => {
                    units.push(Unit { key: stem.to_owned(), is_joined: std::mem::replace(&mut is_joined, true) });
                }
                _ => {}
            });
        }
        self.units.push(Unit { key: BARRIER.to_owned(), is_joined: false });
    }

    pub(super) fn len(&self) -> usize {
        self.units.len()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Phrase {
    keys: Vec<String>,
    /// Per length matched, the longest shorter match that it ends with (Knuth, Morris, Pratt): repetitive phrases in
    /// repetitive texts must not take the product of their lengths.
    fallback: Vec<usize>,
    strictness: Strictness,
}

impl Phrase {
    /// The phrase must have units.
    pub(super) fn new(units: Units, strictness: Strictness) -> Self {
        let keys: Vec<String> = units.units.into_iter().map(|unit| unit.key).collect();
        assert!(!keys.is_empty(), "a phrase of nothing would occur everywhere");
        let mut fallback = vec![0; keys.len()];
        let mut matched = 0;
        for end in 1..keys.len() {
            while matched > 0 && keys[end] != keys[matched] {
                matched = fallback[matched - 1];
            }
            matched += usize::from(keys[end] == keys[matched]);
            fallback[end] = matched;
        }
        Self { keys, fallback, strictness }
    }

    pub(super) fn occurs_in(&self, text: &Units) -> bool {
        let mut matched = 0;
        for (index, unit) in text.units.iter().enumerate() {
            while matched > 0 && (matched == self.keys.len() || unit.key != self.keys[matched]) {
                matched = self.fallback[matched - 1];
            }
            matched += usize::from(unit.key == self.keys[matched]);
            if matched == self.keys.len() && self.is_free(text, index + 1 - matched, index + 1) {
                return true;
            }
        }
        false
    }

    fn is_free(&self, text: &Units, start: usize, end: usize) -> bool {
        let is_joined = |index: usize| text.units.get(index).is_some_and(|unit| unit.is_joined);
        self.strictness == Strictness::Anywhere || !(is_joined(start) || is_joined(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chars::plain;
    use crate::scan::scan;

    fn units(text: &str) -> Units {
        let text = plain(text);
        let pieces = scan(&text);
        let mut units = Units::of(&text, &pieces, &mut TermReader::new());
        units.add_inner(&text, &pieces, &mut TermReader::new());
        units
    }

    fn occurs(phrase: &str, strictness: Strictness, text: &str) -> bool {
        let phrase = plain(phrase);
        Phrase::new(Units::of(&phrase, &scan(&phrase), &mut TermReader::new()), strictness).occurs_in(&units(text))
    }

    #[test]
    fn repetitions_are_found_at_every_offset() {
        assert!(occurs("a a b", Strictness::Anywhere, "a a a b"));
        assert!(occurs("a b a c", Strictness::Anywhere, "a b a b a c"));
        assert!(!occurs("a b a c", Strictness::Anywhere, "a b a b a"));
    }

    #[test]
    fn compounds_are_found_apart_and_inside_paths_but_not_in_longer_ones() {
        let occurs = |text| occurs("rootset-text", Strictness::BetweenWords, text);
        assert!(occurs("the rootset-text crate") && occurs("rootset text") && occurs("crates/rootset-text/src"));
        assert!(!occurs("rootset-text-extra") && !occurs("my-rootset-text") && !occurs("a/rootset-text-extra/b"));
    }
}
