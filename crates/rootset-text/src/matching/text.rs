//! A memory as it is looked through: its fields, their sentences, and the words of those as names are compared.
//!
//! Sentences are ranges of the text as stored, so that what is found can be cut out of it. Not here: what is looked for.

use std::borrow::Cow;
use std::ops::Range;

use crate::chars::{fold, plain};
use crate::scan::{Kind, Piece, scan};
use crate::sentences::sentences;

/// What a root says, field by field. Of what is no memory, everything is in `more`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    pub topic: &'a str,
    pub context: &'a str,
    pub decisions: &'a [String],
    pub rationale: &'a [String],
    /// Tags, metadata: what cannot be cut.
    pub more: &'a [&'a str],
}

impl Fields<'_> {
    pub(super) fn has(&self, text: &str) -> bool {
        let lists = self.decisions.iter().chain(self.rationale).map(String::as_str);
        [self.topic, self.context].into_iter().chain(lists).chain(self.more.iter().copied()).any(|it| it.contains(text))
    }
}

/// Where a sentence stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Topic,
    /// Bytes of the context.
    Context(Range<usize>),
    Decision(usize),
    Rationale(usize),
    More,
}

pub(super) struct Sentence<'a> {
    pub place: Place,
    pub written: &'a str,
    pub plain: Cow<'a, str>,
    pub pieces: Vec<Piece>,
    pub words: Vec<Word>,
}

/// A word as names are compared.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub folded: String,
    /// Without case and accents.
    pub bare: String,
    /// With `ue` for `ü`; the same as `bare` where there is none.
    pub expanded: String,
    pub start: usize,
    pub end: usize,
    /// Begins as names do.
    pub is_capital: bool,
    /// A hyphen ties it to a neighbour.
    pub is_joined: bool,
}

impl Word {
    fn new(plain: &str, start: usize, end: usize, is_joined: bool) -> Self {
        let written = &plain[start..end];
        let (bare, expanded) = bare_and_expanded(written);
        let is_capital = is_name_like(written);
        Self { folded: fold(written), bare, expanded, start, end, is_capital, is_joined }
    }

    /// A part of a request that is one word, whatever it looks like.
    pub fn of_request(plain: &str, range: &Range<usize>) -> Self {
        Self::new(plain, range.start, range.end, false)
    }

    /// Whether two words may be the same name, written with or without accents.
    pub fn is(&self, other: &Self) -> bool {
        self.bare == other.bare || self.expanded == other.bare || self.bare == other.expanded
    }
}

/// A capital, or a script without capitals.
pub(super) fn is_name_like(written: &str) -> bool {
    written.chars().next().is_some_and(|c| c.is_uppercase() || (c.is_alphabetic() && !c.is_lowercase()))
}

/// Letters with the accents that names are typed without.
pub(super) const ACCENTS: &[(char, &str)] = &[
    ('a', "áàâäãå"),
    ('c', "çč"),
    ('d', "đð"),
    ('e', "éèêë"),
    ('i', "íîïı"),
    ('l', "ł"),
    ('n', "ñ"),
    ('o', "óôöõø"),
    ('s', "š"),
    ('u', "úùûü"),
    ('y', "ý"),
    ('z', "žż"),
];
/// What is written with two letters where its sign is missing.
pub(super) const PAIRS: &[(&str, char)] =
    &[("ae", 'ä'), ("oe", 'ö'), ("ue", 'ü'), ("aa", 'å'), ("oe", 'ø'), ("ae", 'æ')];
/// A longer word is looked for with one accent at most: the ways to place two are too many.
const WITH_TWO_ACCENTS_CHARS_MAX: usize = 8;
const ACCENTED_CHARS_MAX: usize = 24;

/// How many accents a word may lose and still be found by the terms that are made for it.
pub(super) fn accents_max(chars: usize) -> usize {
    usize::from(chars <= WITH_TWO_ACCENTS_CHARS_MAX) + usize::from(chars <= ACCENTED_CHARS_MAX)
}

