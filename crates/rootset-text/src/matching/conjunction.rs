//! Requirements that a text must hold together: identifiers whole, words by their stems, phrases as one sequence.
//!
//! Not here: what a request means ([`super::request`]); it hands over the part of it that is to be taken literally.

use std::collections::{BTreeSet, HashMap};

use crate::chars::{cut_bytes, fold, plain};
use crate::matching::noise::is_request_word;
use crate::matching::phrase::{Phrase, Strictness, Units};
use crate::scan::{Kind, Piece, scan};
use crate::terms::TERM_BYTES_MAX;
use crate::terms::reader::{Term, TermReader};
use crate::words::is_stop;

/// What a text must hold to match.
#[derive(Clone, Debug)]
pub(super) struct Conjunction {
    /// Case-folded pieces, to their place among the requirements.
    identifiers: HashMap<String, usize>,
    /// Stems, likewise.
    words: HashMap<String, usize>,
    phrases: Vec<Phrase>,
    index_terms: Vec<String>,
}

impl Conjunction {
    /// None when the query says nothing that could be looked for.
    pub(super) fn new(query: &str) -> Option<Self> {
        let plain = plain(query);
        let pieces = scan(&plain);
        let mut builder = Builder::new(&plain);
        let mut quotations = quotations(&plain).into_iter().peekable();
        let mut index = 0;
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

    /// One piece of a plain text, as it is.
    pub(super) fn of_piece(plain: &str, piece: &Piece) -> Option<Self> {
        let mut builder = Builder::new(plain);
        builder.piece(piece);
        builder.build()
    }

    /// Whether the fields of one memory, taken together, hold everything asked for.
    pub(super) fn matches<'a>(&self, fields: impl IntoIterator<Item = &'a str>) -> bool {
        let mut missing = Missing::of(self);
        let mut reader = TermReader::new();
        for field in fields {
            let plain = plain(field);
            let pieces = scan(&plain);
            for piece in &pieces {
                // A handle is one thing: the words in it are not said.
                let is_handle = piece.kind != Kind::Word && plain[..piece.start].ends_with('@');
                reader.read(&plain, piece, |term| match term {
                    Term::Run { .. } | Term::Part { .. } if is_handle => {}
                    term => missing.strike(self, term),
                });
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
    pub(super) fn index_terms(&self) -> &[String] {
        &self.index_terms
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
    fn of(conjunction: &Conjunction) -> Self {
        Self {
            identifiers: vec![true; conjunction.identifiers.len()],
            words: vec![true; conjunction.words.len()],
            phrases: vec![true; conjunction.phrases.len()],
            count: conjunction.identifiers.len() + conjunction.words.len(),
        }
    }

    fn strike(&mut self, conjunction: &Conjunction, term: Term<'_>) {
        let found = match term {
            Term::Whole { folded, .. } => {
                conjunction.identifiers.get(folded).map(|&place| &mut self.identifiers[place])
            }
            Term::Run { stem, .. } | Term::Part { stem } => {
                conjunction.words.get(stem).map(|&place| &mut self.words[place])
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
        } else if !is_stop(&folded) && !is_request_word(&folded) {
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

    fn build(self) -> Option<Conjunction> {
        let is_empty = self.identifiers.is_empty() && self.words.is_empty() && self.phrases.is_empty();
        (!is_empty).then(|| Conjunction {
            identifiers: self.identifiers,
            words: self.words,
            phrases: self.phrases,
            index_terms: self.index_terms.into_iter().collect(),
        })
    }
}

/// How many characters that stand alone follow each other directly, from the first piece on, which is one.
fn lone_run(pieces: &[Piece]) -> usize {
    let follows = |pair: &&[Piece]| pair[0].end == pair[1].start && pair[1].kind == Kind::Lone;
    1 + pieces.windows(2).take_while(follows).count()
}

/// The insides of pairs of quotation marks, in order.
pub(super) fn quotations(text: &str) -> Vec<std::ops::Range<usize>> {
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
