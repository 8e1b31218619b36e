//! The order of search results: BM25 over terms, shared with neighbours, with small bonuses. A pure function of what the
//! store collected.
//!
//! Measured on real conversations (docs/memory.md has the table): a chunk's neighbours say what it is about, the answer
//! to a question follows it, and a name in the topic counts more than a name in the text.

use std::collections::{HashMap, HashSet};

use rootset_model::{MemoryId, Timestamp};
use rootset_store::{Candidate, Candidates, Ranked};

/// Term saturation and length normalisation of BM25; both weaker than usual, because memories are short.
const K1: f64 = 0.9;
const B: f64 = 0.4;
/// What a term in the topic is worth, against at most `K1 + 1` in the text.
const HEAD_WEIGHT: f64 = 3.0;
/// How much of its score a neighbour lends, per step of distance.
const NEIGHBOUR_DECAY: f64 = 0.55;
const NEIGHBOUR_DISTANCE_MAX: i64 = 4;
/// A query of a few words names what it wants; only a longer one describes it, and may be answered beside its words.
const NEIGHBOURS_SERVED_TERMS_MIN: usize = 4;
/// What follows a question is likely to answer it; the question itself is likely not what is looked for.
const AFTER_QUESTION: f64 = 1.5;
const QUESTION: f64 = 0.85;
/// Bonus for an entity of the query that the memory contributes to, at most twice.
const ENTITY_LINK: f64 = 0.05;
/// Bonus of a memory written just now, halved every month.
const FRESHNESS: f64 = 0.05;
const FRESHNESS_HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;
/// Weight of the vector score beside the lexical one, both scaled to [0, 1].
const VECTOR_WEIGHT: f64 = 0.7;

struct Scored<'a> {
    row: &'a Candidate,
    own: f64,
    body: f64,
    matched: usize,
}

/// Best first, each memory once, by its best chunk. Rows without any score are left out.
pub fn rank(candidates: &Candidates, terms: &[String], now: Timestamp, with_reasons: bool) -> Vec<Ranked> {
    let idf = inverse_frequencies(candidates);
    let average_length = candidates.statistics.body_terms as f64 / candidates.statistics.rows.max(1) as f64;
    let scored: Vec<Scored<'_>> =
        candidates.rows.iter().map(|row| score_terms(row, terms, &idf, average_length)).collect();
    let place: HashMap<i64, usize> = scored.iter().enumerate().map(|(place, it)| (it.row.chunk, place)).collect();
    let lexical: Vec<f64> = scored.iter().map(|it| it.own + lent_by_neighbours(it, &scored, &place)).collect();
    let largest = lexical.iter().copied().fold(0.0, f64::max);
    let similarity = scaled_similarity(candidates);

    let mut ranked: Vec<Ranked> = Vec::new();
    let serves_neighbours = terms.len() >= NEIGHBOURS_SERVED_TERMS_MIN;
    for (position, it) in scored.iter().enumerate().filter(|(_, it)| it.row.is_servable) {
        if it.matched == 0 && it.row.similarity.is_none() && !serves_neighbours {
            continue;
        }
        let mut words = if largest > 0.0 { lexical[position] / largest } else { 0.0 };
        if it.row.is_question {
            words *= QUESTION;
        }
        words *= 1.0 + ENTITY_LINK * it.row.linked_entities.min(2) as f64;
        words *= 1.0 + FRESHNESS * freshness(it.row.updated_at, now);
        let score = words + VECTOR_WEIGHT * similarity[position];
        if score > 0.0 {
            let why = if with_reasons { reasons(it, words, similarity[position]) } else { String::new() };
            ranked.push(Ranked { chunk: it.row.chunk, memory: it.row.memory, score, why });
        }
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    let mut seen: HashSet<MemoryId> = HashSet::new();
    ranked.retain(|it| seen.insert(it.memory));
    ranked
}

fn inverse_frequencies(candidates: &Candidates) -> Vec<f64> {
    let rows = candidates.statistics.rows as f64;
    candidates
        .statistics
        .frequencies
        .iter()
        .map(|&frequency| {
            let frequency = frequency as f64;
            (1.0 + (rows - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
        })
        .collect()
}

fn score_terms<'a>(row: &'a Candidate, terms: &[String], idf: &[f64], average_length: f64) -> Scored<'a> {
    // Queries have few terms and rows are many: comparing beats building a map per row.
    let mut counts = vec![0u32; terms.len()];
    let mut length = 0.0;
    for word in row.body_terms.split(' ') {
        length += 1.0;
        if let Some(place) = terms.iter().position(|term| term == word) {
            counts[place] += 1;
        }
    }
    let norm = K1 * (1.0 - B + B * length / average_length.max(1.0));
    let mut scored = Scored { row, own: 0.0, body: 0.0, matched: 0 };
    for ((term, idf), count) in terms.iter().zip(idf).zip(counts) {
        let count = f64::from(count);
        let in_body = count * (K1 + 1.0) / (count + norm);
        // "3 July" must not find "session 3": a bare number says something in a text, next to nothing in a topic.
        let is_number = term.bytes().all(|byte| byte.is_ascii_digit());
        let in_head = if !is_number && row.head_terms.split(' ').any(|word| word == term) { HEAD_WEIGHT } else { 0.0 };
        scored.body += idf * in_body;
        scored.own += idf * in_body.max(in_head);
        scored.matched += usize::from(count > 0.0 || in_head > 0.0);
    }
    scored
}

/// The better of the two neighbours at each distance lends a share; only neighbours of the same source.
fn lent_by_neighbours(it: &Scored<'_>, scored: &[Scored<'_>], place: &HashMap<i64, usize>) -> f64 {
    let neighbour = |offset: i64| {
        let found = place.get(&(it.row.chunk + offset)).map(|&place| &scored[place]);
        found.filter(|other| other.row.source == it.row.source)
    };
    let mut lent = 0.0;
    let mut share = 1.0;
    for distance in 1..=NEIGHBOUR_DISTANCE_MAX {
        share *= NEIGHBOUR_DECAY;
        let mut before = neighbour(-distance).map_or(0.0, |other| other.body);
        if distance == 1 && neighbour(-1).is_some_and(|other| other.row.is_question) {
            before *= AFTER_QUESTION;
        }
        let after = neighbour(distance).map_or(0.0, |other| other.body);
        lent += share * before.max(after);
    }
    lent
}

