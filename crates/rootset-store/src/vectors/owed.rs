//! Vectors that are owed to memories: an add or update is complete without them, and a job per memory says that they are
//! still to be made. Several processes may work on them; each takes what nobody else holds.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use super::{UnembeddedChunk, insert_rows};
use crate::driver::{Tenant, Transaction, Value};
use crate::error::StoreError;
use crate::jobs::EMBED;
use crate::statements::jobs as sql;
use crate::statements::vectors as vector_sql;
use crate::{Store, Workspace};

/// Memories whose vectors are made together: enough to fill the batches of a model.
const MEMORIES_AT_ONCE: i64 = 32;

/// Vectors that this process makes until its lease runs out.
#[derive(Debug)]
pub struct OwedVectors {
    workspace: WorkspaceKey,
    jobs: Vec<OwedJob>,
    pub chunks: Vec<UnembeddedChunk>,
}

#[derive(Clone, Copy, Debug)]
struct OwedJob {
    memory: MemoryId,
    fence: i64,
}

/// How far the vectors of a workspace are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VectorProgress {
    /// Chunks that should have a vector.
    pub chunks: i64,
    /// Those that have one of the space asked for.
    pub embedded: i64,
    /// Why the last attempt failed, where one did and its memory still waits.
    pub last_error: Option<String>,
}

