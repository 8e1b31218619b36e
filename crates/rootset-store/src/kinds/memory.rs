//! Memories, those of indexed files included, with their chunks, their code and what they vouch for.

mod explain;
mod forget;
mod remove;
mod replay;

use std::collections::HashMap;

use rootset_gc::RootState;
use rootset_model::plan::{ItemKind, PlanItem};
use rootset_model::{Counts, MemoryId, RunId, Timestamp, WorkspaceKey};

use super::{
    Description, Descriptions, Emptying, Erasing, Id, Kind, Ledger, Planned, Progress, Purging, Replaying, States,
    Sweep, TrashingAgain, Undoing, When, objects,
};
use crate::backup::{MEMORY_TABLES, Table};
use crate::compaction::removal_of;
use crate::doctor::CountedCheck;
use crate::driver::{SearchRemoval, Transaction, Value};
use crate::erasure::{self, Class};
use crate::error::StoreError;
use crate::explain::Explanation;
use crate::forget::{ForgetKind, ForgetRequest, ForgetSelection};
use crate::memories::{self, MemoryRow};
use crate::plans::PlanTotals;
use crate::purge::Erased;
use crate::statements::doctor as doctor_sql;
use crate::statements::memories as memory_sql;
use crate::statements::plans as plan_sql;
use crate::statements::purge as purge_sql;
use crate::statements::runs as sql;
use crate::statements::status as status_sql;
use crate::status::HeapStatus;
use crate::undo::{Conflict, Undone};
use crate::{graph, jobs};

pub(super) use explain::{explain, shown};
pub(super) use forget::filtered;
use remove::remove;

const CHECKS: &[CountedCheck] = &[
    ("I8.revisions", "memories without their current revision", &doctor_sql::MEMORIES_WITHOUT_REVISION),
    ("I8.chunks", "memories without chunks", &doctor_sql::MEMORIES_WITHOUT_CHUNKS),
    ("pins", "pins that are nobody's, and owners of pins that are not there", &doctor_sql::PINS_OF_NOBODY),
    ("I8.names", "former names and keys of memories that do not exist", &doctor_sql::NAMES_WITHOUT_MEMORY),
    ("I8.memories", "chunks of memories that do not exist", &doctor_sql::CHUNKS_WITHOUT_MEMORY),
    ("I8.vectors", "vectors of chunks that do not exist", &doctor_sql::VECTORS_WITHOUT_CHUNK),
    ("I8.files", "files and memories that do not belong to each other", &doctor_sql::FILES_WITHOUT_MEMORY),
    ("I8.code", "files whose symbols, references or chunks are incomplete", &doctor_sql::INCOMPLETE_FILES),
    ("I8.symbols", "symbols and references of files that do not exist", &doctor_sql::CODE_WITHOUT_FILE),
];

pub(super) struct Memory;

