//! What plain BM25 over stemmed words without stop words finds in the same turns, for comparison. It reads the texts alone,
//! without speakers.
//!
//! Kept apart from Rootset's own ranking on purpose: a baseline that shares code with what it is compared to moves along
//! with it. Only the splitting into terms is the same.

use std::collections::HashMap;

use rootset_text::terms;

use super::conversation::Conversation;
use super::metrics::DEEPEST;

/// The usual values of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Whether turns get a share of the better one of their two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lending {
    None,
    Quarter,
}

pub struct Baseline<'a> {
    turns: Vec<(&'a str, HashMap<String, f64>, f64)>,
    frequencies: HashMap<String, f64>,
    average_length: f64,
}

impl<'a> Baseline<'a> {
    pub fn new(conversation: &'a Conversation) -> Self {
        let mut turns = Vec::with_capacity(conversation.turns.len());
        let mut frequencies: HashMap<String, f64> = HashMap::new();
        for turn in &conversation.turns {
            let terms = terms::index_terms(&turn.text);
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut length = 0.0;
            for term in terms.split(' ') {
                *counts.entry(term.to_owned()).or_default() += 1.0;
                length += 1.0;
            }
            counts.keys().for_each(|term| *frequencies.entry(term.clone()).or_default() += 1.0);
            turns.push((turn.id.as_str(), counts, length));
        }
        let average_length = turns.iter().map(|(.., length)| length).sum::<f64>() / turns.len().max(1) as f64;
        Self { turns, frequencies, average_length }
    }

    pub fn rank(&self, question: &str, lending: Lending) -> Vec<&'a str> {
        let terms = terms::query_terms(question);
        let own: Vec<f64> = self
            .turns
            .iter()
            .map(|(_, counts, length)| terms.iter().map(|term| self.score(&term.term, counts, *length)).sum())
            .collect();
        let at = |place: Option<usize>| place.and_then(|place| own.get(place)).copied().unwrap_or(0.0);
        let lent = |place: usize| match lending {
            Lending::None => 0.0,
            Lending::Quarter => 0.25 * at(place.checked_sub(1)).max(at(place.checked_add(1))),
        };
        let mut ranked: Vec<(f64, &str)> =
            self.turns.iter().enumerate().map(|(place, (id, ..))| (own[place] + lent(place), *id)).collect();
        ranked.retain(|(score, _)| *score > 0.0);
        // Stable: of equals, the earlier turn comes first.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().take(DEEPEST).map(|(_, id)| id).collect()
    }

    fn score(&self, term: &str, counts: &HashMap<String, f64>, length: f64) -> f64 {
        let Some(count) = counts.get(term) else { return 0.0 };
        let frequency = self.frequencies.get(term).copied().unwrap_or(0.0);
        let idf = (1.0 + (self.turns.len() as f64 - frequency + 0.5) / (frequency + 0.5)).ln();
        idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / self.average_length.max(1.0)))
    }
}
