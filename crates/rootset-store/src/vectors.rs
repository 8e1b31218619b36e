//! Vectors: an engine's own index over them, or int8 codes scanned in memory, the best rescored with the f32 originals.
//!
//! The codes are loaded on the first vector query and refreshed by number when anybody wrote more. A deleted chunk may
//! linger in the cache: liveness is checked in the database for every hit, so it is never served.

mod owed;

use std::collections::{BTreeMap, HashMap};

use parking_lot::Mutex;
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::vectors as sql;
use crate::workspaces::{self, Draw};
use crate::{PreparedDerived, PreparedVectors, Store};

pub use owed::{OwedVectors, VectorProgress};

/// How many more hits than wanted are rescored: int8 order is nearly right, not quite.
const RESCORE_FACTOR: usize = 4;
/// Vectors that one transaction brings into an index that was made after them.
const INDEXED_AT_ONCE: i64 = 1_000;
/// Chunks are numbered from zero at the earliest.
const BEFORE_ALL_CHUNKS: i64 = -1;

#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    workspaces: Mutex<HashMap<WorkspaceKey, Loaded>>,
}

#[derive(Debug, Default)]
struct Loaded {
    space: String,
    last_number: i64,
    dimension: usize,
    chunks: Vec<i64>,
    place: HashMap<i64, usize>,
    scales: Vec<f32>,
    codes: Vec<i8>,
}

impl VectorCache {
    /// The nearest chunks by cosine, best first: vectors have unit length.
    pub fn nearest(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        space: &str,
        query: &[f32],
        limit: usize,
    ) -> Result<Vec<(i64, f32)>, StoreError> {
        if let Some(found) = tx.vectors_nearest(workspace, space, query, limit)? {
            return Ok(found);
        }
        let coarse = {
            let mut workspaces = self.workspaces.lock();
            let loaded = workspaces.entry(workspace).or_default();
            loaded.refresh(tx, workspace, space)?;
            loaded.scan(query, limit * RESCORE_FACTOR)
        };
        let keys: Vec<i64> = coarse.iter().map(|(chunk, _)| *chunk).collect();
        let mut exact = tx.rows(&sql::ORIGINALS, &[workspace.into(), keys.as_slice().into()], |row| {
            let vector = floats(&row.get::<Vec<u8>>(1)?);
            Ok((row.get::<i64>(0)?, dot(&vector, query)))
        })?;
        exact.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        exact.truncate(limit);
        Ok(exact)
    }
}

/// The cosines of those of these chunks that have a vector in the space, in any order.
pub(crate) fn similarities(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    space: &str,
    query: &[f32],
    chunks: &[i64],
) -> Result<Vec<(i64, f32)>, StoreError> {
    let found = tx.rows(&sql::ORIGINALS_IN_SPACE, &[workspace.into(), chunks.into(), space.into()], |row| {
        Ok((row.get::<i64>(0)?, floats(&row.get::<Vec<u8>>(1)?)))
    })?;
    // Another dimension under the same name of a space cannot be compared; doctor counts it.
    let comparable = found.into_iter().filter(|(_, vector)| vector.len() == query.len());
    Ok(comparable.map(|(chunk, vector)| (chunk, dot(&vector, query))).collect())
}

impl Loaded {
    fn refresh(&mut self, tx: &mut dyn Transaction, workspace: WorkspaceKey, space: &str) -> Result<(), StoreError> {
        if self.space != space {
            *self = Self { space: space.to_owned(), ..Self::default() };
        }
        tx.query(&sql::SINCE, &[workspace.into(), self.last_number.into()], &mut |row| {
            self.last_number = row.get(1)?;
            if row.get::<String>(2)? == self.space {
                let codes: Vec<u8> = row.get(4)?;
                self.insert(row.get(0)?, row.get::<f64>(3)? as f32, &codes);
            }
            Ok(())
        })
    }

    fn insert(&mut self, chunk: i64, scale: f32, codes: &[u8]) {
        if self.chunks.is_empty() {
            self.dimension = codes.len();
        }
        if codes.len() != self.dimension {
            return; // Another dimension under the same name of a space cannot be compared; doctor counts it.
        }
        let codes = codes.iter().map(|&byte| byte as i8);
        match self.place.get(&chunk) {
            Some(&place) => {
                self.scales[place] = scale;
                let start = place * self.dimension;
                for (slot, code) in self.codes[start..start + self.dimension].iter_mut().zip(codes) {
                    *slot = code;
                }
            }
            None => {
                self.place.insert(chunk, self.chunks.len());
                self.chunks.push(chunk);
                self.scales.push(scale);
                self.codes.extend(codes);
            }
        }
    }

