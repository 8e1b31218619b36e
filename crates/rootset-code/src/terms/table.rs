//! The terms of identifiers, remembered: the second time, an identifier costs one look-up.
//!
//! What is written depends on the identifiers since [`TermTable::begin`] alone, never on what is remembered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::split::{fold, is_term, parts, whole_of};
use crate::stems::Stems;

/// When this much is remembered, everything is forgotten: a table is for the names of a repository, not for all.
const REMEMBERED_BYTES_MAX: usize = 2 << 20;

#[derive(Default)]
pub(crate) struct TermTable {
    stems: Stems,
    /// Every term once; `terms` knows its place here and when it was written last.
    letters: String,
    terms: Vec<Term>,
    numbers: HashMap<Box<str>, u32, BuildHasherDefault<Fold64>>,
    /// An identifier as written → its terms in `given`.
    identifiers: HashMap<Box<str>, Given, BuildHasherDefault<Fold64>>,
    given: Vec<u32>,
    round: u32,
    buffer: String,
}

struct Term {
    start: u32,
    end: u32,
    written_in: u32,
}

#[derive(Clone, Copy)]
struct Given {
    start: u32,
    count: u16,
    written_in: u32,
}

impl TermTable {
    /// From here on, every term is new.
    pub(crate) fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.letters.len() + self.given.len() * 4 + self.identifiers.len() * 64 > REMEMBERED_BYTES_MAX
            || self.round == 0
        {
            *self = Self { round: 1, ..Self::default() };
        }
    }

    /// Appends those terms of an identifier that were not written since [`Self::begin`], each behind a blank.
    pub(crate) fn write(&mut self, identifier: &str, out: &mut String) {
        let given = match self.identifiers.get_mut(identifier) {
            Some(given) if given.written_in == self.round => return,
            Some(given) => {
                given.written_in = self.round;
                *given
            }
            None => self.learn(identifier),
        };
        let (start, count) = (given.start as usize, usize::from(given.count));
        for number in &self.given[start..start + count] {
            let term = &mut self.terms[*number as usize];
            if term.written_in != self.round {
                term.written_in = self.round;
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&self.letters[term.start as usize..term.end as usize]);
            }
        }
    }

    fn learn(&mut self, identifier: &str) -> Given {
        let start = self.given.len();
        if is_term(identifier) {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.clear();
            whole_of(identifier, &mut buffer);
            self.give(&buffer);
            let mut folded = String::new();
            parts(identifier, |part| {
                folded.clear();
                fold(part, &mut folded);
                buffer.clear();
                self.stems.push_stem(&folded, &mut buffer);
                self.give(&buffer);
            });
            self.buffer = buffer;
        }
        let count = (self.given.len() - start) as u16;
        let given = Given { start: start as u32, count, written_in: self.round };
        self.identifiers.insert(identifier.into(), given);
        given
    }

    fn give(&mut self, term: &str) {
        let number = match self.numbers.get(term) {
            Some(number) => *number,
            None => {
                let start = self.letters.len() as u32;
                self.letters.push_str(term);
                let number = self.terms.len() as u32;
                self.terms.push(Term { start, end: self.letters.len() as u32, written_in: 0 });
                self.numbers.insert(term.into(), number);
                number
            }
        };
        self.given.push(number);
    }
}

/// A quick hash for short keys. Its values decide only where things are remembered, never what is written.
#[derive(Default)]
struct Fold64(u64);

impl Fold64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(Self::FACTOR);
        // What was before goes in once more: a word that makes the product vanish must not make it forgotten.
        self.0 = self.0.rotate_left(23) ^ (product >> 64) as u64 ^ product as u64;
    }
}

impl Hasher for Fold64 {
    /// Words may overlap at the end: that is quicker than to look at what is left byte by byte.
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= (bytes.len() as u64) << 56;
        if let (Some(_), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            let mut rest = bytes;
            while let Some((word, behind)) = rest.split_first_chunk::<8>() {
                self.mix(u64::from_le_bytes(*word));
                rest = behind;
            }
            self.mix(u64::from_le_bytes(*last));
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            self.mix(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)));
        } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
            let middle = bytes[bytes.len() / 2];
            self.mix(u64::from(*first) << 16 | u64::from(middle) << 8 | u64::from(*last));
        }
    }

    /// The end of a string, which its length has told.
    fn write_u8(&mut self, _: u8) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
