//! Full-text indexes from which many rows were removed at once are rewritten without them.
//!
//! Removing terms one by one costs half a millisecond a chunk; marking rows and rewriting the index costs about the time
//! of reading and writing it. The debt is noted in the transaction that marks, so that after a crash in
//! between, the next purge or housekeeping pays it: until then the receipt is not written and `doctor` says so (I12).

use rootset_model::WorkspaceKey;
use rootset_model::limits::PURGE_BATCH_MEMORIES;

use crate::Store;
use crate::driver::{SearchIndex, SearchRemoval, Tenant, Transaction};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::statements::compaction as sql;

/// Below this share of a workspace's memories, rewriting its whole index costs more than it saves.
pub(crate) const MARKED_SHARE_MIN: f64 = 0.01;
/// How far a rewriting has come, as it is noted.
const NOT_BEGUN: &[u8] = b"0";
const BEGUN: &[u8] = b"1";

/// How the removal of so many memories goes about full text.
pub(crate) fn removal_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: i64,
) -> Result<SearchRemoval, StoreError> {
    if memories < PURGE_BATCH_MEMORIES as i64 {
        return Ok(SearchRemoval::AtOnce);
    }
    let stored: i64 = tx.scalar(&sql::STORED_MEMORIES, &[workspace.into()])?;
    let is_large = memories as f64 >= stored as f64 * MARKED_SHARE_MIN;
    Ok(if is_large { SearchRemoval::Marked } else { SearchRemoval::AtOnce })
}

/// Deletes rows of an index and notes the debt, if that makes one.
pub(crate) fn search_delete(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    index: SearchIndex,
    keys: &[i64],
    removal: SearchRemoval,
) -> Result<(), StoreError> {
    tx.search_delete(workspace, index, keys, removal)?;
    if removal == SearchRemoval::Marked && !keys.is_empty() {
        tx.execute(&sql::NOTE, &[(&key(workspace, index)).into(), NOT_BEGUN.into()])?;
    }
    Ok(())
}

/// Indexes that were dropped owe nothing: nobody would come back for them.
pub(crate) fn forget(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<(), StoreError> {
    for index in SearchIndex::ALL {
        tx.execute(&sql::FORGET, &[(&key(workspace, index)).into()])?;
    }
    Ok(())
}

impl Store {
    /// Pays the debts of all workspaces, a step per transaction. `false` when the disk has no room for it: the debts stay
    /// noted, and whoever purges or keeps house next tries again.
    pub(crate) fn compact_searches(&self) -> Result<bool, StoreError> {
        for (workspace, index) in self.read(Tenant::Database, debts)? {
            loop {
                match self.write(workspace, |tx| step(tx, workspace, index)) {
                    Ok(true) => break,
                    Ok(false) => {}
                    Err(StoreError::DiskFull) => return Ok(false),
                    Err(error) => return Err(error),
                }
                failpoint!("purge.compaction_step");
            }
        }
        Ok(true)
    }
}

/// Indexes that hold rows which are only marked.
pub(crate) fn debts(tx: &mut dyn Transaction) -> Result<Vec<(WorkspaceKey, SearchIndex)>, StoreError> {
    let keys: Vec<String> = tx.rows(&sql::NOTED, &[], |row| row.get(0))?;
    Ok(keys.iter().filter_map(|key| parse(key)).collect())
}

fn step(tx: &mut dyn Transaction, workspace: WorkspaceKey, index: SearchIndex) -> Result<bool, StoreError> {
    let key = key(workspace, index);
    let Some(progress) = tx.row(&sql::PROGRESS, &[(&key).into()], |row| row.get::<Vec<u8>>(0))? else {
        return Ok(true);
    };
    let is_done = tx.search_compact(workspace, index, progress == NOT_BEGUN)?;
    if is_done {
        tx.execute(&sql::FORGET, &[(&key).into()])?
    } else {
        tx.execute(&sql::NOTE, &[(&key).into(), BEGUN.into()])?
    };
    Ok(is_done)
}

fn key(workspace: WorkspaceKey, index: SearchIndex) -> String {
    format!("compaction/{}/{}", workspace.0, index.as_str())
}

fn parse(key: &str) -> Option<(WorkspaceKey, SearchIndex)> {
    let (workspace, name) = key.strip_prefix("compaction/")?.split_once('/')?;
    let index = SearchIndex::ALL.into_iter().find(|index| index.as_str() == name)?;
    Some((WorkspaceKey(workspace.parse().ok()?), index))
}
