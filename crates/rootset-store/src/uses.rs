//! Use counts: how often a memory was served, and when last. Written after the answer, in a table of their own, so that
//! reading never bumps a version.

use std::collections::BTreeMap;

use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use crate::Store;
use crate::error::StoreError;
use crate::statements::memories as sql;

/// Uses of one memory since the last flush.
#[derive(Clone, Copy, Debug)]
pub struct RecordedUse {
    pub workspace: WorkspaceKey,
    pub memory: MemoryId,
    pub count: i64,
    pub last_used_at: Timestamp,
}

impl Store {
    /// Memories that were purged meanwhile are passed over.
    pub fn record_uses(&self, uses: &[RecordedUse]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let mut by_workspace: BTreeMap<WorkspaceKey, Vec<&RecordedUse>> = BTreeMap::new();
        for it in uses {
            by_workspace.entry(it.workspace).or_default().push(it);
        }
        for (workspace, uses) in by_workspace {
            let rows: Vec<_> = uses
                .iter()
                .map(|it| vec![it.workspace.into(), (&it.memory).into(), it.count.into(), it.last_used_at.into()])
                .collect();
            self.touch(workspace, |tx| tx.execute_many(&sql::ADD_USE, &rows).map(drop))?;
        }
        Ok(())
    }
}
