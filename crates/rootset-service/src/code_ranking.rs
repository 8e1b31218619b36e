//! The order of code search: what a whole file says of the words, what one of its symbols says, and the name that was
//! asked for most. Rare words weigh more, names more than bodies; tests and documents come below code.
//!
//! Pure: a function of the candidates and the counts of the index. A file is judged by those of its chunks that are
//! candidates: the ones with the rarest words of the query, which is where nearly all of its evidence is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rootset_api::TestCode;
use rootset_code::{around_name_term, is_test, own_name_term};
use rootset_model::MemoryId;
use rootset_model::code::SymbolKind;
use rootset_store::CodeCandidate;
use rootset_store::driver::SearchStatistics;

use crate::code_query::{CodeQuery, NameMatch};

/// Weight of a word in the name of a symbol, and in the names around it, against one in its body.
const NAME_WEIGHT: f64 = 2.5;
const AROUND_WEIGHT: f64 = 0.8;
/// BM25's share of a row's length.
const LENGTH_SHARE: f64 = 0.6;
/// BM25 over files: a word counts once per chunk, and a file is as long as it has lines. Code repeats itself less than
/// prose, so that length counts less than usual.
const FILE_K1: f64 = 1.2;
const FILE_B: f64 = 0.5;
/// A word in the path of a file, and in the name of one of its symbols, against the limit of its uses.
const FILE_PATH_WEIGHT: f64 = 1.0;
const FILE_NAME_WEIGHT: f64 = 1.0;
/// A symbol that is called what was asked for, and one whose qualified name ends so.
const EXACT_NAME: f64 = 4.0;
const EXACT_QUALIFIED_NAME: f64 = 8.0;
/// Small and capital letters tell two symbols apart that are called what was asked for.
const WRITTEN_SO: f64 = 2.0;
const TEST_WEIGHT: f64 = 0.5;
const TEXT_WEIGHT: f64 = 0.5;
const MODULE_WEIGHT: f64 = 0.9;
/// Results of one file before others have had their turn: of a text the files are wanted, of a name its definitions.
const RESULTS_PER_FILE_OF_TEXT: usize = 2;
const RESULTS_PER_FILE_OF_NAME: usize = 4;

/// What the index is asked for: the terms of the query as such, as names, and as names around.
pub fn search_terms(query: &CodeQuery) -> Vec<String> {
    let own = query.terms.iter().map(|it| own_name_term(&it.term));
    let around = query.terms.iter().map(|it| around_name_term(&it.term));
    query.terms.iter().map(|it| it.term.clone()).chain(own).chain(around).collect()
}

/// Places of candidates and their scores, best first; of the chunks of one symbol only the best. The statistics are those
/// of [`search_terms`].
pub fn rank(
    query: &CodeQuery,
    tests: TestCode,
    candidates: &[CodeCandidate],
    statistics: &SearchStatistics,
) -> Vec<(usize, f64)> {
    let rows = statistics.rows.max(1) as f64;
    let average = (statistics.body_terms as f64 / rows).max(1.0);
    let rarity = |frequency: &i64| {
        let frequency = *frequency as f64;
        (1.0 + (rows - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    };
    // How rare each is in the index, and how much the query makes of it.
    let words: Vec<f64> =
        query.terms.iter().zip(&statistics.frequencies).map(|(it, frequency)| rarity(frequency) * it.weight).collect();
    let all: f64 = words.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let one = all / words.len().max(1) as f64;
    let finder = Finder::of(query);
    let held: Vec<Held> = candidates.iter().map(|candidate| finder.look(candidate)).collect();
    let files = files_scores(&words, candidates, &held);
    let mut scored: Vec<(usize, f64)> = candidates
        .iter()
        .zip(&held)
        .enumerate()
        .map(|(place, (candidate, held))| {
            let file = files.get(&candidate.memory).copied().unwrap_or(0.0);
            let name = candidate.symbol.as_ref().map_or("", |symbol| symbol.qualified_name.as_str());
            let exact = query.names.iter().map(|wanted| {
                let weight = weight_of_match(wanted.compare(name));
                if weight > 0.0 && wanted.is_written_so(name) { weight + WRITTEN_SO } else { weight }
            });
            let exact = exact.fold(0.0, f64::max);
            let words = words_score(&words, held, average, all);
            (place, (words + file) * weight_of(candidate, tests) + exact * one)
        })
        .collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| order(&candidates[a.0]).cmp(&order(&candidates[b.0]))));
    let mut seen = BTreeSet::new();
    scored.retain(|(place, _)| {
        let candidate = &candidates[*place];
        let symbol = candidate.symbol.as_ref();
        symbol.is_none_or(|symbol| seen.insert((candidate.memory, symbol.first_line, symbol.last_line)))
    });
    spread(scored, candidates, if query.is_text { RESULTS_PER_FILE_OF_TEXT } else { RESULTS_PER_FILE_OF_NAME })
}

