//! Finding memories and entities: candidates from the indexes, order from the caller's ranking, words for the answer;
//! all from one snapshot, so that nothing served was gone when it was ranked.
//!
//! How candidates are scored is not decided here: the caller's `rank` is a pure function of what this module collects.

mod entities;
mod nearest;
mod similar;

use std::collections::{HashMap, HashSet};

use rootset_model::{Content, MemoryId, PinnedBy, Timestamp, Trust, WorkspaceKey};

use crate::driver::{Combine, Row, SearchIndex, SearchQuery, SearchStatistics, Transaction, Value};
use crate::error::StoreError;
use crate::memories::{read_content, read_list};
use crate::statements::{memories as memory_sql, search as sql};
use crate::{ContentPart, Store, Workspace, vectors};
pub use entities::EntityHit;
pub use nearest::NamedMemory;
pub(crate) use similar::similar;
pub use similar::{ComparableNote, RelatedMemory, SimilarMemory};

/// Chunks taken from the full-text index for ranking. More do not change the answers measurably, they only cost.
const CANDIDATES: usize = 32;
/// Matching rows a first-stage query may touch: rare terms find the candidates, common ones only help to rank them.
const MATCHED_ROWS_MAX: i64 = 4_000;
/// Memories before and after a candidate in its thread that take part in its score.
pub const NEIGHBOURS: i64 = 4;
/// Chunks of a neighbour that are looked at: its beginning tells what it is about, and a book must not cost a search.
const NEIGHBOUR_CHUNKS: i64 = 4;
/// Memories beyond the newest that are looked at for carrying a tag that the query says, and how many of its carriers are counted: that
/// many tell nothing.
const TAGGED_MAX: i64 = 31;
const CARRIERS_MAX: i64 = 1_000;
/// The bits of a place that say where in its thread it is.
const POSITION_BITS: u32 = 32;

#[derive(Clone, Debug, Default)]
pub struct SearchFilters {
    /// Without one, indexed files are left out.
    pub source: Option<String>,
    pub tags: Vec<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    pub terms: &'a [String],
    /// Normalised names of entities that the query may mean.
    pub names: &'a [String],
    /// Tags and names of memories that the query may say.
    pub labels: &'a [String],
    /// The query's vector and the space it is in.
    pub vector: Option<(&'a str, &'a [f32])>,
    pub filters: &'a SearchFilters,
    pub limit: usize,
    pub now: Timestamp,
}

/// What a ranking works on.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// In the order of their chunk numbers.
    pub rows: Vec<Candidate>,
    pub statistics: SearchStatistics,
    /// How many memories carry a label that the query may say.
    pub carriers: HashMap<String, i64>,
}

#[derive(Clone, Debug)]
pub struct Candidate {
    pub chunk: i64,
    pub memory: MemoryId,
    pub updated_at: Timestamp,
    /// Places that differ by one are neighbours in a thread. Memories of indexed files have none.
    pub place: Option<i64>,
    /// The first and the last moment of what the memory tells of.
    pub occurred: Option<(Timestamp, Timestamp)>,
    pub is_question: bool,
    /// Passes the caller's filters; others only lend their score to neighbours.
    pub is_servable: bool,
    pub head_terms: String,
    pub body_terms: String,
    /// Cosine to the query, where there is a vector.
    pub similarity: Option<f32>,
    /// Entities of the query that its memory contributes to.
    pub linked_entities: usize,
    /// Of the labels that the query may say, those that its memory carries.
    pub labels: Vec<String>,
}

/// A candidate's place in the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    pub chunk: i64,
    pub memory: MemoryId,
    pub score: f64,
    pub why: String,
}

#[derive(Clone, Debug)]
pub struct Hit {
    pub ranked: Ranked,
    pub name: Option<String>,
    pub source: String,
    pub updated_at: Timestamp,
    pub content: Content,
    pub trust: Trust,
    pub pinned_by: Option<PinnedBy>,
    pub tags: Vec<String>,
    /// When its text last changed.
    pub ingested_at: Timestamp,
    /// JSON object.
    pub metadata: Option<String>,
    /// When what it tells of began, if that is known.
    pub occurred_from: Option<Timestamp>,
    pub part: ContentPart,
    pub start: usize,
    pub length: usize,
}

/// Orders candidates, best first, each memory once.
pub type Rank<'a> = &'a dyn Fn(&Candidates) -> Vec<Ranked>;

