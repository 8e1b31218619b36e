//! The order of code search: rare words weigh more, names more than bodies, and the name that was asked for most.
//!
//! Pure: a function of the candidates and the counts of the index.

use rootset_code::{identifier_term, is_test, name_parts};
use rootset_model::code::SymbolKind;
use rootset_store::CodeCandidate;
use rootset_store::driver::SearchStatistics;

/// Weight of a word in the names of a chunk, against one in its body.
const NAME_WEIGHT: f64 = 2.0;
/// BM25's share of a row's length.
const LENGTH_SHARE: f64 = 0.6;
/// A symbol that is called what was asked for.
const EXACT_NAME: f64 = 2.0;
const TEST_WEIGHT: f64 = 0.7;
const TEXT_WEIGHT: f64 = 0.8;
const MODULE_WEIGHT: f64 = 0.9;

/// Places of candidates and their scores, best first; of the chunks of one symbol only the best.
pub fn rank(
    query: &str,
    terms: &[String],
    candidates: &[CodeCandidate],
    statistics: &SearchStatistics,
) -> Vec<(usize, f64)> {
    let rows = statistics.rows.max(1) as f64;
    let average = (statistics.body_terms as f64 / rows).max(1.0);
    let rarities: Vec<f64> = statistics
        .frequencies
        .iter()
        .map(|&frequency| {
            let frequency = frequency as f64;
            (1.0 + (rows - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
        })
        .collect();
    let all: f64 = rarities.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let wanted: Vec<String> = query.split_whitespace().map(exact_name).filter(|it| !it.is_empty()).collect();
    let mut scored: Vec<(usize, f64)> = candidates
        .iter()
        .enumerate()
        .map(|(place, candidate)| {
            let head: Vec<&str> = candidate.head_terms.split(' ').collect();
            let body: std::collections::BTreeSet<&str> = candidate.body_terms.split(' ').collect();
            let norm = 1.0 / (1.0 - LENGTH_SHARE + LENGTH_SHARE * (body.len() as f64 / average)).max(0.25);
            let (mut score, mut covered) = (0.0, 0.0);
            for (term, rarity) in terms.iter().zip(&rarities) {
                let (in_head, in_body) = (head.contains(&term.as_str()), body.contains(term.as_str()));
                score += rarity * (NAME_WEIGHT * f64::from(in_head) + norm.min(2.0) * f64::from(in_body));
                covered += rarity * f64::from(in_head || in_body);
            }
            score *= covered / all;
            score *= weight_of(candidate);
            if let Some(symbol) = &candidate.symbol {
                let name = name_parts(&symbol.qualified_name).last().map(|last| identifier_term(last));
                if name.is_some_and(|name| wanted.contains(&name)) {
                    score += EXACT_NAME * all / terms.len().max(1) as f64;
                }
            }
            (place, score)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| order(&candidates[a.0]).cmp(&order(&candidates[b.0]))));
    let mut seen = std::collections::BTreeSet::new();
    scored.retain(|(place, _)| {
        let candidate = &candidates[*place];
        candidate
            .symbol
            .as_ref()
            .is_none_or(|symbol| seen.insert((candidate.memory, symbol.first_line, symbol.last_line)))
    });
    scored
}

/// The last part of a name as people write it into a query: `Store.save()`, `store::Store`.
fn exact_name(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    name_parts(word).last().map(|last| identifier_term(last)).unwrap_or_default()
}

fn order(candidate: &CodeCandidate) -> (&str, &str, usize) {
    (&candidate.repo, &candidate.path, candidate.start)
}

fn weight_of(candidate: &CodeCandidate) -> f64 {
    let kind = match &candidate.symbol {
        None => TEXT_WEIGHT,
        Some(symbol) if symbol.kind == SymbolKind::Module => MODULE_WEIGHT,
        Some(_) => 1.0,
    };
    if is_test(&candidate.path) { kind * TEST_WEIGHT } else { kind }
}
