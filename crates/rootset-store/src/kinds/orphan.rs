//! Derived rows that nothing vouches for any more: chunks without a memory, entities and relations without a contributor.
//! They are not roots: a plan only ever reclaims them, and there is nothing to undo.

use std::collections::HashMap;

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{ChunkKey, Counts, MemoryId, WorkspaceKey};

use super::{Descriptions, Id, Kind, Planned, States, Sweep, When, memory, objects, untracked};
use crate::backup::{CHUNK_TABLES, Table};
use crate::compaction::search_delete;
use crate::doctor::CountedCheck;
use crate::driver::{SearchIndex, SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::explain::{self, Explanation};
use crate::graph::{KIND_ENTITY, KIND_RELATION};
use crate::plans::PlanTotals;
use crate::statements::doctor as doctor_sql;
use crate::statements::explain as explain_sql;
use crate::statements::garbage as sql;
use crate::statements::graph as graph_sql;
use crate::{memories, purge, vectors};

/// Chunks of memories that do not exist.
pub(super) struct Chunk;

impl Kind for Chunk {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::CHUNK]
    }

    fn is_derived(&self) -> bool {
        true
    }

    fn count_planned(
        &self,
        _tx: &mut dyn Transaction,
        _plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        totals.reclaim.add("chunks", items.len() as i64);
        Ok(())
    }

    fn describe(
        &self,
        _tx: &mut dyn Transaction,
        _workspace: WorkspaceKey,
        _items: &[PlanItem],
        _found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let keys = keys(items);
        tx.query(&sql::ORPHANS_AMONG_CHUNKS, &[sweep.workspace.into(), keys.as_slice().into()], &mut |row| {
            let id = ChunkKey(row.get(0)?).external().into_bytes();
            states.insert((id, 0), RootState { is_orphaned: true, ..RootState::plain(0) });
            Ok(())
        })
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let (workspace, keys) = (sweep.workspace, keys(items));
        vectors::delete(tx, workspace, &keys)?;
        // Their memories are gone: nobody can say which of the two they were in.
        for index in [SearchIndex::Memories, SearchIndex::Code] {
            tx.search_delete(workspace, index, &keys, SearchRemoval::AtOnce)?;
        }
        tx.execute(&sql::DELETE_CHUNKS, &[workspace.into(), keys.as_slice().into()])?;
        purge::count_purged_chunks(tx, keys.len())?;
        Ok(Counts::of("chunks", keys.len() as i64))
    }

    fn explain(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        id: Id,
        when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let Some(chunk) = key(&id) else { return Ok(None) };
        let memory: Option<MemoryId> =
            tx.row(&explain_sql::CHUNK, &[workspace.into(), chunk.into()], |row| row.get(0))?;
        let Some(row) = memory.map(|memory| memories::by_id(tx, workspace, memory)).transpose()?.flatten() else {
            return Ok(None);
        };
        let of_memory = memory::explain(tx, workspace, &row, when)?;
        let shown = MemoryId(id).to_string();
        let reason = format!("a part of the memory `{}`, which is {}", memory::shown(&row), of_memory.reason);
        let path = vec![of_memory.path.first().cloned().unwrap_or_default(), format!("chunk {shown}")];
        Ok(Some(Explanation { kind: "chunk", id: shown, is_alive: of_memory.is_alive, reason, path }))
    }

    fn tables(&self) -> &'static [Table] {
        CHUNK_TABLES
    }
}

fn key(id: &Id) -> Option<ChunkKey> {
    MemoryId(*id).to_string().parse().ok().and_then(ChunkKey::from_external)
}

/// The numbers of chunks that a plan names by their shown ids.
fn keys(items: &[PlanItem]) -> Vec<i64> {
    items.iter().filter_map(|item| key(&item.object)).map(|key| key.0).collect()
}