/// Without accents, and with `ae`, `oe`, `ue` for an umlaut. A word with many accents keeps them.
pub(super) fn bare_and_expanded(written: &str) -> (String, String) {
    let folded = fold(written);
    if folded.is_ascii() {
        return (folded.clone(), folded);
    }
    let (with_ss, sharp) = (folded.replacen('ß', "ss", 1), folded.matches('ß').count());
    let base = |c: char| ACCENTS.iter().find(|(_, accented)| accented.contains(c)).map(|(letter, _)| *letter);
    let accents = with_ss.chars().filter(|c| base(*c).is_some()).count();
    let is_found = sharp <= 1 && sharp + accents <= accents_max(with_ss.chars().count());
    let bare: String = if is_found { with_ss.chars().map(|c| base(c).unwrap_or(c)).collect() } else { folded.clone() };
    let pair = PAIRS.iter().find(|(_, sign)| with_ss.contains(*sign));
    let expanded = match pair {
        Some((pair, sign)) if sharp <= 1 && with_ss.chars().filter(|c| !c.is_ascii()).count() == 1 => {
            with_ss.replacen(*sign, pair, 1)
        }
        _ => bare.clone(),
    };
    (bare, expanded)
}

impl<'a> Sentence<'a> {
    pub(super) fn of(place: Place, written: &'a str) -> Self {
        let plain = plain(written);
        let pieces = scan(&plain);
        let mut words = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            match piece.kind {
                Kind::Word | Kind::Camel => words.push(Word::new(&plain, piece.start, piece.end, false)),
                Kind::Compound | Kind::Issue => {
                    let mut start = piece.start;
                    for part in piece.of(&plain).split('-') {
                        words.push(Word::new(&plain, start, start + part.len(), true));
                        start += part.len() + 1;
                    }
                }
                _ => {}
            }
        }
        Self { place, written, plain, pieces, words }
    }

    /// Whether nothing but blanks stands between two words that follow each other.
    pub(super) fn is_adjacent(&self, first: usize, second: usize) -> bool {
        match (self.words.get(first), self.words.get(second)) {
            (Some(a), Some(b)) if a.end <= b.start => {
                let between = &self.plain[a.end..b.start];
                !between.is_empty() && between.len() <= 3 && between.chars().all(char::is_whitespace)
            }
            _ => false,
        }
    }
}

impl Sentence<'_> {
    /// Whether a word stands in quotes or brackets of its own: `Robert "Bob" Miller`.
    pub(super) fn has_quoted(&self, index: usize) -> bool {
        self.words.get(index).is_some_and(|word| {
            self.plain[..word.start].ends_with(['"', '“', '(', '\'', '‘'])
                && self.plain[word.end..].starts_with(['"', '”', ')', '\'', '’'])
        })
    }
}

/// Which script a name is written in, by its first letter.
pub(super) fn script_of(name: &str) -> Option<u32> {
    name.chars().find(|c| c.is_alphabetic()).map(|c| match c as u32 {
        0..=0x024F | 0x1E00..=0x1EFF => 0,
        0x0370..=0x03FF => 1,
        0x0400..=0x052F => 2,
        0x3040..=0x9FFF => 3,
        code => 4 + code / 0x100,
    })
}

/// All sentences of a memory, in order.
pub(super) fn sentences_of<'a>(fields: &Fields<'a>) -> Vec<Sentence<'a>> {
    let mut all = vec![Sentence::of(Place::Topic, fields.topic)];
    let context = fields.context;
    all.extend(
        sentences(context).into_iter().map(|range| Sentence::of(Place::Context(range.clone()), &context[range])),
    );
    let entries = |list: &'a [String], place: fn(usize) -> Place| {
        list.iter().enumerate().map(move |(index, text)| Sentence::of(place(index), text.as_str()))
    };
    all.extend(entries(fields.decisions, Place::Decision));
    all.extend(entries(fields.rationale, Place::Rationale));
    all.extend(fields.more.iter().map(|text| Sentence::of(Place::More, text)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_and_umlauts_do_not_tell_names_apart() {
        let word = |text: &str| Word::new(text, 0, text.len(), false);
        for (a, b) in
            [("Müller", "Mueller"), ("Müller", "Muller"), ("José", "Jose"), ("Søren", "Soren"), ("Strauß", "Strauss")]
        {
            assert!(word(a).is(&word(b)) && word(b).is(&word(a)), "{a} {b}");
        }
        assert!(!word("Muller").is(&word("Mueller")));
        assert_eq!(bare_and_expanded("किताब").0, "किताब");
    }
}
