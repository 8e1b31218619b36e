//! What agents have removed and a person can still bring back.

use rootset_model::{MemoryId, RunId, Timestamp, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::status as sql;
use crate::{Store, Workspace};

/// Memories in the trash by runs of agents whose undo is not over. Indexed files are none of them: the next scan reads those
/// again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removals {
    pub count: i64,
    /// Of those whose undo ends first.
    pub names: Vec<String>,
    /// When the first undo ends, and of which run.
    pub first: Option<(Timestamp, RunId)>,
}

impl Store {
    pub fn removals_by_agents(
        &self,
        workspace: &Workspace,
        names: i64,
        now: Timestamp,
    ) -> Result<Removals, StoreError> {
        self.read(workspace, |tx| removals_by_agents(tx, workspace.key, names, now))
    }
}

pub(crate) fn removals_by_agents(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    names: i64,
    now: Timestamp,
) -> Result<Removals, StoreError> {
    let mut removals = Removals {
        count: tx.scalar(&sql::REMOVED_BY_AGENTS_COUNT, &[workspace.into(), now.into()])?,
        ..Removals::default()
    };
    if removals.count == 0 {
        return Ok(removals);
    }
    tx.query(&sql::REMOVED_BY_AGENTS, &[workspace.into(), now.into(), names.into()], &mut |row| {
        let (memory, name): (MemoryId, Option<String>) = (row.get(0)?, row.get(1)?);
        removals.names.push(name.unwrap_or_else(|| memory.to_string()));
        if removals.first.is_none() {
            removals.first = Some((row.get(2)?, row.get(3)?));
        }
        Ok(())
    })?;
    Ok(removals)
}