impl Store {
    pub fn search(
        &self,
        workspace: &Workspace,
        request: &SearchRequest<'_>,
        rank: Rank<'_>,
    ) -> Result<Vec<Hit>, StoreError> {
        self.read(workspace, |tx| {
            let mut ranked = self.ranked(tx, workspace.key, request, rank)?;
            ranked.truncate(request.limit);
            hits(tx, workspace.key, ranked)
        })
    }

    fn ranked(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &SearchRequest<'_>,
        rank: Rank<'_>,
    ) -> Result<Vec<Ranked>, StoreError> {
        if request.terms.is_empty() && request.vector.is_none() {
            return most_recent(tx, workspace, request);
        }
        Ok(rank(&self.gather(tx, workspace, request)?))
    }

    fn gather(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &SearchRequest<'_>,
    ) -> Result<Candidates, StoreError> {
        let statistics = tx.search_statistics(workspace, SearchIndex::Memories, request.terms)?;
        let mut found = lexical(tx, workspace, request, &statistics)?;
        let (labelled, carriers) = labelled(tx, workspace, request)?;
        found.extend(labelled);
        if let Some((space, vector)) = request.vector {
            let wanted = CANDIDATES.max(request.limit * 2);
            let nearest = self.vectors.nearest(tx, workspace, space, vector, wanted)?;
            let known: HashSet<i64> = found.iter().map(|row| row.chunk).collect();
            let others: Vec<i64> =
                nearest.into_iter().map(|(chunk, _)| chunk).filter(|it| !known.contains(it)).collect();
            found.extend(current(tx, workspace, &others, request)?);
        }
        let mut rows = with_neighbours(tx, workspace, found, request)?;
        if let Some((space, vector)) = request.vector {
            let pool: Vec<i64> = rows.iter().map(|row| row.chunk).collect();
            let similarities: HashMap<i64, f32> =
                vectors::similarities(tx, workspace, space, vector, &pool)?.into_iter().collect();
            for row in &mut rows {
                row.similarity = similarities.get(&row.chunk).copied();
            }
        }
        link_entities(tx, workspace, request, &mut rows)?;
        Ok(Candidates { rows, statistics, carriers })
    }
}

/// Chunks of memories that hold every term, for lists with words.
pub(crate) fn memories_with_all_terms(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    terms: &[String],
    limit: usize,
) -> Result<Vec<[u8; 16]>, StoreError> {
    let query = SearchQuery { terms, combine: Combine::All, limit, rows_per_term_max: usize::MAX };
    let found = tx.search_match(workspace, SearchIndex::Memories, &query)?;
    let keys: Vec<i64> = found.into_iter().map(|(key, _)| key).collect();
    memories_of_chunks(tx, workspace, &keys)
}

pub(crate) fn memories_of_chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
) -> Result<Vec<[u8; 16]>, StoreError> {
    tx.rows(&crate::statements::forget::MEMORIES_OF_CHUNKS, &[workspace.into(), keys.into()], |row| row.get(0))
}

/// The best chunks by BM25 whose memories may be served. Dead and filtered rows never take a slot: as long as
/// they leave too few, more are asked for, first deeper, then with commoner terms.
fn lexical(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &SearchRequest<'_>,
    statistics: &SearchStatistics,
) -> Result<Vec<Candidate>, StoreError> {
    let by_rarity = by_rarity(request.terms, &statistics.frequencies);
    let wanted = CANDIDATES.max(request.limit);
    let mut used = terms_within(&by_rarity, MATCHED_ROWS_MAX);
    let mut limit = wanted;
    while used > 0 {
        let terms: Vec<String> = by_rarity[..used].iter().map(|(term, _)| (*term).to_owned()).collect();
        let query = SearchQuery { terms: &terms, combine: Combine::Any, limit, rows_per_term_max: usize::MAX };
        let found: Vec<i64> =
            tx.search_match(workspace, SearchIndex::Memories, &query)?.into_iter().map(|(key, _)| key).collect();
        let servable = servable(tx, workspace, &found, request)?;
        let is_exhausted = found.len() < limit;
        if servable.len() >= wanted || (is_exhausted && used == by_rarity.len()) {
            return Ok(servable.into_iter().take(wanted).collect());
        }
        if is_exhausted {
            if servable.len() >= request.limit {
                return Ok(servable);
            }
            used = by_rarity.len();
        } else {
            limit *= 4;
        }
    }
    Ok(Vec::new())
}