/// 1 for a memory of this moment, one half a month later; a time in the future counts as now.
fn freshness(updated_at: Timestamp, now: Timestamp) -> f64 {
    let age_ms = now.0.saturating_sub(updated_at.0).max(0) as f64;
    0.5f64.powf(age_ms / FRESHNESS_HALF_LIFE_MS)
}

/// Cosines spread over [0, 1] between the worst and the best of this query; 0 for rows that vectors did not find.
fn scaled_similarity(candidates: &Candidates) -> Vec<f64> {
    let found = candidates.rows.iter().filter_map(|row| row.similarity);
    let (low, high) = found.fold((f32::MAX, f32::MIN), |(low, high), cosine| (low.min(cosine), high.max(cosine)));
    candidates
        .rows
        .iter()
        .map(|row| match row.similarity {
            Some(_) if high <= low => 1.0,
            Some(cosine) => f64::from((cosine - low) / (high - low)),
            None => 0.0,
        })
        .collect()
}

fn reasons(it: &Scored<'_>, words: f64, similarity: f64) -> String {
    let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let mut parts = vec![format!("{}, lexical {words:.3}", plural(it.matched, "query term", "query terms"))];
    if similarity > 0.0 {
        parts.push(format!("vector {similarity:.3}"));
    }
    if it.row.linked_entities > 0 {
        parts.push(plural(it.row.linked_entities, "entity of the query", "entities of the query"));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootset_store::driver::SearchStatistics;

    fn row(chunk: i64, source: &str, body: &str) -> Candidate {
        let mut id = [0; 16];
        id[15] = chunk as u8;
        Candidate {
            chunk,
            memory: MemoryId(id),
            source: source.into(),
            updated_at: Timestamp(0),
            is_question: false,
            is_servable: true,
            head_terms: String::new(),
            body_terms: body.into(),
            similarity: None,
            linked_entities: 0,
        }
    }

    fn order(rows: Vec<Candidate>, terms: &[&str]) -> Vec<i64> {
        let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
        let statistics = SearchStatistics { frequencies: vec![2; terms.len()], rows: 100, body_terms: 300 };
        rank(&Candidates { rows, statistics }, &terms, Timestamp(0), true).into_iter().map(|it| it.chunk).collect()
    }

    #[test]
    fn a_neighbour_of_a_match_is_found_and_one_of_another_source_is_not() {
        let rows = vec![row(1, "user", "other words"), row(2, "user", "the falcon"), row(3, "agent", "more words")];
        assert_eq!(order(rows.clone(), &["falcon", "x", "y", "z"]), [2, 1]);
        assert_eq!(order(rows, &["falcon"]), [2], "a short query is answered by its words alone");
    }

    #[test]
    fn what_follows_a_question_comes_before_what_precedes_it() {
        let mut rows = vec![row(1, "user", "x"), row(2, "user", "falcon"), row(3, "user", "x")];
        rows[1].is_question = true;
        assert_eq!(order(rows, &["falcon", "w", "y", "z"]), [2, 3, 1]);
    }

    #[test]
    fn a_number_counts_in_the_text_but_not_in_the_topic() {
        let mut rows = vec![row(1, "a", "x"), row(20, "b", "on 3 july")];
        rows[0].head_terms = "session 3".into();
        assert_eq!(order(rows, &["3"]), [20]);
    }

    #[test]
    fn a_memory_appears_once_and_unservable_rows_never() {
        let mut rows = vec![row(1, "a", "falcon"), row(2, "a", "falcon"), row(9, "a", "falcon")];
        rows[1].memory = rows[0].memory;
        rows[2].is_servable = false;
        assert_eq!(order(rows, &["falcon"]).len(), 1);
    }
}
