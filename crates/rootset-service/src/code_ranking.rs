//! The order of code search: rare words weigh more, names more than bodies, and the name that was asked for most.
//!
//! Pure: a function of the candidates and the counts of the index.

use std::collections::BTreeSet;

use rootset_code::{around_name_term, identifier_term, is_test, name_parts, own_name_term};
use rootset_model::code::SymbolKind;
use rootset_store::CodeCandidate;
use rootset_store::driver::SearchStatistics;

/// Weight of a word in the name of a symbol, and in the names around it, against one in its body.
const NAME_WEIGHT: f64 = 2.5;
const AROUND_WEIGHT: f64 = 0.8;
/// BM25's share of a row's length.
const LENGTH_SHARE: f64 = 0.6;
/// A symbol that is called what was asked for, and one whose qualified name ends so.
const EXACT_NAME: f64 = 2.0;
const EXACT_QUALIFIED_NAME: f64 = 6.0;
const TEST_WEIGHT: f64 = 0.7;
const TEXT_WEIGHT: f64 = 0.8;
const MODULE_WEIGHT: f64 = 0.9;

/// What the index is asked for: the terms of the query as such, as names, and as names around.
pub fn search_terms(terms: &[String]) -> Vec<String> {
    let own = terms.iter().map(|term| own_name_term(term));
    let around = terms.iter().map(|term| around_name_term(term));
    terms.iter().cloned().chain(own).chain(around).collect()
}

/// Places of candidates and their scores, best first; of the chunks of one symbol only the best. The statistics are those
/// of [`search_terms`].
pub fn rank(
    query: &str,
    terms: &[String],
    candidates: &[CodeCandidate],
    statistics: &SearchStatistics,
) -> Vec<(usize, f64)> {
    let rows = statistics.rows.max(1) as f64;
    let average = (statistics.body_terms as f64 / rows).max(1.0);
    let rarity = |frequency: &i64| {
        let frequency = *frequency as f64;
        (1.0 + (rows - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    };
    let words: Vec<Word> = terms
        .iter()
        .zip(&statistics.frequencies)
        .map(|(term, frequency)| Word {
            plain: term,
            own: own_name_term(term),
            around: around_name_term(term),
            rarity: rarity(frequency),
        })
        .collect();
    let all: f64 = words.iter().map(|word| word.rarity).sum::<f64>().max(f64::MIN_POSITIVE);
    let one = all / words.len().max(1) as f64;
    let wanted: Vec<WantedName> = query.split_whitespace().filter_map(WantedName::of).collect();
    let mut scored: Vec<(usize, f64)> = candidates
        .iter()
        .enumerate()
        .map(|(place, candidate)| {
            let score = words_score(&words, candidate, average, all) * weight_of(candidate);
            let name = candidate.symbol.as_ref().map_or("", |symbol| symbol.qualified_name.as_str());
            let names = wanted.iter().map(|wanted| wanted.score(name)).fold(0.0, f64::max);
            (place, score + names * one)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| order(&candidates[a.0]).cmp(&order(&candidates[b.0]))));
    let mut seen = BTreeSet::new();
    scored.retain(|(place, _)| {
        let candidate = &candidates[*place];
        let symbol = candidate.symbol.as_ref();
        symbol.is_none_or(|symbol| seen.insert((candidate.memory, symbol.first_line, symbol.last_line)))
    });
    scored
}

struct Word<'a> {
    plain: &'a str,
    own: String,
    around: String,
    rarity: f64,
}

fn words_score(words: &[Word<'_>], candidate: &CodeCandidate, average: f64, all: f64) -> f64 {
    let head: BTreeSet<&str> = candidate.head_terms.split(' ').collect();
    let body: BTreeSet<&str> = candidate.body_terms.split(' ').collect();
    // A word in a short text says more than one in a long one.
    let in_body = (1.0 / (1.0 - LENGTH_SHARE + LENGTH_SHARE * (body.len() as f64 / average))).min(2.0);
    let (mut score, mut covered) = (0.0, 0.0);
    for word in words {
        let mut weight = 0.0;
        if head.contains(word.own.as_str()) {
            weight += NAME_WEIGHT;
        } else if head.contains(word.around.as_str()) {
            weight += AROUND_WEIGHT;
        }
        if body.contains(word.plain) {
            weight += in_body;
        }
        score += word.rarity * weight;
        covered += if weight > 0.0 { word.rarity } else { 0.0 };
    }
    score * covered / all
}

/// A name as people write it into a query: `Store.save()`, `store::Store`, `save`.
struct WantedName {
    parts: Vec<String>,
}

impl WantedName {
    fn of(word: &str) -> Option<Self> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let parts: Vec<String> = name_parts(word).into_iter().map(identifier_term).collect();
        (!parts.is_empty()).then_some(Self { parts })
    }

    fn score(&self, qualified_name: &str) -> f64 {
        let parts: Vec<String> = name_parts(qualified_name).into_iter().map(identifier_term).collect();
        match self.parts.len() {
            1 if parts.last() == self.parts.first() => EXACT_NAME,
            2.. if parts.ends_with(&self.parts) => EXACT_QUALIFIED_NAME,
            _ => 0.0,
        }
    }
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

#[cfg(test)]
mod tests {
    use rootset_model::MemoryId;
    use rootset_store::CodeSymbol;

    use super::*;

    fn candidate(qualified_name: &str, path: &str, line: i64, head: &str, body: &str) -> CodeCandidate {
        CodeCandidate {
            chunk: line,
            memory: MemoryId([1; 16]),
            repo: "app".into(),
            path: path.into(),
            language: "python".into(),
            symbol: Some(CodeSymbol {
                qualified_name: qualified_name.into(),
                kind: SymbolKind::Function,
                first_line: line,
                last_line: line + 3,
            }),
            head_terms: head.into(),
            body_terms: body.into(),
            start: 0,
            length: 0,
        }
    }

    fn ranked(query: &str, candidates: &[CodeCandidate]) -> Vec<usize> {
        let terms = rootset_code::query_terms(query);
        let frequencies = vec![10; 3 * terms.len()];
        let statistics = SearchStatistics { frequencies, rows: 1_000, body_terms: 20_000 };
        rank(query, &terms, candidates, &statistics).into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn what_is_called_so_comes_before_what_speaks_of_it() {
        let uses = candidate("app.main", "app.py", 1, "=main /app", "main save store");
        let named = candidate("app.save", "app.py", 9, "=save /app", "save store");
        assert_eq!(ranked("save", &[uses, named]), [1, 0]);
    }

    #[test]
    fn qualified_name_comes_before_the_same_name_elsewhere() {
        let other = candidate("app.File.save", "file.py", 1, "=save /app /file", "save store");
        let meant = candidate("app.Store.save", "store.py", 9, "=save /app /store", "save");
        assert_eq!(ranked("Store.save()", &[other, meant]), [1, 0]);
    }

    #[test]
    fn tests_come_after_what_they_test_and_one_symbol_comes_once() {
        let test = candidate("tests.test_app.save", "tests/test_app.py", 1, "=save /test", "save");
        let first = candidate("app.save", "app.py", 9, "=save /app", "save");
        let again = CodeCandidate { chunk: 77, ..first.clone() };
        assert_eq!(ranked("save", &[test, first, again]), [1, 0]);
    }
}
