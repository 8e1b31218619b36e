//! The newer of two that say the same thing with another value comes first.
//!
//! Told by words alone: both hold much of what is asked, both name a number, the newer one another, and the newer one says
//! that something changed. A long text is never taken for an update: it names many numbers.

use super::Found;
use super::words::Rarity;

/// Results that may be moved up, and results that they may be moved before.
const UPDATES_MAX: usize = 20;
const UPDATED_MAX: usize = 3;
/// Terms of a text that may be an update or be updated.
const TERMS_MAX: f64 = 200.0;
/// How much of what the query asks an update holds, and how much of what the older one holds of it; by rarity.
const ASKED_MIN: f64 = 0.3;
const SHARED_MIN: f64 = 0.3;
/// An update's score, as a share of that of what it updates.
const SCORE_MIN: f64 = 0.4;

/// Stems of words that tell of a change, sorted.
const CHANGE: &[&str] = &[
    "actual",
    "adjust",
    "anymor",
    "chang",
    "current",
    "decreas",
    "expand",
    "extend",
    "grow",
    "growth",
    "improv",
    "increas",
    "instead",
    "latest",
    "move",
    "new",
    "now",
    "postpon",
    "push",
    "rais",
    "reach",
    "recent",
    "reduc",
    "reschedul",
    "revis",
    "switch",
    "updat",
    "upgrad",
];

/// What of a chunk is compared.
struct Said<'a> {
    holds: Vec<bool>,
    numbers: Vec<&'a str>,
    tells_of_change: bool,
    is_short: bool,
    /// Later texts have greater numbers, whatever their thread.
    number: i64,
    place: Option<i64>,
}

impl<'a> Said<'a> {
    fn new(it: &Found<'a>, terms: &[String]) -> Self {
        let row = it.row();
        let mut said = Self {
            holds: vec![false; terms.len()],
            numbers: Vec::new(),
            tells_of_change: false,
            is_short: it.words.length <= TERMS_MAX,
            number: row.chunk,
            place: row.place,
        };
        for word in row.body_terms.split(' ') {
            if let Some(place) = terms.iter().position(|term| term == word) {
                said.holds[place] = true;
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                said.numbers.push(word);
            }
            said.tells_of_change |= CHANGE.binary_search(&word).is_ok();
        }
        said
    }

    fn weight(&self, rarity: &Rarity<'_>, of_both: Option<&Said<'_>>) -> f64 {
        let held = self.holds.iter().enumerate();
        let counted = held.filter(|(term, holds)| **holds && of_both.is_none_or(|other| other.holds[*term]));
        counted.map(|(term, _)| rarity.of_terms[term]).sum()
    }

    fn updates(&self, older: &Said<'_>, rarity: &Rarity<'_>) -> bool {
        let continues = older.place.zip(self.place).is_some_and(|(older, newer)| newer == older + 1);
        self.number > older.number
            && !continues
            && self.is_short
            && older.is_short
            && self.tells_of_change
            && !older.numbers.is_empty()
            && self.numbers.iter().any(|number| !older.numbers.contains(number))
            && self.weight(rarity, None) >= ASKED_MIN * rarity.total()
            && self.weight(rarity, Some(older)) >= SHARED_MIN * older.weight(rarity, None)
    }
}

/// Moves updates before what they update. Of several updates of one text the one that answers best.
pub fn newer_first(ranked: &mut [(f64, usize, f64)], found: &[Found<'_>], rarity: &Rarity<'_>) {
    let reach = ranked.len().min(UPDATES_MAX);
    let mut said: Vec<Said<'_>> =
        ranked[..reach].iter().map(|(_, number, _)| Said::new(&found[*number], rarity.terms)).collect();
    for older in 0..reach.min(UPDATED_MAX) {
        let updates = (older + 1..reach).filter(|&newer| {
            ranked[newer].0 >= SCORE_MIN * ranked[older].0 && said[newer].updates(&said[older], rarity)
        });
        let weight = |place: &usize| said[*place].weight(rarity, None);
        // Of equals the better ranked one.
        let best = updates.max_by(|a, b| weight(a).total_cmp(&weight(b)).then(b.cmp(a)));
        if let Some(newer) = best {
            ranked[older..=newer].rotate_right(1);
            said[older..=newer].rotate_right(1);
        }
    }
}
