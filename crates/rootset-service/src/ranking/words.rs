//! How well the words of a memory answer: BM25 of its best chunk, with the topic's words on top.

use rootset_store::{Candidate, Candidates};

/// Term saturation and length normalisation of BM25; both weaker than usual, because chunks are short.
const K1: f64 = 0.9;
const B: f64 = 0.4;
/// What a term in the topic is worth, against at most `K1 + 1` in the text.
const TOPIC: f64 = 2.0;
/// The same where the chunk says all of the topic itself, as it does when the topic is its first line.
const REPEATED_TOPIC: f64 = 1.0;
/// The same in a tag or a name that the query says whole.
const LABEL: f64 = 1.0;
/// A memory longer than this holds a share of any query by chance: what it scores shrinks with the logarithm of its length.
const LENGTH_FREE: f64 = 60.0;
const LENGTH_PENALTY: f64 = 0.3;

/// What one memory's words say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words {
    /// The score of the best chunk, its topic included.
    pub own: f64,
    /// What it may lend: the best chunk's score by its text alone.
    pub body: f64,
    /// Terms of the query in the best chunk.
    pub matched: usize,
    /// Of what the query tells, the share that the memory's chunks hold together.
    pub held: f64,
    /// Terms of all its chunks.
    pub length: f64,
    /// It holds all phrases that the query quotes.
    pub quotes: bool,
}

impl Words {
    /// How often the length is the free one, at least once, as a logarithm.
    pub fn excess(&self) -> f64 {
        (self.length / LENGTH_FREE).max(1.0).ln()
    }
}

/// The query's terms, and how much each tells.
pub struct Rarity<'a> {
    pub terms: &'a [String],
    pub of_terms: Vec<f64>,
    frequencies: &'a [i64],
    /// Of the workspace.
    pub chunks: f64,
    average_length: f64,
}

impl<'a> Rarity<'a> {
    pub fn new(candidates: &'a Candidates, terms: &'a [String]) -> Self {
        let statistics = &candidates.statistics;
        let rows = statistics.rows as f64;
        Self {
            terms,
            of_terms: statistics.frequencies.iter().map(|frequency| rarity(rows, *frequency)).collect(),
            frequencies: &statistics.frequencies,
            chunks: rows,
            average_length: (statistics.body_terms as f64 / rows.max(1.0)).max(1.0),
        }
    }

    /// What a term tells in a label that so many memories carry.
    pub fn of_label(&self, term: usize, carriers: i64) -> f64 {
        rarity(self.chunks, carriers.max(self.frequencies[term]))
    }

    pub fn total(&self) -> f64 {
        self.of_terms.iter().sum()
    }

    /// Of what all terms tell, the share of those held. Terms that nobody ever wrote tell most.
    fn share(&self, held: &[bool]) -> f64 {
        let total = self.total();
        let of_held: f64 = self.of_terms.iter().zip(held).filter(|(_, held)| **held).map(|(rarity, _)| rarity).sum();
        if total > 0.0 { of_held / total } else { 0.0 }
    }
}

fn rarity(rows: f64, frequency: i64) -> f64 {
    let frequency = frequency as f64;
    (1.0 + (rows - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
}

/// The best of these chunks of one memory, and what the memory's words say; `labelled` is what each term tells
/// where a tag or the name says it.
pub fn of_memory(chunks: &[Candidate], rarity: &Rarity<'_>, phrases: &[String], labelled: &[f64]) -> (usize, Words) {
    let (mut best, mut words) = (0, Words::default());
    let mut held = vec![false; rarity.terms.len()];
    for (place, row) in chunks.iter().enumerate() {
        let chunk = of_chunk(row, rarity, labelled, &mut held);
        if place == 0 || chunk.own > words.own {
            (best, words.own, words.matched) = (place, chunk.own, chunk.matched);
        }
        words.body = words.body.max(chunk.body);
        words.length += chunk.length;
    }
    words.own /= 1.0 + LENGTH_PENALTY * words.excess();
    words.held = rarity.share(&held);
    words.quotes = !phrases.is_empty() && phrases.iter().all(|phrase| chunks.iter().any(|row| holds(row, phrase)));
    (best, words)
}

/// Notes the terms that it holds in `held`.
fn of_chunk(row: &Candidate, rarity: &Rarity<'_>, labelled: &[f64], held: &mut [bool]) -> Words {
    // Queries have few terms and rows are many: comparing beats building a map per row.
    let mut counts = vec![0u32; rarity.terms.len()];
    let mut length = 0.0;
    for word in row.body_terms.split(' ') {
        length += 1.0;
        if let Some(place) = rarity.terms.iter().position(|term| term == word) {
            counts[place] += 1;
        }
    }
    let norm = K1 * (1.0 - B + B * length / rarity.average_length);
    let mut in_topic = vec![false; rarity.terms.len()];
    for word in row.head_terms.split(' ') {
        if let Some(place) = rarity.terms.iter().position(|term| term == word) {
            in_topic[place] = true;
        }
    }
    let topic = if in_topic.contains(&true) && repeats_topic(row) { REPEATED_TOPIC } else { TOPIC };
    let mut words = Words { length, ..Words::default() };
    for (place, (term, rarity)) in rarity.terms.iter().zip(&rarity.of_terms).enumerate() {
        let count = f64::from(counts[place]);
        let in_body = count * (K1 + 1.0) / (count + norm);
        // "3 July" must not find "session 3": a bare number says something in a text, next to nothing in a topic.
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let in_head = if in_topic[place] && !is_number { topic } else { 0.0 };
        let in_label = LABEL * labelled[place];
        words.body += rarity * in_body;
        words.own += (rarity * in_body.max(in_head)).max(in_label);
        let is_held = count > 0.0 || in_head > 0.0 || in_label > 0.0;
        held[place] |= is_held;
        words.matched += usize::from(is_held);
    }
    words
}

fn repeats_topic(row: &Candidate) -> bool {
    // A topic made from the text begins as the text does: most others are told by their first word.
    let mut head = row.head_terms.split(' ');
    head.all(|word| row.body_terms.split(' ').any(|other| other == word))
}

/// Terms are separated by one blank: a phrase is a run of whole terms.
fn holds(row: &Candidate, phrase: &str) -> bool {
    row.body_terms.match_indices(phrase).any(|(start, _)| {
        let end = start + phrase.len();
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
        is_edge(start.checked_sub(1).and_then(|before| row.body_terms.as_bytes().get(before)))
            && is_edge(row.body_terms.as_bytes().get(end))
    })
}
