//! Derived rows that nothing vouches for, found by reading indexes in their order and comparing, not by asking for each
//! row: there are many rows and hardly ever an orphan.

use std::collections::HashSet;

use rootset_gc::heap::{Derived, DerivedKind};
use rootset_model::{ChunkKey, WorkspaceKey};

use crate::driver::{Statement, Transaction};
use crate::error::StoreError;
use crate::statements::garbage as sql;

type Id = [u8; 16];

/// Chunks of memories that do not exist.
pub(crate) fn chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: &mut Vec<Derived>,
) -> Result<(), StoreError> {
    let memories = memories(tx, workspace)?;
    // Chunks of one memory stand together: most rows need no look-up.
    let mut last: Option<(Id, bool)> = None;
    tx.query(&sql::CHUNK_OWNERS, &[workspace.into()], &mut |row| {
        let owner: Id = row.get(0)?;
        let exists = match last {
            Some((memory, exists)) if memory == owner => exists,
            _ => memories.contains(&owner),
        };
        last = Some((owner, exists));
        if !exists {
            found.push(Derived::orphan(DerivedKind::Chunk, ChunkKey(row.get(1)?).external().into_bytes()));
        }
        Ok(())
    })
}

/// Relations, and then entities, that no memory and no import vouches for.
pub(crate) fn graph(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: &mut Vec<Derived>,
) -> Result<(), StoreError> {
    let vouched = vouched(tx, workspace)?;
    let relations = unvouched(tx, workspace, &sql::RELATION_IDS, &vouched)?;
    let entities = unvouched(tx, workspace, &sql::ENTITY_IDS, &vouched)?;
    found.extend(relations.iter().map(|id| Derived::orphan(DerivedKind::Relation, *id)));
    if entities.is_empty() {
        return Ok(());
    }
    // An end of a relation that somebody vouches for is kept, whoever forgot to vouch for the end.
    let mut ends: HashSet<Id> = HashSet::new();
    tx.query(&sql::RELATIONS_OF, &[workspace.into(), entities.as_slice().into()], &mut |row| {
        if vouched.binary_search(&row.get(0)?).is_ok() {
            ends.extend([row.get::<Id>(1)?, row.get::<Id>(2)?]);
        }
        Ok(())
    })?;
    found.extend(entities.iter().filter(|id| !ends.contains(*id)).map(|id| Derived::orphan(DerivedKind::Entity, *id)));
    Ok(())
}

/// Every memory there is, in the trash or not: what can come back still vouches.
fn memories(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<HashSet<Id>, StoreError> {
    Ok(tx.rows(&sql::MEMORY_IDS, &[workspace.into()], |row| row.get(0))?.into_iter().collect())
}

/// Objects that an existing memory or an import vouches for, in order.
fn vouched(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Vec<Id>, StoreError> {
    let memories = memories(tx, workspace)?;
    let mut vouched: Vec<Id> = tx.rows(&sql::UNTRACKED_OBJECTS, &[workspace.into()], |row| row.get(0))?;
    let imported = vouched.len();
    tx.query(&sql::CONTRIBUTORS, &[workspace.into()], &mut |row| {
        let object: Id = row.get(0)?;
        if vouched[imported..].last() != Some(&object) && memories.contains(&row.get::<Id>(1)?) {
            vouched.push(object);
        }
        Ok(())
    })?;
    vouched.sort_unstable();
    Ok(vouched)
}

/// The ids of a statement, which come in order, that are not among the vouched.
fn unvouched(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    statement: &Statement,
    vouched: &[Id],
) -> Result<Vec<Id>, StoreError> {
    let mut unvouched = Vec::new();
    let mut place = 0;
    tx.query(statement, &[workspace.into()], &mut |row| {
        let id: Id = row.get(0)?;
        while vouched.get(place).is_some_and(|it| *it < id) {
            place += 1;
        }
        if vouched.get(place) != Some(&id) {
            unvouched.push(id);
        }
        Ok(())
    })?;
    Ok(unvouched)
}