impl Kind for Memory {
    fn names(&self) -> &'static [ItemKind] {
        &[ItemKind::MEMORY]
    }

    fn is_limited(&self) -> bool {
        true
    }

    fn forgotten_as(&self) -> &'static [ForgetKind] {
        forget::WORDS
    }

    fn forget(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        request: &ForgetRequest<'_>,
        found: &mut ForgetSelection,
    ) -> Result<(), StoreError> {
        forget::select(tx, workspace, request, found)
    }

    fn count_planned(
        &self,
        tx: &mut dyn Transaction,
        plan: &Planned,
        _items: &[PlanItem],
        totals: &mut PlanTotals,
    ) -> Result<(), StoreError> {
        tx.query(&plan_sql::MEMORY_TOTALS, &[plan.workspace.into(), (&plan.plan).into()], &mut |row| {
            totals.counts.add("memories", row.get(0)?);
            totals.counts.add("bytes", row.get(1)?);
            totals.counts.add("chunks", row.get(2)?);
            Ok(())
        })
    }

    fn describe(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
        found: &mut Descriptions,
    ) -> Result<(), StoreError> {
        describe(tx, workspace, items, found)
    }

    fn states(
        &self,
        tx: &mut dyn Transaction,
        sweep: &Sweep<'_>,
        items: &[PlanItem],
        states: &mut States,
    ) -> Result<(), StoreError> {
        let ids = objects(items);
        let parameters = [sweep.workspace.into(), ids.as_slice().into(), sweep.stamp.now.into(), (&sweep.run).into()];
        tx.query(&sql::MEMORY_STATES, &parameters, &mut |row| {
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

    fn vouched_by(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        items: &[PlanItem],
    ) -> Result<HashMap<Id, i64>, StoreError> {
        graph::contributed_by(tx, workspace, &objects(items))
    }

    fn trash(&self, tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<Counts, StoreError> {
        let ids = objects(items);
        let parameters = [sweep.workspace.into(), ids.as_slice().into(), (&sweep.run).into(), sweep.stamp.now.into()];
        let flipped = tx.execute(&sql::TRASH_MEMORIES, &parameters)?;
        // An erasure takes what is in the trash already, too.
        assert!(flipped == ids.len() || sweep.erases, "every memory was checked in this very transaction");
        jobs::park_completions(tx, sweep.workspace, &ids)?;
        let mut counts = Counts::of("memories", ids.len() as i64);
        counts.add("chunks", tx.scalar(&sql::CHUNK_COUNT, &[sweep.workspace.into(), ids.as_slice().into()])?);
        Ok(counts)
    }

    fn erase(
        &self,
        tx: &mut dyn Transaction,
        erasing: &Erasing<'_>,
        items: &[PlanItem],
        erased: &mut Erased,
    ) -> Result<(), StoreError> {
        let removal = removal_of(tx, erasing.workspace, erasing.planned.get("memories"))?;
        remove(tx, erasing.workspace, &objects(items), Some(&erasing.ledger), removal, erased, erasing.stamp)
    }

    fn restore(
        &self,
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        after: &[u8],
        undone: &mut Undone,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (workspace, size) = (undoing.workspace, undoing.size);
        let parameters = [workspace.into(), (&undoing.run.id).into(), after.into(), (size as i64).into()];
        let ids: Vec<Id> = tx.rows(&sql::TRASHED_MEMORIES_OF, &parameters, |row| row.get(0))?;
        restore(tx, workspace, &ids, undone, undoing.stamp.now)?;
        Ok(ids.last().filter(|_| ids.len() == size).map(|id| id.to_vec()))
    }

    fn purged_items(&self, tx: &mut dyn Transaction, undoing: &Undoing<'_>) -> Result<Vec<Conflict>, StoreError> {
        let (Some(plan), Some(_)) = (undoing.run.plan, undoing.run.purged_at) else { return Ok(Vec::new()) };
        let parameters = [undoing.workspace.into(), (&plan).into(), (&undoing.run.id).into()];
        tx.rows(&sql::PURGED_ITEMS, &parameters, |row| {
            Ok(Conflict { id: row.get::<MemoryId>(0)?.to_string(), reason: "purged", by: None })
        })
    }

    fn search_removal(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        run: RunId,
    ) -> Result<SearchRemoval, StoreError> {
        let count = tx.scalar(&sql::TRASHED_MEMORY_COUNT, &[workspace.into(), (&run).into()])?;
        removal_of(tx, workspace, count)
    }

    fn purge(
        &self,
        tx: &mut dyn Transaction,
        purging: &Purging<'_>,
        removal: SearchRemoval,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let (workspace, run, size) = (purging.workspace, &purging.ledger.run, purging.size);
        let parameters = [workspace.into(), run.into(), Value::Blob(&[]), (size as i64).into()];
        let ids: Vec<Id> = tx.rows(&sql::TRASHED_MEMORIES_OF, &parameters, |row| row.get(0))?;
        remove(tx, workspace, &ids, Some(&purging.ledger), removal, erased, purging.stamp)?;
        note_periods(tx, purging, &ids)?;
        Ok(Progress::of(ids.len(), size))
    }

    fn empty(
        &self,
        tx: &mut dyn Transaction,
        emptying: &Emptying<'_>,
        erased: &mut Erased,
    ) -> Result<Progress, StoreError> {
        let parameters = [emptying.workspace.into(), (emptying.size as i64).into()];
        let ids: Vec<Id> = tx.rows(&purge_sql::ALL_MEMORIES, &parameters, |row| row.get(0))?;
        remove(tx, emptying.workspace, &ids, None, emptying.removal, erased, emptying.stamp)?;
        Ok(Progress::of(ids.len(), emptying.size))
    }

    fn texts(&self) -> &'static [&'static str] {
        &["memories", "revisions"]
    }

    fn explain(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        id: Id,
        when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let row = memories::by_id(tx, workspace, MemoryId(id))?;
        row.map(|row| explain(tx, workspace, &row, when)).transpose()
    }

    fn explain_named(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        name: &str,
        when: &When,
    ) -> Result<Option<Explanation>, StoreError> {
        let row = match memories::living(tx, workspace, name) {
            Ok(row) => Some(row),
            Err(StoreError::MemoryNotFound { trashed: Some(_), .. }) => {
                tx.row(&memory_sql::TRASHED_BY_NAME, &[workspace.into(), name.into()], MemoryRow::read)?
            }
            Err(StoreError::MemoryNotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        row.map(|row| explain(tx, workspace, &row, when)).transpose()
    }

    fn count_heap(
        &self,
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        now: Timestamp,
        status: &mut HeapStatus,
    ) -> Result<(), StoreError> {
        tx.query(&status_sql::COUNTS, &[workspace.into(), now.into()], &mut |row| {
            status.live.add("memories", row.get(0)?);
            status.pinned = row.get(1)?;
            status.out_of_search = row.get(2)?;
            status.unclassifiable = row.get(3)?;
            status.trashed.add("memories", row.get(4)?);
            status.note_trash_since(row.get(5)?);
            Ok(())
        })
    }

    fn tables(&self) -> &'static [Table] {
        MEMORY_TABLES
    }

    fn replay(&self, tx: &mut dyn Transaction, replaying: &Replaying<'_>) -> Result<i64, StoreError> {
        replay::replay(tx, replaying)
    }

    fn trash_again(&self, tx: &mut dyn Transaction, again: &TrashingAgain<'_>) -> Result<Counts, StoreError> {
        replay::trash_again(tx, again)
    }

    fn checks(&self) -> &'static [CountedCheck] {
        CHECKS
    }
}

/// What a policy takes may come back with a backup, unless the policy is final.
fn note_periods(tx: &mut dyn Transaction, purging: &Purging<'_>, ids: &[Id]) -> Result<(), StoreError> {
    let ledger = &purging.ledger;
    if ledger.class.is_some() || ids.is_empty() {
        return Ok(());
    }
    let parameters = [purging.workspace.into(), (&ledger.run).into(), ids.into()];
    let over: Vec<Id> = tx.rows(&purge_sql::PERIOD_OVER_AMONG, &parameters, |row| row.get(0))?;
    if over.is_empty() {
        return Ok(());
    }
    let ledger = Ledger { class: Some(Class::Erased), ..*ledger };
    erasure::note_memories(tx, purging.workspace, &ledger, &over, purging.stamp)
}

/// Also for revisions, which are known by their memories.
pub(super) fn describe(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
    found: &mut Descriptions,
) -> Result<(), StoreError> {
    let ids = objects(items);
    tx.query(&plan_sql::MEMORY_DESCRIPTIONS, &[workspace.into(), ids.as_slice().into()], &mut |row| {
        let description = Description {
            name: row.get(1)?,
            topic: row.get(2)?,
            file_path: row.get(3)?,
            created_at: row.get(4)?,
            chunk_count: row.get(5)?,
            lines: row.get(6)?,
        };
        found.insert(row.get(0)?, description);
        Ok(())
    })
}

/// The flip back; what a living memory took the place of stays, with the reason.
pub(crate) fn restore(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[Id],
    undone: &mut Undone,
    now: Timestamp,
) -> Result<(), StoreError> {
    let conflicts = tx.rows(&sql::UNDO_CONFLICTS, &[workspace.into(), ids.into()], |row| {
        let reason = match row.get::<String>(1)?.as_str() {
            "name" => "name_taken",
            "path" => "path_taken",
            _ => "content_taken",
        };
        Ok((row.get::<Id>(0)?, reason, row.get::<MemoryId>(2)?))
    })?;
    let free: Vec<Id> =
        ids.iter().filter(|id| !conflicts.iter().any(|(conflicting, ..)| conflicting == *id)).copied().collect();
    let restored = tx.execute(&sql::RESTORE_MEMORIES, &[workspace.into(), free.as_slice().into()])?;
    undone.restored.add("memories", restored as i64);
    // A pending memory's job was parked with its deletion and has to come back with it.
    let pending: Vec<MemoryId> =
        tx.rows(&sql::PENDING_AMONG, &[workspace.into(), free.as_slice().into()], |row| row.get(0))?;
    jobs::enqueue_completions(tx, workspace, &pending, now)?;
    undone.conflicts.extend(conflicts.into_iter().map(|(id, reason, by)| Conflict {
        id: MemoryId(id).to_string(),
        reason,
        by: Some(by),
    }));
    Ok(())
}