/// Terms that occur at all, rarest first.
pub(crate) fn by_rarity<'a>(terms: &'a [String], frequencies: &[i64]) -> Vec<(&'a str, i64)> {
    let mut found: Vec<(&str, i64)> = terms
        .iter()
        .zip(frequencies)
        .filter(|(_, frequency)| **frequency > 0)
        .map(|(term, frequency)| (term.as_str(), *frequency))
        .collect();
    found.sort_by_key(|(_, frequency)| *frequency);
    found
}

/// How many of the rarest terms fit into a budget of rows; at least one.
pub(crate) fn terms_within(by_rarity: &[(&str, i64)], rows_max: i64) -> usize {
    let mut rows = 0;
    let fitting = by_rarity.iter().take_while(|(_, frequency)| {
        rows += frequency;
        rows <= rows_max
    });
    fitting.count().max(1).min(by_rarity.len())
}

/// Those of the chunks whose memories are current and pass the filters, in the order given.
fn servable(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
    request: &SearchRequest<'_>,
) -> Result<Vec<Candidate>, StoreError> {
    let rows = current(tx, workspace, keys, request)?.into_iter().filter(|row| row.is_servable);
    let mut good: HashMap<i64, Candidate> = rows.map(|row| (row.chunk, row)).collect();
    Ok(keys.iter().filter_map(|key| good.remove(key)).collect())
}

/// Those of the chunks whose memories are current, in any order.
fn current(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
    request: &SearchRequest<'_>,
) -> Result<Vec<Candidate>, StoreError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    tx.rows(&sql::CANDIDATES, &parameters(workspace, keys.into(), request), |row| read_candidate(row, request))
}

/// The beginnings of memories that carry a tag or a name that the query may say, and how many carry each.
fn labelled(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &SearchRequest<'_>,
) -> Result<(Vec<Candidate>, HashMap<String, i64>), StoreError> {
    let (mut rows, mut carriers) = (HashMap::new(), HashMap::new());
    if !request.labels.is_empty() {
        let mut parameters = parameters(workspace, request.labels.into(), request).to_vec();
        parameters.extend([TAGGED_MAX, CARRIERS_MAX].map(Value::from));
        tx.query(&sql::CANDIDATES_LABELLED, &parameters, &mut |row| {
            let candidate = read_candidate(row, request)?;
            rows.insert(candidate.chunk, candidate);
            let count: &mut i64 = carriers.entry(row.get(10)?).or_default();
            *count = row.get::<i64>(11)?.max(*count);
            Ok(())
        })?;
    }
    Ok((rows.into_values().filter(|row| row.is_servable).collect(), carriers))
}

/// Of all statements for candidates: chunks, places or labels, and what the caller filters by.
fn parameters<'a>(workspace: WorkspaceKey, among: Value<'a>, request: &'a SearchRequest<'_>) -> [Value<'a>; 8] {
    let filters = request.filters;
    [
        workspace.into(),
        request.now.into(),
        among,
        filters.source.as_ref().into(),
        (filters.tags.len() as i64).into(),
        filters.tags.as_slice().into(),
        filters.created_after.into(),
        filters.created_before.into(),
    ]
}

/// The chunks found, and the beginnings of the memories around them in their threads, with their terms.
fn with_neighbours(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: Vec<Candidate>,
    request: &SearchRequest<'_>,
) -> Result<Vec<Candidate>, StoreError> {
    let mut rows = found;
    let places = around(rows.iter().filter_map(|row| row.place));
    if !places.is_empty() {
        let mut parameters = parameters(workspace, places.as_slice().into(), request).to_vec();
        parameters.push(NEIGHBOUR_CHUNKS.into());
        rows.extend(tx.rows(&sql::CANDIDATES_IN_PLACES, &parameters, |row| read_candidate(row, request))?);
    }
    rows.sort_by_key(|row| row.chunk);
    rows.dedup_by_key(|row| row.chunk);
    let keys: Vec<i64> = rows.iter().map(|row| row.chunk).collect();
    let mut terms: HashMap<i64, (String, String)> = tx
        .search_rows(workspace, SearchIndex::Memories, &keys)?
        .into_iter()
        .map(|row| (row.key, (row.head, row.body)))
        .collect();
    for row in &mut rows {
        (row.head_terms, row.body_terms) = terms.remove(&row.chunk).unwrap_or_default();
    }
    Ok(rows)
}