/// Which of the words a candidate holds, a bit for each.
struct Held {
    own: u64,
    around: u64,
    body: u64,
    body_terms: usize,
}

/// Finds the words of a query in the terms of candidates.
struct Finder {
    own: HashMap<String, u64>,
    around: HashMap<String, u64>,
    body: HashMap<String, u64>,
}

impl Finder {
    fn of(query: &CodeQuery) -> Self {
        // A query has no more terms than a number has bits.
        let bits = |mark: fn(&str) -> String| -> HashMap<String, u64> {
            (0..u64::BITS).zip(&query.terms).map(|(place, it)| (mark(&it.term), 1 << place)).collect()
        };
        Self { own: bits(own_name_term), around: bits(around_name_term), body: bits(str::to_owned) }
    }

    fn look(&self, candidate: &CodeCandidate) -> Held {
        let held = |terms: &HashMap<String, u64>, field: &str| {
            field.split(' ').filter_map(|term| terms.get(term)).fold(0, |all, bit| all | bit)
        };
        Held {
            own: held(&self.own, &candidate.head_terms),
            around: held(&self.around, &candidate.head_terms),
            body: held(&self.body, &candidate.body_terms),
            body_terms: candidate.body_terms.split(' ').count(),
        }
    }
}

fn has(held: u64, place: usize) -> bool {
    held & (1 << place) != 0
}

/// What each file as a whole says of the words.
fn files_scores(words: &[f64], candidates: &[CodeCandidate], held: &[Held]) -> BTreeMap<MemoryId, f64> {
    let mut chunks: BTreeMap<MemoryId, Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        chunks.entry(candidate.memory).or_default().push(place);
    }
    let lines = |places: &[usize]| candidates[places[0]].file_lines as f64;
    let average = chunks.values().map(|places| lines(places)).sum::<f64>() / chunks.len().max(1) as f64;
    let score = |places: &[usize]| -> f64 {
        let length = FILE_K1 * (1.0 - FILE_B + FILE_B * lines(places) / average.max(1.0));
        let around = places.iter().fold(0, |all, place| all | held[*place].around);
        let own = places.iter().fold(0, |all, place| all | held[*place].own);
        let of_word = |(word, weight): (usize, &f64)| {
            let uses = places.iter().filter(|place| has(held[**place].body, word)).count() as f64;
            let path = if has(around, word) { FILE_PATH_WEIGHT } else { 0.0 };
            let name = if has(own, word) { FILE_NAME_WEIGHT } else { 0.0 };
            weight * (uses * (FILE_K1 + 1.0) / (uses + length) + path + name)
        };
        words.iter().enumerate().map(of_word).sum()
    };
    chunks.iter().map(|(memory, places)| (*memory, score(places))).collect()
}

fn words_score(words: &[f64], held: &Held, average: f64, all: f64) -> f64 {
    // A word in a short text says more than one in a long one.
    let in_body = (1.0 / (1.0 - LENGTH_SHARE + LENGTH_SHARE * (held.body_terms as f64 / average))).min(2.0);
    let (mut score, mut covered) = (0.0, 0.0);
    for (place, word) in words.iter().copied().enumerate() {
        let mut weight = 0.0;
        if has(held.own, place) {
            weight += NAME_WEIGHT;
        } else if has(held.around, place) {
            weight += AROUND_WEIGHT;
        }
        if has(held.body, place) {
            weight += in_body;
        }
        score += word * weight;
        covered += if weight > 0.0 { word } else { 0.0 };
    }
    score * covered / all
}

