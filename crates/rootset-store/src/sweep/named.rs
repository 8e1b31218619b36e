//! What a caller names is its own preview: plan, confirmation and sweep in one transaction.

use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{MemoryId, WorkspaceKey};

use super::confirm::{ConfirmedPlan, confirm_named};
use super::sweep_batch;
use crate::context::Pruning;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::failpoints::sweep_batch_memories;
use crate::kinds::Terms;
use crate::purge::Erased;
use crate::runs::{self, RunView};
use crate::update::{EraseIds, History};
use crate::{Stamp, Store, Workspace, memories};

/// What a run is called that takes revisions which nobody asked to remove: their texts may be added again.
const TRIMMED: &str = "trim_revisions";

impl Store {
    /// Trashes memories in one run: all that are named, or none.
    pub fn delete_memories(
        &self,
        workspace: &Workspace,
        references: &[String],
        ids: EraseIds,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<RunView, StoreError> {
        self.write_to_free_room(workspace, |tx| {
            let mut items: Vec<PlanItem> = Vec::with_capacity(references.len());
            for reference in references {
                let row = memories::living(tx, workspace.key, reference)?;
                if row.is_pinned {
                    return Err(StoreError::Pinned { memory: row.id, reason: row.pin_reason });
                }
                if items.iter().any(|item| item.object == row.id.0) {
                    continue;
                }
                items.push(PlanItem {
                    kind: ItemKind::MEMORY,
                    object: row.id.0,
                    revision: 0,
                    version: row.version,
                    action: Action::Trash,
                    reason: Reason::NAMED,
                });
            }
            sweep_named(tx, workspace.key, items, "delete_memory", ids, grace_ms, stamp)?;
            runs::find(tx, workspace.key, ids.run)
        })
    }

    /// Trashes a whole workspace: one flip, because nothing in it is reached but through it. Pins do not hold it.
    pub fn delete_workspace(
        &self,
        workspace: &Workspace,
        ids: EraseIds,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<RunView, StoreError> {
        self.write_to_free_room(workspace, |tx| {
            let mut object = [0; 16];
            object[8..].copy_from_slice(&workspace.key.0.to_be_bytes());
            let item = PlanItem {
                kind: ItemKind::WORKSPACE,
                object,
                revision: 0,
                version: 0,
                action: Action::Trash,
                reason: Reason::NAMED,
            };
            sweep_named(tx, workspace.key, vec![item], "delete_workspace", ids, grace_ms, stamp)?;
            runs::find(tx, workspace.key, ids.run)
        })
    }
}

/// Erases earlier revisions of a memory, in the transaction of the update that asked for it.
pub(crate) fn erase_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revisions: &[i64],
    ids: EraseIds,
    stamp: Stamp<'_>,
) -> Result<Erased, StoreError> {
    let items = revision_items(tx, workspace, memory, revisions, Action::Erase, Reason::ERASE_PREVIOUS)?;
    let confirmed = confirm_named(tx, workspace, items, "update_memory", ids, 0, stamp)?;
    sweep_all(tx, &confirmed, &|_| String::new(), stamp)
}

/// Trashes earlier revisions of a memory that has more of them than are kept, in the transaction that pushed them out.
pub(crate) fn trash_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revisions: &[i64],
    history: &History,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let items = revision_items(tx, workspace, memory, revisions, Action::Trash, Reason::PAST_HISTORY)?;
    sweep_named(tx, workspace, items, TRIMMED, history.ids, history.grace_ms, stamp)
}

fn revision_items(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revisions: &[i64],
    action: Action,
    reason: Reason,
) -> Result<Vec<PlanItem>, StoreError> {
    let row = memories::by_id(tx, workspace, memory)?.ok_or(StoreError::MissingRow { statement: "memories.by_id" })?;
    let item = |revision: &i64| PlanItem {
        kind: ItemKind::REVISION,
        object: memory.0,
        revision: *revision,
        version: row.version,
        action,
        reason,
    };
    Ok(revisions.iter().map(item).collect())
}

/// Stores, confirms and carries out a plan of what the caller named.
pub(crate) fn sweep_named(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: Vec<PlanItem>,
    operation: &str,
    ids: EraseIds,
    grace_ms: i64,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let confirmed = confirm_named(tx, workspace, items, operation, ids, grace_ms, stamp)?;
    sweep_all(tx, &confirmed, &|_| String::new(), stamp).map(drop)
}

/// The same for segments, some of which may be stashed.
pub(crate) fn sweep_segments(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: Vec<PlanItem>,
    pruning: &Pruning<'_>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let (ids, grace_ms) = (pruning.ids, pruning.grace_ms);
    let confirmed = confirm_named(tx, workspace, items, "context_gc_prune", ids, grace_ms, stamp)?;
    sweep_all(tx, &confirmed, pruning.terms, stamp).map(drop)
}

fn sweep_all(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    terms: Terms<'_>,
    stamp: Stamp<'_>,
) -> Result<Erased, StoreError> {
    let mut erased = Erased::default();
    while !sweep_batch(tx, confirmed, terms, sweep_batch_memories(), &mut erased, stamp)? {}
    Ok(erased)
}
