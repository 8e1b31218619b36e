//! What a sentence claims: what it is about, values of it, and whether it tells of a change; and whether a newer claim replaces
//! an older.
//!
//! Found by form alone, like entities. A pair is told where both speak of the same thing, the newer one has another value of
//! the same kind, and nothing says that both may hold (another environment, a further value, a plan, a story of the past). The
//! more a sentence says that something changed, the fewer words it has to share. Not here: which texts are compared, and what
//! follows.

mod apart;
mod clause;
mod ended;
mod judging;
mod lexicon;
mod log;
mod reading;
mod states;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use crate::sentences::sentences;
pub use clause::{NoClause, with_clause};
use judging::Rarity;
use lexicon::{Attribute, Change};
use values::Value;

/// A longer text tells a story or answers a question; somewhere in it stands another number of something.
const READ_BYTES_MAX: usize = 1_600;
const SENTENCES_MAX: usize = 12;
/// What is much less sure than the surest only shares some of its words.
const BESIDE_SUREST: f64 = 0.25;
/// Terms by which older claims are looked for.
const LOOKED_FOR_MAX: usize = 12;

/// What one sentence says.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The sentence, as a range of the text.
    pub start: usize,
    pub end: usize,
    /// Stems of what it is about, each with its weight.
    topic: BTreeMap<String, f64>,
    /// Words that stand directly in front of a word of the topic: `billing` of `billing service`.
    modifiers: BTreeMap<String, BTreeSet<String>>,
    /// Words behind `of`: `wiki` of `owner of the wiki`.
    complements: BTreeMap<String, BTreeSet<String>>,
    /// What somebody or something has: `flight` of `Anna's flight`.
    owned: BTreeMap<String, BTreeSet<String>>,
    /// Names that stand before the verb, or have an apostrophe: who or what it is about. Stems.
    subject_names: BTreeSet<String>,
    /// Names of several words.
    full_names: Vec<Vec<String>>,
    /// Numbers that tell a thing from others: `sprint 12`. What is numbered, and its number.
    numbered: BTreeMap<String, String>,
    attributes: BTreeSet<Attribute>,
    values: Vec<Value>,
    /// Stems and written values that are told as former.
    former: BTreeSet<String>,
    change: Change,
    /// It ends something, without another value for it.
    is_end: bool,
    scope: BTreeSet<&'static str>,
    years: BTreeSet<String>,
    /// A plan, a possibility or a further value.
    is_doubtful: bool,
    /// It tells what was done, and not how it is: `bump serde to 1.0.2`.
    is_log_entry: bool,
    /// `has an office in …`: there may be more of them.
    is_one_of_several: bool,
    is_history: bool,
    /// All words, for what they exclude.
    words: Vec<String>,
}

/// Two sentences of which the newer replaces the older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Bytes of the older text.
    pub old: (usize, usize),
    /// Bytes of the newer text.
    pub new: (usize, usize),
}

/// The claims of a text, in order.
pub fn claims(text: &str) -> Vec<Claim> {
    if text.len() > READ_BYTES_MAX || text.contains("```") {
        return Vec::new();
    }
    let ranges = sentences(text);
    if ranges.len() > SENTENCES_MAX {
        return Vec::new();
    }
    let mut claims: Vec<Claim> = ranges.into_iter().filter_map(|range| Claim::read(text, range)).collect();
    // `We got an extension. The manuscript is due on 15 August.`
    for place in 1..claims.len() {
        if claims[place].change == Change::None && claims[place - 1].change == Change::Strong {
            claims[place].change = Change::Weak;
        }
    }
    claims
}

/// The first claim of the newer text that replaces one of the older text.
pub fn update(old: &[Claim], new: &[Claim]) -> Option<Update> {
    updates(&[old], new).pop().flatten()
}

/// For each older text whether a claim of the newer one replaces one of its own. A word that many of the texts hold counts
/// less.
pub fn updates<T: AsRef<[Claim]>>(olds: &[T], new: &[Claim]) -> Vec<Option<Update>> {
    let rarity = Rarity::among(olds);
    let replaced = |old: &T| {
        let pairs = new.iter().flat_map(|newer| old.as_ref().iter().map(move |older| (older, newer)));
        let chances = chances(old.as_ref().len(), new.len());
        let best = pairs.filter_map(|(older, newer)| Some((newer.replaces(older, &rarity, chances)?, older, newer)));
        let (sure, older, newer) = best.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let update = Update { old: (older.start, older.end), new: (newer.start, newer.end) };
        Some((sure, update))
    };
    let found: Vec<Option<(f64, Update)>> = olds.iter().map(replaced).collect();
    let surest = found.iter().flatten().map(|it| it.0).fold(0.0, f64::max);
    let told = |(sure, update): (f64, Update)| (sure >= surest - BESIDE_SUREST).then_some(update);
    found.into_iter().map(|it| it.and_then(told)).collect()
}

/// What two sentences have to share in addition because there were many pairs to try.
fn chances(olds: usize, news: usize) -> f64 {
    /// Pairs of two short notes.
    const PAIRS_FREE: f64 = 2.0;
    const BY_PAIRS: f64 = 0.15;
    BY_PAIRS * ((olds * news) as f64 / PAIRS_FREE).max(1.0).ln()
}

/// Terms of the full-text index by which older claims about the same are found: those with the greatest weight.
pub fn subject_terms(claims: &[Claim]) -> Vec<String> {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for (term, weight) in claims.iter().flat_map(|claim| &claim.topic) {
        weights.insert(term, *weight);
    }
    let mut terms: Vec<(&str, f64)> = weights.into_iter().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.len().cmp(&a.0.len())).then(a.0.cmp(b.0)));
    terms.into_iter().take(LOOKED_FOR_MAX).map(|(term, _)| term.to_owned()).collect()
}

#[cfg(test)]
mod tests;
