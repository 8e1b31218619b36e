//! What there is instead, when a search found nothing: names and texts of the memories that changed last. Which of them are near is
//! the caller's to say.

use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::memories as sql;
use crate::{Store, Workspace};

/// A memory that is only pointed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMemory {
    pub id: MemoryId,
    pub name: String,
    pub context: String,
}

impl Store {
    /// The current notes that changed last, without those that nobody is shown unasked.
    pub fn recent_names(
        &self,
        workspace: &Workspace,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<NamedMemory>, StoreError> {
        self.read(workspace, |tx| recent_names(tx, workspace.key, now, limit))
    }
}

fn recent_names(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<NamedMemory>, StoreError> {
    tx.rows(&sql::RECENT_NAMES, &[workspace.into(), now.into(), (limit as i64).into()], |row| {
        Ok(NamedMemory { id: row.get(0)?, name: row.get(1)?, context: row.get(2)? })
    })
}
