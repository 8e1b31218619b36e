//! Finding code: candidates from the full text of chunks, order from the caller's ranking, words for the answer; all from
//! one snapshot.

use std::collections::HashMap;

use rootset_model::code::SymbolKind;
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use super::read::read_kind;
use crate::driver::{Combine, SearchIndex, SearchQuery, SearchStatistics, Transaction, Value};
use crate::error::StoreError;
use crate::search::{by_rarity, terms_within};
use crate::statements::symbols as sql;
use crate::{Store, Workspace};

/// Chunks offered to the ranking, which judges whole files by them: with twice or half as many, as many files of issues
/// are found.
const CANDIDATES: usize = 384;
/// Matching rows a first-stage query may touch; see `search.rs`.
const MATCHED_ROWS_MAX: i64 = 8_000;
/// Matching rows looked at in all for the sake of a filter.
const FILTERED_ROWS_MAX: usize = 1 << 20;
/// Rows that are as good as the last candidate and are looked at for the first by path. A word that more rows hold alike is
/// too common for its order to matter.
const TIES_MAX: usize = 4_096;
/// By how much each further step looks deeper.
const STEP: usize = 4;

#[derive(Clone, Debug)]
pub struct CodeSearch<'a> {
    pub terms: &'a [String],
    pub filters: CodeFilters<'a>,
    pub limit: usize,
    pub now: Timestamp,
}

/// What is searched; without any, everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct CodeFilters<'a> {
    pub repo: Option<&'a str>,
    /// Any of these; all when there are none.
    pub languages: &'a [String],
    /// A file, or a folder with everything below it.
    pub path: Option<&'a str>,
    /// Symbols of this kind; `text` is what belongs to no symbol.
    pub kind: Option<&'a str>,
    pub is_test: Option<bool>,
    pub is_generated: Option<bool>,
}

impl<'a> CodeFilters<'a> {
    /// Whether these may leave out nearly everything. Generated files are few of most trees.
    fn is_any(&self) -> bool {
        self.repo.is_some()
            || !self.languages.is_empty()
            || self.path.is_some()
            || self.kind.is_some()
            || self.is_test.is_some()
    }

    /// The same for statements about whole files.
    pub(super) fn of_files(&self, below: &'a Option<String>) -> [Value<'a>; 7] {
        let [repo, count, languages, path, below, _, is_test, is_generated] = self.parameters(below);
        [repo, count, languages, path, below, is_test, is_generated]
    }

    /// In the order of the statements that filter; `below` is the path with a slash behind it.
    fn parameters(&self, below: &'a Option<String>) -> [Value<'a>; 8] {
        [
            self.repo.into(),
            (self.languages.len() as i64).into(),
            self.languages.into(),
            self.path.into(),
            below.as_deref().into(),
            self.kind.into(),
            self.is_test.into(),
            self.is_generated.into(),
        ]
    }
}