const CHECKS: &[CountedCheck] = &[
    ("I6.ends", "relations whose ends are missing in their workspace", &doctor_sql::RELATIONS_WITHOUT_ENDS),
    ("I7.memories", "contributions of memories that do not exist", &doctor_sql::CONTRIBUTIONS_WITHOUT_MEMORY),
    ("I7.objects", "contributions to graph rows that do not exist", &doctor_sql::CONTRIBUTIONS_WITHOUT_OBJECT),
    ("I7.orphans", "entities and relations that no memory contributes to", &doctor_sql::OBJECTS_WITHOUT_CONTRIBUTOR),
    ("I7.unvouched", "relations contributed without their ends", &doctor_sql::RELATIONS_WITH_UNVOUCHED_ENDS),
];

/// Entities and relations without a contributor.
pub(super) struct GraphRow;

impl Kind for GraphRow {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::ENTITY, ItemKind::RELATION]
    }

    fn is_derived(&self) -> bool {
        true
    }

    fn shown_id(&self, name: ItemKind, object: Id, _revision: i64) -> String {
        untracked::shown_id(name, object)
    }

    fn count_planned(
        &self,
        _tx: &mut dyn Transaction,
        _plan: &Planned,
        items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        for item in items {
            totals.reclaim.add(if item.kind == ItemKind::ENTITY { "entities" } else { "relations" }, 1);
        }
        Ok(())
    }

    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        untracked::describe(tx, workspace, items, found)
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let ids = objects(items);
        tx.query(&sql::VOUCHED_AMONG, &[sweep.workspace.into(), ids.as_slice().into()], &mut |row| {
            let is_vouched: bool = row.get(1)?;
            states.insert((row.get(0)?, 0), RootState { is_orphaned: !is_vouched, ..RootState::plain(0) });
            Ok(())
        })
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let kind = |item: &PlanItem| if item.kind == ItemKind::ENTITY { KIND_ENTITY } else { KIND_RELATION };
        let rows: HashMap<Id, i64> = items.iter().map(|item| (item.object, kind(item))).collect();
        let ids = objects(items);
        // A contribution of a memory that does not exist vouches for nothing.
        tx.execute(&sql::DELETE_DANGLING_CONTRIBUTIONS, &[sweep.workspace.into(), ids.as_slice().into()])?;
        delete_orphans(tx, sweep.workspace, &rows, SearchRemoval::AtOnce)
    }

    fn explain(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        id: Id,
        _when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        for (kind, statement) in [("entity", &explain_sql::ENTITY), ("relation", &explain_sql::RELATION)] {
            let name: Option<String> = tx.row(statement, &[workspace.into(), (&id).into()], |row| row.get(0))?;
            if let Some(name) = name {
                return explain::of_graph_row(tx, workspace, kind, id, name).map(Some);
            }
        }
        Ok(None)
    }

    fn checks(&self) -> &'static [CountedCheck] {
        CHECKS
    }
}

/// Removes those of the graph rows (id to kind) that no memory, living or trashed, and no import vouches for.
pub(crate) fn delete_orphans(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    rows: &HashMap<Id, i64>,
    removal: SearchRemoval,
) -> Result<Counts, StoreError> {
    let of_kind = |kind| -> Vec<Id> { rows.iter().filter(|(_, of)| **of == kind).map(|(id, _)| *id).collect() };
    let mut counts = Counts::default();
    let relations = of_kind(KIND_RELATION);
    if !relations.is_empty() {
        let parameters = [workspace.into(), relations.as_slice().into()];
        counts.add("relations", tx.execute(&graph_sql::DELETE_ORPHAN_RELATIONS, &parameters)? as i64);
    }
    let entities = of_kind(KIND_ENTITY);
    if entities.is_empty() {
        return Ok(counts);
    }
    let orphans: Vec<(Id, i64)> =
        tx.rows(&graph_sql::ORPHAN_ENTITIES, &[workspace.into(), entities.as_slice().into()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let (ids, numbers): (Vec<Id>, Vec<i64>) = orphans.into_iter().unzip();
    if !ids.is_empty() {
        search_delete(tx, workspace, SearchIndex::Entities, &numbers, removal)?;
        tx.execute(&graph_sql::DELETE_ENTITIES, &[workspace.into(), ids.as_slice().into()])?;
        counts.add("entities", ids.len() as i64);
    }
    Ok(counts)
}
