//! Memories that say nearly the same as one that is being added, and notes that are compared with each other.

use std::collections::{HashMap, HashSet};

use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use super::{Ranked, hits};
use crate::driver::{Combine, SearchIndex, SearchQuery, Transaction};
use crate::error::StoreError;
use crate::statements::memories as memory_sql;
use crate::statements::search as sql;
use crate::{Store, Workspace};

/// Terms, rows and overlap for the cheap look at similar memories after an add.
const SIMILAR_TERMS: usize = 4;
const SIMILAR_ROWS: usize = 8;
const SIMILAR_ROWS_PER_TERM_MAX: usize = 200;
const SIMILAR_OVERLAP_MIN: f64 = 0.5;
/// A subject that more rows name is looked for by its other words.
const RELATED_ROWS_PER_TERM_MAX: usize = 2_000;

#[derive(Clone, Debug)]
pub struct SimilarMemory {
    pub id: MemoryId,
    pub name: Option<String>,
    pub topic: String,
    pub updated_at: Timestamp,
}

/// Memories that say nearly the same, found cheaply and by words alone.
pub(crate) fn similar(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    terms: &[String],
    limit: usize,
    now: Timestamp,
) -> Result<Vec<SimilarMemory>, StoreError> {
    // Long words are rare more often than not: looking for those few is enough.
    let mut longest: Vec<String> = terms.to_vec();
    longest.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    longest.truncate(SIMILAR_TERMS);
    let query = SearchQuery {
        terms: &longest,
        combine: Combine::Any,
        limit: SIMILAR_ROWS,
        rows_per_term_max: SIMILAR_ROWS_PER_TERM_MAX,
    };
    let keys: Vec<i64> =
        tx.search_match(workspace, SearchIndex::Memories, &query)?.into_iter().map(|(key, _)| key).collect();
    let wanted: HashSet<&str> = terms.iter().map(String::as_str).collect();
    let close: HashSet<i64> = tx
        .search_rows(workspace, SearchIndex::Memories, &keys)?
        .into_iter()
        .filter(|row| overlap(&wanted, &row.body) >= SIMILAR_OVERLAP_MIN)
        .map(|row| row.key)
        .collect();
    let close: Vec<i64> = keys.into_iter().filter(|key| close.contains(key)).collect();
    if close.is_empty() {
        return Ok(Vec::new());
    }
    let mut current: HashMap<i64, MemoryId> = tx
        .rows(&sql::CURRENT_CHUNKS, &[workspace.into(), now.into(), close.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?
        .into_iter()
        .collect();
    let ranked: Vec<Ranked> = close
        .iter()
        .filter_map(|chunk| current.remove(chunk).map(|memory| (*chunk, memory)))
        .map(|(chunk, memory)| Ranked { chunk, memory, score: 0.0, why: String::new() })
        .take(limit)
        .collect();
    let found = hits(tx, workspace, ranked)?;
    // Nobody asked for these: what is quarantined is not among them.
    Ok(found
        .into_iter()
        .filter(|hit| !hit.trust.is_quarantined())
        .map(|hit| SimilarMemory {
            id: hit.ranked.memory,
            name: hit.name,
            topic: hit.content.topic,
            updated_at: hit.updated_at,
        })
        .collect())
}

/// A memory that may claim something of the same subject as another text.
#[derive(Clone, Debug)]
pub struct RelatedMemory {
    pub id: MemoryId,
    pub name: Option<String>,
    pub context: String,
}

/// A note that others are compared with.
#[derive(Clone, Debug)]
pub struct ComparableNote {
    pub id: MemoryId,
    pub name: Option<String>,
    /// When its text last changed.
    pub ingested_at: Timestamp,
    /// JSON object.
    pub metadata: Option<String>,
    pub context: String,
}

impl Store {
    /// The current notes that changed last, without those that nobody is shown unasked.
    pub fn comparable_notes(
        &self,
        workspace: &Workspace,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ComparableNote>, StoreError> {
        let parameters = [workspace.key.into(), now.into(), (limit as i64).into()];
        self.read(workspace, |tx| {
            tx.rows(&memory_sql::COMPARABLE_NOTES, &parameters, |row| {
                Ok(ComparableNote {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    ingested_at: row.get(2)?,
                    metadata: row.get(3)?,
                    context: row.get(4)?,
                })
            })
        })
    }

    /// Current memories that hold some of these terms, those with the most and rarest first; at most `limit`.
    pub fn related_memories(
        &self,
        workspace: &Workspace,
        terms: &[String],
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<RelatedMemory>, StoreError> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        self.read(workspace, |tx| {
            let rows_per_term_max = RELATED_ROWS_PER_TERM_MAX;
            let query = SearchQuery { terms, combine: Combine::Any, limit, rows_per_term_max };
            let keys: Vec<i64> = tx
                .search_match(workspace.key, SearchIndex::Memories, &query)?
                .into_iter()
                .map(|(key, _)| key)
                .collect();
            if keys.is_empty() {
                return Ok(Vec::new());
            }
            let parameters = [workspace.key.into(), now.into(), keys.as_slice().into()];
            let mut current: HashMap<i64, MemoryId> =
                tx.rows(&sql::CURRENT_CHUNKS, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
            let mut seen = HashSet::new();
            let ranked: Vec<Ranked> = keys
                .iter()
                .filter_map(|chunk| current.remove(chunk).map(|memory| (*chunk, memory)))
                .filter(|(_, memory)| seen.insert(*memory))
                .map(|(chunk, memory)| Ranked { chunk, memory, score: 0.0, why: String::new() })
                .collect();
            // Nobody asked for these: what is quarantined is not among them.
            let found = hits(tx, workspace.key, ranked)?.into_iter().filter(|hit| !hit.trust.is_quarantined());
            Ok(found
                .map(|hit| RelatedMemory { id: hit.ranked.memory, name: hit.name, context: hit.content.context })
                .collect())
        })
    }
}

/// Shared terms as a share of the larger set.
fn overlap(wanted: &HashSet<&str>, body_terms: &str) -> f64 {
    let found: HashSet<&str> = body_terms.split(' ').collect();
    let shared = wanted.intersection(&found).count();
    shared as f64 / wanted.len().max(found.len()).max(1) as f64
}
