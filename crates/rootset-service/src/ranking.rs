//! The order of search results: BM25 over terms, shared between neighbours in a thread, cosines where there are vectors, and
//! small bonuses. A pure function of what the store collected.
//!
//! A memory scores by its best chunk. Every constant here and in the modules below was measured on short turns between
//! people and on long chats with agents; docs/answers.md has the figures with and without each.

mod neighbours;
mod relevance;
mod similarity;
mod updates;
mod words;

use std::collections::HashMap;

use rootset_model::Timestamp;
use rootset_store::{Candidate, Candidates, Ranked};

use crate::labels::{self, Label};
use words::Words;

/// A query of a few words names what it wants; only a longer one describes it, and may be answered beside its words.
const NEIGHBOURS_SERVED_TERMS_MIN: usize = 4;
/// Terms of a turn of a conversation. Only of these is a question not what is looked for, and answered by the next.
const TURN_TERMS_MAX: f64 = 60.0;
const QUESTION: f64 = 0.88;
/// Bonus of a memory written just now, halved every month.
const FRESHNESS: f64 = 0.05;
const FRESHNESS_HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;
/// Bonus of a memory that tells of a day the query names.
const SAME_DAY: f64 = 0.5;
/// Weight of the vector score beside that of the words, both scaled to [0, 1].
const VECTOR_WEIGHT: f64 = 0.35;

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    pub terms: &'a [String],
    /// What of it may be the tag or the name of a memory.
    pub labels: &'a [Label],
    /// The terms of what stands in quotation marks, each with one blank between them.
    pub phrases: &'a [String],
    /// First and last moments of the days, months and years it names.
    pub periods: &'a [(Timestamp, Timestamp)],
    /// It asks how something is, so that of two answers the newer one counts.
    pub asks_for_state: bool,
}

/// A memory among the candidates, as the parts of a score see it.
struct Found<'a> {
    /// Its chunks that were loaded, in order.
    chunks: &'a [Candidate],
    /// The chunk that its words are best in.
    best: usize,
    words: Words,
    /// The best cosine of its chunks, where there is one.
    similarity: Option<f64>,
}

impl<'a> Found<'a> {
    fn row(&self) -> &'a Candidate {
        &self.chunks[self.best]
    }

    /// A short question in a conversation.
    fn is_asking(&self) -> bool {
        self.is_turn() && self.chunks.len() == 1 && self.row().is_question
    }

    fn is_turn(&self) -> bool {
        self.words.length <= TURN_TERMS_MAX
    }
}

/// Best first. Memories without any score are left out; none at all are left where nothing is relevant.
pub fn rank(candidates: &Candidates, question: &Question<'_>, now: Timestamp, with_reasons: bool) -> Vec<Ranked> {
    let rarity = words::Rarity::new(candidates, question.terms);
    let found: Vec<Found<'_>> =
        memories(&candidates.rows).map(|chunks| found(chunks, &rarity, &candidates.carriers, question)).collect();
    let in_place: HashMap<i64, usize> =
        found.iter().enumerate().filter_map(|(number, it)| Some((it.row().place?, number))).collect();
    let lexical: Vec<f64> =
        found.iter().map(|it| it.words.own + neighbours::lent_words(it, &found, &in_place)).collect();
    let largest = lexical.iter().copied().fold(0.0, f64::max);
    if relevance::is_nothing_relevant(&found, largest, &rarity) {
        return Vec::new();
    }
    let similar = similarity::scaled(&found, &in_place);

    let serves_neighbours = question.terms.len() >= NEIGHBOURS_SERVED_TERMS_MIN;
    let mut ranked: Vec<(f64, usize, f64)> = Vec::new();
    for (number, it) in found.iter().enumerate().filter(|(_, it)| it.row().is_servable) {
        if it.words.matched == 0 && it.similarity.is_none() && !serves_neighbours {
            continue;
        }
        let mut words = if largest > 0.0 { lexical[number] / largest } else { 0.0 };
        if it.is_asking() {
            words *= QUESTION;
        }
        words *= 1.0 + FRESHNESS * freshness(it.row().updated_at, now);
        if tells_of(it.row().occurred, question.periods) {
            words *= 1.0 + SAME_DAY;
        }
        let score = words + VECTOR_WEIGHT * similar[number];
        // What vectors found stays, behind all that is above the median: in a small workspace half of it is below.
        if score > 0.0 || it.similarity.is_some_and(|cosine| cosine > 0.0) {
            ranked.push((score, number, words));
        }
    }
    // What holds a quoted phrase word for word comes first.
    let quotes = |number: usize| found[number].words.quotes;
    let cosine = |number: usize| found[number].similarity.unwrap_or(0.0);
    ranked.sort_by(|a, b| {
        quotes(b.1)
            .cmp(&quotes(a.1))
            .then(b.0.total_cmp(&a.0))
            .then(cosine(b.1).total_cmp(&cosine(a.1)))
            .then(a.1.cmp(&b.1))
    });
    if question.asks_for_state {
        updates::newer_first(&mut ranked, &found, &rarity);
    }
    let reasons = |number: usize, words: f64| reasons(&found[number], words, similar[number]);
    ranked
        .into_iter()
        .map(|(score, number, words)| {
            let row = found[number].row();
            let why = if with_reasons { reasons(number, words) } else { String::new() };
            Ranked { chunk: row.chunk, memory: row.memory, score, why }
        })
        .collect()
}

/// Chunks of one memory are beside one another: they were numbered together.
fn memories(rows: &[Candidate]) -> impl Iterator<Item = &[Candidate]> {
    rows.chunk_by(|a, b| a.memory == b.memory)
}

fn found<'a>(
    chunks: &'a [Candidate],
    rarity: &words::Rarity<'_>,
    carriers: &HashMap<String, i64>,
    question: &Question<'_>,
) -> Found<'a> {
    let carriers = labels::carriers_of_terms(&chunks[0].labels, carriers, question);
    let labelled: Vec<f64> = carriers
        .iter()
        .enumerate()
        .map(|(term, carriers)| carriers.map_or(0.0, |it| rarity.of_label(term, it)))
        .collect();
    let (best, words) = words::of_memory(chunks, rarity, question.phrases, &labelled);
    let similarity = chunks.iter().filter_map(|row| row.similarity).map(f64::from).reduce(f64::max);
    Found { chunks, best, words, similarity }
}

/// 1 for a memory of this moment, one half a month later; a time in the future counts as now.
fn freshness(updated_at: Timestamp, now: Timestamp) -> f64 {
    let age_ms = now.0.saturating_sub(updated_at.0).max(0) as f64;
    0.5f64.powf(age_ms / FRESHNESS_HALF_LIFE_MS)
}

fn tells_of(occurred: Option<(Timestamp, Timestamp)>, periods: &[(Timestamp, Timestamp)]) -> bool {
    occurred.is_some_and(|(from, until)| periods.iter().any(|period| from <= period.1 && until >= period.0))
}

fn reasons(it: &Found<'_>, words: f64, similarity: f64) -> String {
    let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = vec![format!("{}, lexical {words:.3}", plural(it.words.matched, "query term", "query terms"))];
    if similarity > 0.0 {
        parts.push(format!("vector {similarity:.3}"));
    }
    let labels = it.row().labels.len();
    if labels > 0 {
        parts.push(plural(labels, "tag or name", "tags or names"));
    }
    let linked = it.row().linked_entities;
    if linked > 0 {
        parts.push(plural(linked, "entity of the query", "entities of the query"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests;