fn weight_of_match(found: NameMatch) -> f64 {
    match found {
        NameMatch::None => 0.0,
        NameMatch::Name => EXACT_NAME,
        NameMatch::Qualified => EXACT_QUALIFIED_NAME,
    }
}

/// Lets each file have its first results before any has more.
fn spread(scored: Vec<(usize, f64)>, candidates: &[CodeCandidate], per_file: usize) -> Vec<(usize, f64)> {
    let mut given: BTreeMap<MemoryId, usize> = BTreeMap::new();
    let (mut first, rest): (Vec<_>, Vec<_>) = scored.into_iter().partition(|(place, _)| {
        let count = given.entry(candidates[*place].memory).or_default();
        *count += 1;
        *count <= per_file
    });
    first.extend(rest);
    first
}

fn order(candidate: &CodeCandidate) -> (&str, &str, usize) {
    (&candidate.repo, &candidate.path, candidate.start)
}

fn weight_of(candidate: &CodeCandidate, tests: TestCode) -> f64 {
    let kind = match &candidate.symbol {
        None => TEXT_WEIGHT,
        Some(symbol) if symbol.kind == SymbolKind::Module => MODULE_WEIGHT,
        Some(_) => 1.0,
    };
    if tests == TestCode::Below && is_test(&candidate.path) { kind * TEST_WEIGHT } else { kind }
}

#[cfg(test)]
mod tests {
    use rootset_store::CodeSymbol;

    use super::*;

    fn candidate(qualified_name: &str, path: &str, line: i64, head: &str, body: &str) -> CodeCandidate {
        CodeCandidate {
            chunk: line,
            memory: MemoryId([path.len() as u8; 16]),
            repo: "app".into(),
            path: path.into(),
            language: "python".into(),
            symbol: Some(CodeSymbol {
                qualified_name: qualified_name.into(),
                kind: SymbolKind::Function,
                first_line: line,
                last_line: line + 3,
                signature: String::new(),
            }),
            file_lines: 10,
            head_terms: head.into(),
            body_terms: body.into(),
            start: 0,
            length: 0,
        }
    }

    fn ranked(query: &str, candidates: &[CodeCandidate]) -> Vec<usize> {
        ranked_with(query, TestCode::Below, candidates)
    }

    fn ranked_with(query: &str, tests: TestCode, candidates: &[CodeCandidate]) -> Vec<usize> {
        let query = CodeQuery::of(query);
        let frequencies = vec![10; 3 * query.terms.len()];
        let statistics = SearchStatistics { frequencies, rows: 1_000, body_terms: 20_000 };
        rank(&query, tests, candidates, &statistics).into_iter().map(|(place, _)| place).collect()
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

    #[test]
    fn a_file_that_says_the_words_in_many_places_comes_before_one_that_says_them_once() {
        let text = "the cart is empty when coupons were given";
        let once = candidate("app.other", "other/x.py", 1, "=other /app", "cart coupon empty");
        let many: Vec<_> =
            (1..4).map(|line| candidate("app.f", "app/y.py", line, "=f /app", "cart coupon empty")).collect();
        let all = [&[once][..], &many].concat();
        let found = ranked(text, &all);
        assert_eq!(found.len(), 4);
        assert!(found[0] > 0 && found[1] > 0, "{found:?}");
        assert_eq!(found[2], 0, "two results of one file, then the other's");
    }

    #[test]
    fn tests_keep_their_place_when_asked_for() {
        let test = candidate("tests.test_app.save", "tests/test_app.py", 1, "=save /test", "save");
        let code = candidate("app.save_all", "app.py", 9, "=save /app", "save all");
        assert_eq!(ranked_with("save", TestCode::With, &[test, code])[0], 0);
    }
}
