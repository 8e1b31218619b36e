//! Use counts: how often a memory was served, and when last. Written after the answer, in a table of their own, so that
//! reading never bumps a version.
//!
//! What was put before a model that did not ask for it is counted beside them: being shown is no use, and keeps nothing from
//! the collector.

use std::collections::BTreeMap;

use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use crate::Store;
use crate::driver::Value;
use crate::error::StoreError;
use crate::statements::memories as sql;

/// Uses of one memory since the last flush, or how often it was shown.
#[derive(Clone, Copy, Debug)]
pub struct RecordedUse {
    pub workspace: WorkspaceKey,
    pub memory: MemoryId,
    pub count: i64,
    pub last_at: Timestamp,
}

impl RecordedUse {
    fn row(&self) -> Vec<Value<'_>> {
        vec![self.workspace.into(), (&self.memory).into(), self.count.into(), self.last_at.into()]
    }
}

impl Store {
    /// Memories that were purged meanwhile are passed over.
    pub fn record_uses(&self, uses: &[RecordedUse], shown: &[RecordedUse]) -> Result<(), StoreError> {
        type Rows<'a> = Vec<Vec<Value<'a>>>;
        let mut by_workspace: BTreeMap<WorkspaceKey, (Rows<'_>, Rows<'_>)> = BTreeMap::new();
        for it in uses {
            by_workspace.entry(it.workspace).or_default().0.push(it.row());
        }
        for it in shown {
            by_workspace.entry(it.workspace).or_default().1.push(it.row());
        }
        for (workspace, (uses, shown)) in by_workspace {
            self.touch(workspace, |tx| {
                for (statement, rows) in [(&sql::ADD_USE, &uses), (&sql::ADD_SHOWN, &shown)] {
                    if !rows.is_empty() {
                        tx.execute_many(statement, rows)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}