impl Store {
    /// Takes memories of one workspace that are owed vectors of this space; `None` when nobody is owed any.
    pub fn claim_vectors(&self, space: &str, now: Timestamp, lease_ms: i64) -> Result<Option<OwedVectors>, StoreError> {
        let until = now.saturating_add_ms(lease_ms);
        // Looking first spares the write lock when there is nothing to do, which is nearly always.
        let due: Vec<WorkspaceKey> = self.read(Tenant::Database, |tx| {
            tx.rows(&sql::DUE_WORKSPACES, &[EMBED.into(), now.into()], |row| row.get(0))
        })?;
        for workspace in due {
            loop {
                let claimed = self.touch(workspace, |tx| claim(tx, workspace, space, now, until))?;
                match claimed {
                    Some(owed) if owed.chunks.is_empty() => self.settle_vectors(space, &owed, Vec::new(), now)?,
                    Some(owed) => return Ok(Some(owed)),
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// Stores what was made of the claimed chunks. What was changed or deleted meanwhile is passed over: a memory with
    /// another text is owed its vectors again.
    pub fn settle_vectors(
        &self,
        space: &str,
        owed: &OwedVectors,
        vectors: Vec<Vec<f32>>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        assert_eq!(owed.chunks.len(), vectors.len(), "one vector per chunk");
        let workspace = owed.workspace;
        self.write(workspace, |tx| {
            let held = held(tx, owed)?;
            let keys: Vec<i64> = owed.chunks.iter().map(|it| it.chunk).collect();
            let there: HashSet<i64> = tx
                .rows(&vector_sql::CHUNKS_AMONG, &[workspace.into(), keys.as_slice().into()], |row| row.get(0))?
                .into_iter()
                .collect();
            let vectors: Vec<_> = keys
                .iter()
                .copied()
                .zip(vectors.iter().map(Vec::as_slice))
                .filter(|(key, _)| there.contains(key))
                .collect();
            if !vectors.is_empty() {
                insert_rows(tx, workspace, space, &vectors, now)?;
            }
            let still: HashSet<[u8; 16]> =
                without(tx, workspace, space, &held)?.into_iter().map(|(memory, _)| memory).collect();
            let (again, done): (Vec<[u8; 16]>, Vec<[u8; 16]>) = held.iter().partition(|memory| still.contains(*memory));
            tx.execute(&sql::SETTLE_MANY, &[workspace.into(), EMBED.into(), done.as_slice().into()])?;
            if !again.is_empty() {
                let parameters = [workspace.into(), EMBED.into(), again.as_slice().into(), now.into(), Value::Null];
                tx.execute(&sql::RELEASE_MANY, &parameters)?;
            }
            Ok(())
        })
    }

    /// Notes why none could be made, and when to try again.
    pub fn fail_vectors(&self, owed: &OwedVectors, error: &str, retry_at: Timestamp) -> Result<(), StoreError> {
        self.write(owed.workspace, |tx| {
            let held = held(tx, owed)?;
            let parameters =
                [owed.workspace.into(), EMBED.into(), held.as_slice().into(), retry_at.into(), error.into()];
            tx.execute(&sql::RELEASE_MANY, &parameters).map(drop)
        })
    }

    pub fn vector_progress(&self, workspace: &Workspace, space: &str) -> Result<VectorProgress, StoreError> {
        self.read(workspace, |tx| {
            let key = workspace.key;
            let (chunks, embedded) = tx
                .row(&vector_sql::PROGRESS, &[key.into(), space.into()], |row| Ok((row.get(0)?, row.get(1)?)))?
                .unwrap_or_default();
            let last_error = tx.row(&sql::LAST_ERROR, &[key.into(), EMBED.into()], |row| row.get(0))?;
            Ok(VectorProgress { chunks, embedded, last_error })
        })
    }
}

/// Memories are owed the vectors of the chunks they have now.
pub(crate) fn owe(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[MemoryId],
    now: Timestamp,
) -> Result<(), StoreError> {
    let rows: Vec<Vec<Value<'_>>> = memories
        .iter()
        .map(|memory| vec![workspace.into(), EMBED.into(), memory.into(), now.into(), Value::Null])
        .collect();
    tx.execute_many(&sql::ENQUEUE, &rows).map(drop)
}

fn claim(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    space: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<Option<OwedVectors>, StoreError> {
    let parameters = [workspace.into(), EMBED.into(), now.into(), MEMORIES_AT_ONCE.into()];
    let due: Vec<[u8; 16]> = tx.rows(&sql::DUE_AMONG, &parameters, |row| row.get(0))?;
    if due.is_empty() {
        return Ok(None);
    }
    let parameters = [workspace.into(), EMBED.into(), due.as_slice().into(), until.into()];
    let jobs = tx.rows(&sql::CLAIM_MANY, &parameters, |row| Ok(OwedJob { memory: row.get(0)?, fence: row.get(1)? }))?;
    let keys: Vec<i64> = without(tx, workspace, space, &due)?.into_iter().map(|(_, chunk)| chunk).collect();
    let texts: BTreeMap<i64, (String, String)> = crate::repair::chunk_texts(tx, workspace, &keys)?
        .into_iter()
        .map(|(chunk, topic, text)| (chunk, (topic, text)))
        .collect();
    let chunks =
        texts.into_iter().map(|(chunk, (topic, text))| UnembeddedChunk { workspace, chunk, topic, text }).collect();
    Ok(Some(OwedVectors { workspace, jobs, chunks }))
}

/// Memories whose job is still this process's: an erasure takes the job away, and a lease that ran out goes to others.
fn held(tx: &mut dyn Transaction, owed: &OwedVectors) -> Result<Vec<[u8; 16]>, StoreError> {
    let memories: Vec<[u8; 16]> = owed.jobs.iter().map(|job| job.memory.0).collect();
    let parameters = [owed.workspace.into(), EMBED.into(), memories.as_slice().into()];
    let fences: HashMap<[u8; 16], i64> =
        tx.rows(&sql::FENCES, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
    let is_held = |job: &&OwedJob| fences.get(&job.memory.0) == Some(&job.fence);
    Ok(owed.jobs.iter().filter(is_held).map(|job| job.memory.0).collect())
}

/// Memories and their chunks that have no vector of the space.
fn without(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    space: &str,
    memories: &[[u8; 16]],
) -> Result<Vec<([u8; 16], i64)>, StoreError> {
    let parameters = [workspace.into(), space.into(), memories.into()];
    tx.rows(&vector_sql::CHUNKS_OF_WITHOUT, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))
}