    fn scan(&self, query: &[f32], limit: usize) -> Vec<(i64, f32)> {
        if query.len() != self.dimension || self.chunks.is_empty() {
            return Vec::new();
        }
        let (_, codes) = quantise(query);
        let mut scored: Vec<(i64, f32)> = self
            .codes
            .chunks_exact(self.dimension)
            .zip(&self.scales)
            .zip(&self.chunks)
            .map(|((row, scale), chunk)| (*chunk, integer_dot(row, &codes) as f32 * scale))
            .collect();
        let limit = limit.min(scored.len());
        if limit < scored.len() {
            scored.select_nth_unstable_by(limit, |a, b| b.1.total_cmp(&a.1));
            scored.truncate(limit);
        }
        scored
    }
}

fn integer_dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The scale and the codes such that `code * scale` is close to the value.
fn quantise(vector: &[f32]) -> (f32, Vec<i8>) {
    let largest = vector.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    (scale, vector.iter().map(|value| (value / scale).round() as i8).collect())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// A chunk that has no vector in the space asked for.
#[derive(Clone, Debug)]
pub struct UnembeddedChunk {
    pub workspace: WorkspaceKey,
    pub chunk: i64,
    pub topic: String,
    pub text: String,
}

impl Store {
    /// Chunks that still need a vector of this space, from the one that follows `after` on. None from the beginning means
    /// that the space is complete, which is then remembered.
    pub fn chunks_without_vectors(
        &self,
        space: &str,
        after: Option<(WorkspaceKey, i64)>,
        limit: usize,
    ) -> Result<Vec<UnembeddedChunk>, StoreError> {
        let is_complete = |tx: &mut dyn Transaction| {
            let complete: Option<Vec<u8>> = tx.row(&sql::COMPLETE_SPACE, &[], |row| row.get(0))?;
            Ok(complete.as_deref() == Some(space.as_bytes()))
        };
        if self.read(Tenant::Database, is_complete)? {
            return Ok(Vec::new());
        }
        let missing = self.read(Tenant::Database, |tx| missing(tx, space, after, limit))?;
        if missing.is_empty() && after.is_none() {
            self.write(Tenant::Database, |tx| {
                // Asked again inside the write: somebody may have added a chunk without a vector meanwhile.
                if missing_in_any(tx, space)? {
                    return Ok(());
                }
                tx.execute(&sql::SET_COMPLETE_SPACE, &[space.as_bytes().into()]).map(|_| ())
            })?;
        }
        Ok(missing)
    }

    /// Stores vectors made for [`Self::chunks_without_vectors`]; chunks that are gone meanwhile are passed over.
    pub fn store_vectors(
        &self,
        space: &str,
        vectors: &[(&UnembeddedChunk, Vec<f32>)],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut by_workspace: BTreeMap<WorkspaceKey, Vec<(i64, &[f32])>> = BTreeMap::new();
        for (chunk, vector) in vectors {
            by_workspace.entry(chunk.workspace).or_default().push((chunk.chunk, vector.as_slice()));
        }
        for (workspace, vectors) in by_workspace {
            self.write(workspace, |tx| {
                let keys: Vec<i64> = vectors.iter().map(|(chunk, _)| *chunk).collect();
                let there: Vec<i64> =
                    tx.rows(&sql::CHUNKS_AMONG, &[workspace.into(), keys.as_slice().into()], |row| row.get(0))?;
                let vectors: Vec<_> = vectors.iter().copied().filter(|(chunk, _)| there.contains(chunk)).collect();
                if vectors.is_empty() { Ok(()) } else { insert_rows(tx, workspace, space, &vectors, now) }
            })?;
        }
        Ok(())
    }
}

fn missing_in_any(tx: &mut dyn Transaction, space: &str) -> Result<bool, StoreError> {
    Ok(!missing(tx, space, None, 1)?.is_empty())
}

fn missing(
    tx: &mut dyn Transaction,
    space: &str,
    after: Option<(WorkspaceKey, i64)>,
    limit: usize,
) -> Result<Vec<UnembeddedChunk>, StoreError> {
    let mut found = Vec::new();
    let mut workspaces = workspaces::keys(tx)?;
    workspaces.sort_unstable();
    for workspace in workspaces {
        let after = match after {
            Some((passed, _)) if workspace < passed => continue,
            Some((same, chunk)) if workspace == same => chunk,
            _ => BEFORE_ALL_CHUNKS,
        };
        tx.enter(workspace.into())?;
        let parameters = [workspace.into(), space.into(), (limit as i64).into(), after.into()];
        let keys: Vec<i64> = tx.rows(&sql::CHUNKS_WITHOUT, &parameters, |row| row.get(0))?;
        for (chunk, topic, text) in crate::repair::chunk_texts(tx, workspace, &keys)? {
            found.push(UnembeddedChunk { workspace, chunk, topic, text });
        }
        if found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Stores the vectors of a memory's chunks, whose numbers follow `first_chunk`, or notes that they are owed. Without
/// either, no space is complete.
pub(crate) fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    first_chunk: i64,
    derived: &PreparedDerived,
    now: Timestamp,
) -> Result<(), StoreError> {
    insert_all(tx, workspace, &[(memory, first_chunk, derived)], now)
}

/// The same for several memories together.
pub(crate) fn insert_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[(MemoryId, i64, &PreparedDerived)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut by_space: BTreeMap<&str, Vec<(i64, &[f32])>> = BTreeMap::new();
    let mut owed = Vec::new();
    let mut is_left_out = false;
    for (memory, first_chunk, derived) in memories {
        match &derived.vectors {
            PreparedVectors::None => is_left_out = true,
            PreparedVectors::Owed => owed.push(*memory),
            PreparedVectors::Made { space, vectors } => {
                let vectors = (*first_chunk..).zip(vectors.iter().map(Vec::as_slice));
                by_space.entry(space).or_default().extend(vectors);
            }
        }
    }
    if is_left_out {
        tx.execute(&sql::CLEAR_COMPLETE_SPACE, &[])?;
    }
    if !owed.is_empty() {
        owed::owe(tx, workspace, &owed, now)?;
    }
    by_space.into_iter().try_for_each(|(space, vectors)| insert_rows(tx, workspace, space, &vectors, now))
}

fn insert_rows(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    space: &str,
    vectors: &[(i64, &[f32])],
    now: Timestamp,
) -> Result<(), StoreError> {
    let draw = Draw { numbers: vectors.len(), ..Draw::default() };
    let drawn = workspaces::draw(tx, workspace, draw, now)?;
    let packed: Vec<(f32, Vec<u8>, Vec<u8>)> = vectors
        .iter()
        .map(|(_, vector)| {
            let (scale, codes) = quantise(vector);
            let bytes = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
            (scale, codes.into_iter().map(|code| code as u8).collect(), bytes)
        })
        .collect();
    let rows: Vec<_> = vectors
        .iter()
        .zip(drawn.first_number..)
        .zip(&packed)
        .map(|(((chunk, _), number), (scale, codes, _))| {
            vec![
                workspace.into(),
                (*chunk).into(),
                space.into(),
                number.into(),
                f64::from(*scale).into(),
                codes.as_slice().into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT, &rows)?;
    let originals: Vec<_> = vectors
        .iter()
        .zip(&packed)
        .map(|((chunk, _), (_, _, bytes))| vec![workspace.into(), (*chunk).into(), bytes.as_slice().into()])
        .collect();
    tx.execute_many(&sql::INSERT_ORIGINAL, &originals)?;
    tx.vectors_insert(workspace, space, vectors)
}

/// Tells the engine's own index about vectors whose rows were written without it.
pub(crate) fn index_again(tx: &mut dyn Transaction, workspace: WorkspaceKey, chunks: &[i64]) -> Result<(), StoreError> {
    let key = [workspace.into(), chunks.into()];
    let spaces: HashMap<i64, String> =
        tx.rows(&sql::SPACES_OF, &key, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
    let originals: Vec<(i64, Vec<f32>)> =
        tx.rows(&sql::ORIGINALS, &key, |row| Ok((row.get(0)?, floats(&row.get::<Vec<u8>>(1)?))))?;
    let mut by_space: BTreeMap<&str, Vec<(i64, &[f32])>> = BTreeMap::new();
    for (chunk, vector) in &originals {
        if let Some(space) = spaces.get(chunk) {
            by_space.entry(space).or_default().push((*chunk, vector));
        }
    }
    by_space.into_iter().try_for_each(|(space, vectors)| tx.vectors_insert(workspace, space, &vectors))
}

/// The same for those of a workspace that follow a chunk: a batch of them. Answers the last, `None` when there are no more.
pub(crate) fn index_more(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    after: i64,
) -> Result<Option<i64>, StoreError> {
    let parameters = [workspace.into(), after.into(), INDEXED_AT_ONCE.into()];
    let chunks: Vec<i64> = tx.rows(&sql::CHUNKS_AFTER, &parameters, |row| row.get(0))?;
    index_again(tx, workspace, &chunks)?;
    Ok(chunks.last().copied())
}

pub(crate) fn delete(tx: &mut dyn Transaction, workspace: WorkspaceKey, chunks: &[i64]) -> Result<(), StoreError> {
    tx.execute(&sql::DELETE, &[workspace.into(), chunks.into()])?;
    tx.execute(&sql::DELETE_ORIGINALS, &[workspace.into(), chunks.into()])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantised_dot_products_stay_close_to_exact_ones() {
        let unit = |seed: u32| {
            let raw: Vec<f32> = (0..64u32).map(|i| ((i * 37 + seed * 101) % 97) as f32 / 97.0 - 0.5).collect();
            let length = dot(&raw, &raw).sqrt();
            raw.into_iter().map(|value| value / length).collect::<Vec<f32>>()
        };
        let (a, b) = (unit(1), unit(2));
        let ((scale_a, codes_a), (scale_b, codes_b)) = (quantise(&a), quantise(&b));
        let approximate = integer_dot(&codes_a, &codes_b) as f32 * scale_a * scale_b;
        assert!((approximate - dot(&a, &b)).abs() < 0.01);
    }
}