fn read_candidate(row: &dyn Row, request: &SearchRequest<'_>) -> Result<Candidate, StoreError> {
    let mut labels = read_list(row.get::<Option<String>>(8)?.as_deref())?;
    labels.extend(row.get::<Option<String>>(7)?);
    labels.retain(|label| request.labels.contains(label));
    let (from, until) = (row.get::<Option<Timestamp>>(5)?, row.get::<Option<Timestamp>>(6)?);
    Ok(Candidate {
        chunk: row.get(0)?,
        memory: row.get(1)?,
        is_question: row.get(2)?,
        updated_at: row.get(3)?,
        place: row.get(4)?,
        occurred: from.zip(until),
        is_servable: row.get(9)?,
        head_terms: String::new(),
        body_terms: String::new(),
        similarity: None,
        linked_entities: 0,
        labels,
    })
}

/// The places up to [`NEIGHBOURS`] before and after each of these in the same thread, itself included.
fn around(places: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut around: Vec<i64> = places
        .flat_map(|place| {
            let thread = place >> POSITION_BITS;
            (place - NEIGHBOURS..=place + NEIGHBOURS).filter(move |other| other >> POSITION_BITS == thread)
        })
        .collect();
    around.sort_unstable();
    around.dedup();
    around
}

fn link_entities(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &SearchRequest<'_>,
    rows: &mut [Candidate],
) -> Result<(), StoreError> {
    if request.names.is_empty() || rows.is_empty() {
        return Ok(());
    }
    let memories: HashSet<[u8; 16]> = rows.iter().map(|row| row.memory.0).collect();
    let memories: Vec<[u8; 16]> = memories.into_iter().collect();
    let mut links: HashMap<MemoryId, usize> = HashMap::new();
    let parameters = [workspace.into(), request.names.into(), memories.as_slice().into()];
    tx.query(&sql::LINKED_MEMORIES, &parameters, &mut |row| {
        *links.entry(row.get(0)?).or_default() += 1;
        Ok(())
    })?;
    for row in rows {
        row.linked_entities = links.get(&row.memory).copied().unwrap_or(0);
    }
    Ok(())
}

/// No words: pinned first, then newest.
fn most_recent(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &SearchRequest<'_>,
) -> Result<Vec<Ranked>, StoreError> {
    let filters = request.filters;
    let mut memories: Vec<MemoryId> = Vec::new();
    for statement in [&memory_sql::RECENT_PINNED, &memory_sql::RECENT_UNPINNED] {
        let parameters = [
            workspace.into(),
            request.now.into(),
            filters.source.as_ref().into(),
            (filters.tags.len() as i64).into(),
            filters.tags.as_slice().into(),
            filters.created_after.into(),
            filters.created_before.into(),
            (request.limit as i64).into(),
        ];
        memories.extend(tx.rows(statement, &parameters, |row| row.get::<MemoryId>(0))?);
    }
    memories.truncate(request.limit);
    let ids: Vec<[u8; 16]> = memories.iter().map(|id| id.0).collect();
    let first: HashMap<MemoryId, i64> = tx
        .rows(&sql::FIRST_CHUNKS, &[workspace.into(), ids.as_slice().into()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .into_iter()
        .collect();
    Ok(memories
        .into_iter()
        .filter_map(|memory| {
            first.get(&memory).map(|chunk| Ranked { chunk: *chunk, memory, score: 0.0, why: "recent".into() })
        })
        .collect())
}

fn hits(tx: &mut dyn Transaction, workspace: WorkspaceKey, ranked: Vec<Ranked>) -> Result<Vec<Hit>, StoreError> {
    let keys: Vec<i64> = ranked.iter().map(|it| it.chunk).collect();
    let mut found: HashMap<i64, Hit> = HashMap::new();
    let mut by_chunk: HashMap<i64, Ranked> = ranked.into_iter().map(|it| (it.chunk, it)).collect();
    tx.query(&sql::HITS, &[workspace.into(), keys.as_slice().into()], &mut |row| {
        let chunk: i64 = row.get(0)?;
        let Some(ranked) = by_chunk.remove(&chunk) else { return Ok(()) };
        let hit = Hit {
            ranked,
            name: row.get(2)?,
            source: row.get(3)?,
            updated_at: row.get(4)?,
            part: ContentPart::from_stored(row.get(5)?).ok_or(StoreError::UnreadableValue("the part of a chunk"))?,
            start: row.get::<i64>(6)? as usize,
            length: row.get::<i64>(7)? as usize,
            content: read_content(row, 8)?,
            trust: row.get(12)?,
            pinned_by: row.get(13)?,
            tags: read_list(row.get::<Option<String>>(14)?.as_deref())?,
            ingested_at: row.get(15)?,
            metadata: row.get(16)?,
            occurred_from: row.get(17)?,
        };
        found.insert(chunk, hit);
        Ok(())
    })?;
    Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
}
