//! The state of a batch's items at the moment of the sweep, one query per kind of object.

use std::collections::HashMap;

use rootset_gc::RootState;
use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_model::{ChunkKey, MemoryId, RunId, Timestamp, WorkspaceKey};

use crate::context;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::garbage as garbage_sql;
use crate::statements::runs as sql;

/// States by id and revision; what does not exist is not in it.
pub(super) fn states_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    batch: &[(i64, PlanItem)],
    run: RunId,
    now: Timestamp,
) -> Result<HashMap<([u8; 16], i64), RootState>, StoreError> {
    let ids = |is_wanted: &dyn Fn(&PlanItem) -> bool| -> Vec<[u8; 16]> {
        batch.iter().filter(|(_, item)| is_wanted(item)).map(|(_, item)| item.object).collect()
    };
    let is_graph = |item: &PlanItem| matches!(item.kind, ItemKind::Entity | ItemKind::Relation);
    let is_reclaimed = |item: &PlanItem| item.action == Action::Reclaim;
    let mut states = HashMap::new();
    of_memories(tx, workspace, &ids(&|item| item.kind == ItemKind::Memory), run, now, &mut states)?;
    of_revisions(tx, workspace, &ids(&|item| item.kind == ItemKind::Revision), &mut states)?;
    of_untracked(tx, workspace, &ids(&|item| is_graph(item) && !is_reclaimed(item)), &mut states)?;
    of_orphans(tx, workspace, &ids(&|item| is_graph(item) && is_reclaimed(item)), &mut states)?;
    of_chunks(tx, workspace, &ids(&|item| item.kind == ItemKind::Chunk), &mut states)?;
    let items: Vec<PlanItem> = batch.iter().map(|(_, item)| *item).collect();
    context::trash::states(tx, workspace, &items, &mut states)?;
    for workspace_item in ids(&|item| item.kind == ItemKind::Workspace) {
        states.insert((workspace_item, 0), RootState::plain(0));
    }
    Ok(states)
}

type States = HashMap<([u8; 16], i64), RootState>;

fn of_memories(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    run: RunId,
    now: Timestamp,
    states: &mut States,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(&sql::MEMORY_STATES, &[workspace.into(), ids.into(), now.into(), (&run).into()], &mut |row| {
        let state = RootState {
            version: row.get(1)?,
            is_trashed: row.get(2)?,
            is_pinned: row.get(3)?,
            last_used_at: row.get(4)?,
            is_in_flight: row.get(5)?,
            is_stale: row.get(6)?,
            is_superseded: row.get(7)?,
            is_orphaned: false,
        };
        states.insert((row.get(0)?, 0), state);
        Ok(())
    })
}

fn of_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    states: &mut States,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(&sql::REVISION_STATES, &[workspace.into(), ids.into()], &mut |row| {
        let state = RootState { is_trashed: row.get(3)?, is_pinned: row.get(4)?, ..RootState::plain(row.get(2)?) };
        states.insert((row.get(0)?, row.get(1)?), state);
        Ok(())
    })
}

fn of_untracked(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    states: &mut States,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(&sql::UNTRACKED_STATES, &[workspace.into(), ids.into()], &mut |row| {
        states.insert((row.get(0)?, 0), RootState { is_trashed: row.get(1)?, ..RootState::plain(0) });
        Ok(())
    })
}

fn of_orphans(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    states: &mut States,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.query(&garbage_sql::VOUCHED_AMONG, &[workspace.into(), ids.into()], &mut |row| {
        let is_vouched: bool = row.get(1)?;
        states.insert((row.get(0)?, 0), RootState { is_orphaned: !is_vouched, ..RootState::plain(0) });
        Ok(())
    })
}

fn of_chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    states: &mut States,
) -> Result<(), StoreError> {
    let keys = chunk_keys(ids);
    if keys.is_empty() {
        return Ok(());
    }
    tx.query(&garbage_sql::ORPHANS_AMONG_CHUNKS, &[workspace.into(), keys.as_slice().into()], &mut |row| {
        let id = ChunkKey(row.get(0)?).external().into_bytes();
        states.insert((id, 0), RootState { is_orphaned: true, ..RootState::plain(0) });
        Ok(())
    })
}

/// The numbers of chunks that a plan names by their shown ids.
pub(super) fn chunk_keys(ids: &[[u8; 16]]) -> Vec<i64> {
    let key = |id: &[u8; 16]| MemoryId(*id).to_string().parse().ok().and_then(ChunkKey::from_external);
    ids.iter().filter_map(key).map(|key| key.0).collect()
}
