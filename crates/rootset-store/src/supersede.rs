//! Superseding: the old memory keeps its text and points to its successor. It is current again when that goes.

use std::collections::HashSet;

use rootset_model::{MemoryId, WorkspaceKey};

use crate::add::refuse_persons_pin;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::memories::{self, MemoryRow};
use crate::statements::memories as sql;
use crate::{Stamp, Store, Workspace, workspaces};

impl Store {
    /// Links the two and answers the whole chain around them, oldest first.
    pub fn supersede_memory(
        &self,
        workspace: &Workspace,
        reference: &str,
        by: &str,
        reason: Option<&str>,
        stamp: Stamp<'_>,
    ) -> Result<(MemoryId, MemoryId, Vec<String>), StoreError> {
        self.write(workspace, |tx| {
            let old = memories::living(tx, workspace.key, reference)?;
            let successor = memories::living(tx, workspace.key, by)?;
            refuse_cycle(tx, workspace.key, old.id, successor.id)?;
            refuse_persons_pin(&old, stamp)?;
            link(tx, workspace.key, &old, successor.id, reason, stamp)?;
            Ok((old.id, successor.id, chain(tx, workspace.key, old.id)?))
        })
    }

    /// The chain that a memory is part of, oldest first; just its own name when it is in none.
    pub fn supersede_chain(&self, workspace: &Workspace, memory: MemoryId) -> Result<Vec<String>, StoreError> {
        self.read(workspace, |tx| chain(tx, workspace.key, memory))
    }
}

pub(crate) fn find_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    references: &[String],
) -> Result<Vec<MemoryRow>, StoreError> {
    references.iter().map(|reference| memories::living(tx, workspace, reference)).collect()
}

pub(crate) fn link(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    old: &MemoryRow,
    by: MemoryId,
    reason: Option<&str>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    tx.execute(&sql::SUPERSEDE, &[workspace.into(), (&old.id).into(), (&by).into(), stamp.now.into(), reason.into()])?;
    workspaces::touch(tx, workspace, 0, 0, stamp.now)
}

/// Walks from the successor onwards, trashed links included: an undo must not be able to close a cycle later.
pub(crate) fn refuse_cycle(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    old: MemoryId,
    successor: MemoryId,
) -> Result<(), StoreError> {
    let mut seen = HashSet::new();
    let mut next = Some(successor);
    while let Some(id) = next {
        if id == old || !seen.insert(id) {
            return Err(StoreError::SupersedeCycle);
        }
        next = memories::by_id(tx, workspace, id)?.and_then(|row| row.superseded_by);
    }
    Ok(())
}

fn chain(tx: &mut dyn Transaction, workspace: WorkspaceKey, memory: MemoryId) -> Result<Vec<String>, StoreError> {
    // Forward to the newest, then breadth-first over predecessors: several memories may share a successor.
    let mut newest = memory;
    let mut seen = HashSet::from([memory]);
    while let Some(row) = memories::by_id(tx, workspace, newest)? {
        match row.superseded_by.filter(|_| row.is_superseded) {
            Some(successor) if seen.insert(successor) => newest = successor,
            _ => break,
        }
    }
    let mut ordered = vec![newest];
    let mut visited = HashSet::from([newest]);
    let mut position = 0;
    while position < ordered.len() {
        let key = [workspace.into(), (&ordered[position]).into()];
        let predecessors: Vec<MemoryId> = tx.rows(&sql::PREDECESSORS, &key, |row| row.get(0))?;
        ordered.extend(predecessors.into_iter().filter(|id| visited.insert(*id)));
        position += 1;
    }
    let ids: Vec<[u8; 16]> = ordered.iter().map(|id| id.0).collect();
    let rows = memories::by_ids(tx, workspace, &ids)?;
    let name_of = |id: &MemoryId| {
        let row = rows.iter().find(|row| row.id == *id);
        row.and_then(|row| row.name.clone()).unwrap_or_else(|| id.to_string())
    };
    Ok(ordered.iter().rev().map(name_of).collect())
}