/// A chunk that a ranking looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeCandidate {
    pub chunk: i64,
    pub memory: MemoryId,
    pub repo: String,
    pub path: String,
    pub language: String,
    /// Lines of the whole file.
    pub file_lines: i64,
    /// The symbol whose text it is.
    pub symbol: Option<CodeSymbol>,
    pub head_terms: String,
    pub body_terms: String,
    /// Bytes of the file's text.
    pub start: usize,
    pub length: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSymbol {
    pub qualified_name: String,
    pub kind: SymbolKind,
    pub first_line: i64,
    pub last_line: i64,
    pub signature: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CodeHit {
    pub candidate: CodeCandidate,
    pub score: f64,
    /// The chunk's.
    pub text: String,
    /// Where the chunk begins, one-based.
    pub line: i64,
}

/// Places of the candidates in the order of an answer, with their scores.
pub type RankCode<'a> = &'a dyn Fn(&[CodeCandidate], &SearchStatistics) -> Vec<(usize, f64)>;

impl Store {
    /// The statistics that `rank` gets have one frequency per term of the search, in its order.
    pub fn search_code(
        &self,
        workspace: &Workspace,
        search: &CodeSearch<'_>,
        rank: RankCode<'_>,
    ) -> Result<Vec<CodeHit>, StoreError> {
        self.read(workspace, |tx| {
            let statistics = tx.search_statistics(workspace.key, SearchIndex::Code, search.terms)?;
            let keys = matching(tx, workspace.key, search, &statistics)?;
            let candidates = load(tx, workspace.key, &keys)?;
            let mut ranked = rank(&candidates, &statistics);
            ranked.truncate(search.limit);
            hits(tx, workspace.key, candidates, &ranked)
        })
    }
}

/// Chunks with the rarest terms that may be served. Files that are gone or filtered out never take a slot: as long as
/// they leave too few, more are asked for, first deeper, then with commoner terms. Chunks that are equally good come in the
/// order of their paths, never of their numbers: those tell how the index came about.
fn matching(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    search: &CodeSearch<'_>,
    statistics: &SearchStatistics,
) -> Result<Vec<i64>, StoreError> {
    let by_rarity = by_rarity(search.terms, &statistics.frequencies);
    let wanted = CANDIDATES.max(search.limit.saturating_mul(2));
    let mut used = terms_within(&by_rarity, MATCHED_ROWS_MAX);
    let has_filter = search.filters.is_any();
    let mut allowed: Option<HashMap<i64, usize>> = None;
    let mut limit = wanted;
    let (mut served, mut asked) = (Vec::new(), 0);
    while used > 0 {
        let terms: Vec<String> = by_rarity[..used].iter().map(|(term, _)| (*term).to_owned()).collect();
        let rows = limit.saturating_add(TIES_MAX);
        let query = SearchQuery { terms: &terms, combine: Combine::Any, limit: rows, rows_per_term_max: usize::MAX };
        let found = with_ties(tx.search_match(workspace, SearchIndex::Code, &query)?, limit);
        match &allowed {
            Some(allowed) => served = Match::among(&found, allowed),
            None => {
                // A deeper look begins with what the last one saw.
                let new = &found[asked.min(found.len())..];
                served.extend(Match::among(new, &servable(tx, workspace, new, search)?));
            }
        }
        asked = found.len();
        let is_exhausted = found.len() < limit || limit >= FILTERED_ROWS_MAX;
        let is_enough = served.len() >= wanted || (is_exhausted && served.len() >= search.limit);
        if is_enough || (is_exhausted && used == by_rarity.len()) {
            break;
        }
        if is_exhausted {
            used = by_rarity.len();
            served.clear();
            asked = 0;
            limit = if allowed.is_some() { FILTERED_ROWS_MAX } else { wanted };
        } else if has_filter {
            // Nearly all that matches is filtered out: what is left is small, or else the first look had found enough.
            allowed = Some(filtered(tx, workspace, search)?);
            served.clear();
            limit = FILTERED_ROWS_MAX;
        } else {
            limit = limit.saturating_mul(STEP);
        }
    }
    served.sort_unstable_by_key(|it| (std::cmp::Reverse(it.score), it.place));
    served.truncate(wanted);
    Ok(served.into_iter().map(|it| it.key).collect())
}

/// A chunk that matches and may be served.
struct Match {
    key: i64,
    score: i64,
    /// Among the chunks that it was found with, by repository, path and ordinal.
    place: usize,
}

impl Match {
    fn among(found: &[(i64, i64)], places: &HashMap<i64, usize>) -> Vec<Self> {
        let matched = |(key, score): &(i64, i64)| Some(Self { key: *key, score: *score, place: *places.get(key)? });
        found.iter().filter_map(matched).collect()
    }
}

/// The best `limit` rows and those as good as the last of them. Scores are sums whose order differs between engines:
/// they are rounded.
fn with_ties(found: Vec<(i64, f64)>, limit: usize) -> Vec<(i64, i64)> {
    const STEPS: f64 = 1e6;
    let mut rounded: Vec<(i64, i64)> =
        found.into_iter().map(|(key, score)| (key, (score * STEPS).round() as i64)).collect();
    rounded.sort_unstable_by_key(|(key, score)| (std::cmp::Reverse(*score), *key));
    if let Some((_, edge)) = limit.checked_sub(1).and_then(|last| rounded.get(last)).copied() {
        let end = rounded.partition_point(|(_, score)| *score >= edge);
        rounded.truncate(end);
    }
    rounded
}

/// Those of the chunks that may be served and pass the filters, with their places in the order of paths.
fn servable(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: &[(i64, i64)],
    search: &CodeSearch<'_>,
) -> Result<HashMap<i64, usize>, StoreError> {
    let keys: Vec<i64> = found.iter().map(|(key, _)| *key).collect();
    let below = search.filters.path.map(|path| format!("{path}/"));
    let parameters: Vec<Value<'_>> = [workspace.into(), search.now.into(), keys.as_slice().into()]
        .into_iter()
        .chain(search.filters.parameters(&below))
        .collect();
    let good: Vec<i64> = tx.rows(&sql::SERVABLE_CHUNKS, &parameters, |row| row.get(0))?;
    Ok(good.into_iter().zip(0..).collect())
}

/// Every chunk that passes the filters, likewise.
fn filtered(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    search: &CodeSearch<'_>,
) -> Result<HashMap<i64, usize>, StoreError> {
    let below = search.filters.path.map(|path| format!("{path}/"));
    let parameters: Vec<Value<'_>> =
        [workspace.into(), search.now.into()].into_iter().chain(search.filters.parameters(&below)).collect();
    let good: Vec<i64> = tx.rows(&sql::FILTERED_CHUNKS, &parameters, |row| row.get(0))?;
    Ok(good.into_iter().zip(0..).collect())
}

/// Candidates in the order of the keys.
fn load(tx: &mut dyn Transaction, workspace: WorkspaceKey, keys: &[i64]) -> Result<Vec<CodeCandidate>, StoreError> {
    let mut terms: HashMap<i64, (String, String)> = tx
        .search_rows(workspace, SearchIndex::Code, keys)?
        .into_iter()
        .map(|row| (row.key, (row.head, row.body)))
        .collect();
    let rows = tx.rows(&sql::CANDIDATES, &[workspace.into(), keys.into()], |row| {
        let chunk = row.get(0)?;
        let (head_terms, body_terms) = terms.remove(&chunk).unwrap_or_default();
        let symbol = match row.get::<Option<String>>(5)? {
            Some(qualified_name) => Some(CodeSymbol {
                qualified_name,
                kind: read_kind(&row.get::<String>(6)?)?,
                first_line: row.get(7)?,
                last_line: row.get(8)?,
                signature: row.get(12)?,
            }),
            None => None,
        };
        Ok(CodeCandidate {
            chunk,
            memory: row.get(1)?,
            repo: row.get(2)?,
            path: row.get(3)?,
            language: row.get(4)?,
            file_lines: row.get(11)?,
            symbol,
            head_terms,
            body_terms,
            start: row.get::<i64>(9)? as usize,
            length: row.get::<i64>(10)? as usize,
        })
    })?;
    let mut by_key: HashMap<i64, CodeCandidate> = rows.into_iter().map(|row| (row.chunk, row)).collect();
    Ok(keys.iter().filter_map(|key| by_key.remove(key)).collect())
}

fn hits(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    candidates: Vec<CodeCandidate>,
    ranked: &[(usize, f64)],
) -> Result<Vec<CodeHit>, StoreError> {
    let mut slots: Vec<Option<CodeCandidate>> = candidates.into_iter().map(Some).collect();
    let best: Vec<(CodeCandidate, f64)> =
        ranked.iter().filter_map(|(place, score)| Some((slots.get_mut(*place)?.take()?, *score))).collect();
    let keys: Vec<i64> = best.iter().map(|(candidate, _)| candidate.chunk).collect();
    let places: HashMap<i64, (usize, usize)> = best.iter().map(|(it, _)| (it.chunk, (it.start, it.length))).collect();
    let mut texts: HashMap<i64, (String, i64)> = HashMap::new();
    tx.query(&sql::CHUNK_TEXTS, &[workspace.into(), keys.as_slice().into()], &mut |row| {
        let (chunk, text): (i64, String) = (row.get(0)?, row.get(1)?);
        let (start, length) = places[&chunk];
        let unreadable = StoreError::UnreadableValue("the place of a chunk");
        let of_chunk = text.get(start..start.saturating_add(length)).ok_or(unreadable)?;
        let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() as i64;
        texts.insert(chunk, (of_chunk.to_owned(), line));
        Ok(())
    })?;
    Ok(best
        .into_iter()
        .filter_map(|(candidate, score)| {
            let (text, line) = texts.remove(&candidate.chunk)?;
            Some(CodeHit { candidate, score, text, line })
        })
        .collect())
}
