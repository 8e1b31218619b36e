//! Carrying out a confirmed plan, in batches of whole roots. The only code that puts anything into the trash.
//!
//! I1–I3 are asked again for every item inside the batch's own transaction, with the cursor and the audit row beside it:
//! a crash between two batches is resumed from the cursor, and two appliers of one plan cannot do an item twice.

use std::collections::{HashMap, HashSet};

use rootset_gc::{PlanFacts, RootState, Skip, recheck};
use rootset_model::limits::{SKIPPED_SHOWN, SWEEP_BATCH_MEMORIES};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{ErasureId, Limits, MemoryId, PlanId, RunId, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::graph::{self, KIND_ENTITY, KIND_RELATION};
use crate::memories;
use crate::plans::{self, NewPlan, StoredPlan};
use crate::purge::{self, Erased, Receipt};
use crate::runs::{self, NewRun, RunCounts, RunView};
use crate::statements::runs as sql;
use crate::update::EraseIds;
use crate::{Stamp, Store, Workspace, audit, jobs};

/// Permission to sweep: made only by [`confirm`] from a plan that is stored, in the transaction that starts its run.
pub(crate) struct ConfirmedPlan {
    workspace: WorkspaceKey,
    plan: PlanId,
    facts: PlanFacts,
    erases: bool,
    run: RunId,
    operation: String,
    erasure: ErasureId,
}

#[derive(Clone, Debug)]
pub struct ApplyOptions<'a> {
    /// Ids of items to keep, as the preview shows them.
    pub exclude: &'a [String],
    pub allow_large: bool,
    /// Needed by plans that erase.
    pub confirm: bool,
    pub limits: &'a Limits,
    pub grace_ms: i64,
    /// Ids for a run that starts now; a resumed one keeps its own.
    pub run: RunId,
    pub erasure: ErasureId,
}

#[derive(Clone, Debug)]
pub struct Applied {
    pub run: RunView,
    pub skipped: Skipped,
    pub receipt: Option<Receipt>,
}

#[derive(Clone, Debug, Default)]
pub struct Skipped {
    pub count: i64,
    pub first: Vec<(String, Skip)>,
}

impl Store {
    /// Applies a stored plan, or resumes, or answers the outcome of the first time.
    pub fn apply_plan(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        options: &ApplyOptions<'_>,
        stamp: Stamp<'_>,
    ) -> Result<Applied, StoreError> {
        let started = self.write(|tx| start(tx, workspace.key, plan, options, stamp))?;
        let Some(confirmed) = started else { return self.outcome(workspace, plan) };
        let mut erased = Erased::default();
        loop {
            let batch = self.write(|tx| {
                // A batch that has to be run again must not count twice.
                let mut of_batch = Erased::default();
                let is_finished = sweep_batch(tx, &confirmed, &mut of_batch, stamp)?;
                Ok((is_finished, of_batch))
            })?;
            erased.add(batch.1);
            if batch.0 {
                break;
            }
        }
        let mut applied = self.outcome(workspace, plan)?;
        if confirmed.erases {
            let receipt = self.receipt(confirmed.erasure, erased)?;
            let json = serde_json::to_string(&receipt).expect("numbers and flags always serialise");
            self.write(|tx| {
                let parameters = [workspace.key.into(), (&confirmed.run).into(), (&json).into()];
                tx.execute(&sql::SET_RECEIPT, &parameters).map(|_| ())
            })?;
            applied.receipt = Some(receipt);
        }
        Ok(applied)
    }

    /// Trashes one memory that the caller named: plan, confirmation and sweep in one transaction.
    pub fn delete_memory(
        &self,
        workspace: &Workspace,
        reference: &str,
        ids: EraseIds,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<(MemoryId, RunView), StoreError> {
        self.write(|tx| {
            let row = memories::living(tx, workspace.key, reference)?;
            if row.is_pinned {
                return Err(StoreError::Pinned { memory: row.id, reason: row.pin_reason });
            }
            let item = PlanItem {
                kind: ItemKind::Memory,
                object: row.id.0,
                revision: 0,
                version: row.version,
                action: Action::Trash,
                reason: Reason::Named,
            };
            let confirmed = confirm_named(tx, workspace.key, vec![item], "delete_memory", ids, grace_ms, stamp)?;
            sweep_to_the_end(tx, &confirmed, stamp)?;
            Ok((row.id, runs::find(tx, workspace.key, ids.run)?))
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
        self.write(|tx| {
            let mut object = [0; 16];
            object[8..].copy_from_slice(&workspace.key.0.to_be_bytes());
            let item = PlanItem {
                kind: ItemKind::Workspace,
                object,
                revision: 0,
                version: 0,
                action: Action::Trash,
                reason: Reason::Named,
            };
            let confirmed = confirm_named(tx, workspace.key, vec![item], "delete_workspace", ids, grace_ms, stamp)?;
            sweep_to_the_end(tx, &confirmed, stamp)?;
            runs::find(tx, workspace.key, ids.run)
        })
    }

    fn outcome(&self, workspace: &Workspace, plan: PlanId) -> Result<Applied, StoreError> {
        self.read(|tx| {
            let stored = plans::find(tx, workspace.key, plan)?;
            let run = stored.run.ok_or(StoreError::MissingRow { statement: "plans.run" })?;
            let key = [workspace.key.into(), (&run).into()];
            let count = tx.scalar(&sql::SKIP_COUNT, &key)?;
            let parameters = [workspace.key.into(), (&run).into(), (SKIPPED_SHOWN as i64).into(), (&plan).into()];
            let first = tx.rows(&sql::SKIPS, &parameters, |row| {
                let unreadable = || StoreError::UnreadableValue("a skip");
                let kind = ItemKind::from_stored(&row.get::<String>(0)?).ok_or_else(unreadable)?;
                let reason = Skip::from_stored(&row.get::<String>(2)?).ok_or_else(unreadable)?;
                Ok((plans::shown_id(kind, row.get(1)?, row.get(3)?), reason))
            })?;
            let run = runs::find(tx, workspace.key, run)?;
            Ok(Applied { receipt: run.receipt.clone(), run, skipped: Skipped { count, first } })
        })
    }
}

/// `None` when the plan was applied to its end before.
fn start(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    options: &ApplyOptions<'_>,
    stamp: Stamp<'_>,
) -> Result<Option<ConfirmedPlan>, StoreError> {
    let stored = plans::find(tx, workspace, plan)?;
    if let Some(run) = stored.run {
        let run = runs::find(tx, workspace, run)?;
        if run.finished_at.is_some() {
            return Ok(None);
        }
        return Ok(Some(ConfirmedPlan {
            workspace,
            plan,
            facts: stored.facts(),
            erases: stored.erases,
            run: run.id,
            operation: run.operation,
            erasure: run.erasure.unwrap_or(options.erasure),
        }));
    }
    if stamp.now > stored.expires_at {
        return Err(StoreError::PlanExpired { plan, at: stored.expires_at });
    }
    if stored.erases && !options.confirm {
        return Err(StoreError::ConfirmationRequired { plan });
    }
    let blocked = plans::blocked(tx, workspace, &stored, options.limits)?;
    if !blocked.is_empty() && !options.allow_large {
        return Err(StoreError::OverLimit { blocked });
    }
    let ids = EraseIds { plan, run: options.run, erasure: options.erasure };
    let operation = operation_of(&stored);
    let confirmed = confirm(tx, workspace, &stored, &operation, ids, options.grace_ms, stamp)?;
    exclude(tx, &confirmed, options.exclude)?;
    Ok(Some(confirmed))
}

/// The operation that made the plan names its run: the cause that later decides what may come back by itself.
fn operation_of(plan: &StoredPlan) -> String {
    let policy: serde_json::Value = serde_json::from_str(&plan.policy).unwrap_or_default();
    policy.get("operation").and_then(serde_json::Value::as_str).unwrap_or("gc_apply").to_owned()
}

fn confirm(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: &StoredPlan,
    operation: &str,
    ids: EraseIds,
    grace_ms: i64,
    stamp: Stamp<'_>,
) -> Result<ConfirmedPlan, StoreError> {
    let undo_until = (!plan.erases).then(|| stamp.now.saturating_add_ms(grace_ms));
    runs::insert(tx, workspace, &NewRun { id: ids.run, operation, plan: Some(plan.id), undo_until }, stamp)?;
    if plan.erases {
        tx.execute(&sql::SET_ERASURE, &[workspace.into(), (&ids.run).into(), (&ids.erasure).into()])?;
    }
    let parameters = [workspace.into(), (&plan.id).into(), (&ids.run).into()];
    let confirmed = tx.execute(&crate::statements::plans::SET_RUN, &parameters)?;
    assert_eq!(confirmed, 1, "a plan is confirmed once, inside the write lock");
    Ok(ConfirmedPlan {
        workspace,
        plan: plan.id,
        facts: plan.facts(),
        erases: plan.erases,
        run: ids.run,
        operation: operation.to_owned(),
        erasure: ids.erasure,
    })
}

/// An id that the caller names is its own preview: the plan is stored and confirmed in one go.
fn confirm_named(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: Vec<PlanItem>,
    operation: &str,
    ids: EraseIds,
    grace_ms: i64,
    stamp: Stamp<'_>,
) -> Result<ConfirmedPlan, StoreError> {
    let erases = items.iter().any(|item| item.action == Action::Erase);
    let policy = format!(r#"{{"operation":"{operation}"}}"#);
    // Whoever erases earlier revisions of a pinned memory keeps the memory: its pin does not stand in the way.
    let plan = NewPlan { id: ids.plan, policy, items, erases, include_pinned: erases, is_named: true };
    plans::insert(tx, workspace, &plan, stamp)?;
    let stored = plans::find(tx, workspace, ids.plan)?;
    confirm(tx, workspace, &stored, operation, ids, grace_ms, stamp)
}

pub(crate) fn erase_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revisions: &[i64],
    ids: EraseIds,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let row = memories::by_id(tx, workspace, memory)?.ok_or(StoreError::MissingRow { statement: "memories.by_id" })?;
    let items = revisions
        .iter()
        .map(|revision| PlanItem {
            kind: ItemKind::Revision,
            object: memory.0,
            revision: *revision,
            version: row.version,
            action: Action::Erase,
            reason: Reason::ErasePrevious,
        })
        .collect();
    let confirmed = confirm_named(tx, workspace, items, "update_memory", ids, 0, stamp)?;
    sweep_to_the_end(tx, &confirmed, stamp)
}

fn exclude(tx: &mut dyn Transaction, confirmed: &ConfirmedPlan, excluded: &[String]) -> Result<(), StoreError> {
    if excluded.is_empty() {
        return Ok(());
    }
    let mut unknown: HashSet<&str> = excluded.iter().map(String::as_str).collect();
    for (position, item) in plans::items(tx, confirmed.workspace, confirmed.plan, 0, i64::MAX)? {
        let id = MemoryId(item.object).to_string();
        let shown = plans::shown_id(item.kind, item.object, item.revision);
        if excluded.iter().any(|it| *it == id || *it == shown) {
            skip(tx, confirmed, position, &item, Skip::Excluded)?;
            unknown.remove(id.as_str());
            unknown.remove(shown.as_str());
        }
    }
    // Whoever misspells what they want to keep must not lose it.
    match unknown.into_iter().min() {
        Some(reference) => Err(StoreError::NotInPlan { reference: reference.to_owned() }),
        None => Ok(()),
    }
}

fn skip(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    position: i64,
    item: &PlanItem,
    reason: Skip,
) -> Result<(), StoreError> {
    let parameters = [
        confirmed.workspace.into(),
        (&confirmed.run).into(),
        position.into(),
        item.kind.as_str().into(),
        (&item.object).into(),
        reason.as_str().into(),
    ];
    tx.execute(&sql::INSERT_SKIP, &parameters)?;
    Ok(())
}

fn sweep_to_the_end(tx: &mut dyn Transaction, confirmed: &ConfirmedPlan, stamp: Stamp<'_>) -> Result<(), StoreError> {
    while !sweep_batch(tx, confirmed, &mut Erased::default(), stamp)? {}
    Ok(())
}

/// One batch from the stored cursor; `true` when the run is finished.
fn sweep_batch(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    erased: &mut Erased,
    stamp: Stamp<'_>,
) -> Result<bool, StoreError> {
    let workspace = confirmed.workspace;
    let run = runs::find(tx, workspace, confirmed.run)?;
    if run.finished_at.is_some() {
        return Ok(true);
    }
    let batch = plans::items(tx, workspace, confirmed.plan, run.cursor, SWEEP_BATCH_MEMORIES as i64)?;
    let is_last = batch.len() < SWEEP_BATCH_MEMORIES;
    let passed = recheck_batch(tx, confirmed, &batch)?;
    let mut counts = trash(tx, confirmed, &passed, stamp)?;
    counts.skipped = (batch.len() - passed.len()) as i64;
    if confirmed.erases {
        erased.add(purge::erase_items(tx, confirmed, &passed, stamp)?);
    }
    let cursor = run.cursor + batch.len() as i64;
    let mut total = run.counts;
    total.add(&counts);
    runs::advance(tx, workspace, confirmed.run, cursor, &total, is_last.then_some(stamp.now))?;
    if is_last && confirmed.erases {
        tx.execute(&sql::SET_PURGED, &[workspace.into(), (&confirmed.run).into(), stamp.now.into()])?;
    }
    let entry = audit::Entry {
        operation: &confirmed.operation,
        counts: Some(counts.json()),
        plan: Some(confirmed.plan),
        run: Some(confirmed.run),
    };
    audit::append(tx, workspace, stamp, &entry)?;
    Ok(is_last)
}

/// The items that still qualify; the others are noted with their reasons.
fn recheck_batch(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    batch: &[(i64, PlanItem)],
) -> Result<Vec<PlanItem>, StoreError> {
    let states = states_of(tx, confirmed.workspace, batch)?;
    let from = batch.first().map_or(0, |(position, _)| *position);
    let key = [confirmed.workspace.into(), (&confirmed.run).into(), from.into()];
    let excluded: HashSet<i64> = tx.rows(&sql::SKIPPED_POSITIONS, &key, |row| row.get(0))?.into_iter().collect();
    let mut passed = Vec::with_capacity(batch.len());
    for (position, item) in batch {
        if excluded.contains(position) {
            continue;
        }
        match recheck(&confirmed.facts, item, states.get(&(item.object, item.revision))) {
            None => passed.push(*item),
            Some(reason) => skip(tx, confirmed, *position, item, reason)?,
        }
    }
    Ok(passed)
}

/// The state of each root, keyed by id and revision; one query per kind of root.
fn states_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    batch: &[(i64, PlanItem)],
) -> Result<HashMap<([u8; 16], i64), RootState>, StoreError> {
    let ids = |kinds: &[ItemKind]| -> Vec<[u8; 16]> {
        batch.iter().filter(|(_, item)| kinds.contains(&item.kind)).map(|(_, item)| item.object).collect()
    };
    let mut states = HashMap::new();
    let memories = ids(&[ItemKind::Memory]);
    if !memories.is_empty() {
        tx.query(&sql::MEMORY_STATES, &[workspace.into(), memories.as_slice().into()], &mut |row| {
            let state = RootState {
                version: row.get(1)?,
                is_trashed: row.get(2)?,
                is_pinned: row.get(3)?,
                last_used_at: row.get(4)?,
            };
            states.insert((row.get(0)?, 0), state);
            Ok(())
        })?;
    }
    let revised = ids(&[ItemKind::Revision]);
    if !revised.is_empty() {
        tx.query(&sql::REVISION_STATES, &[workspace.into(), revised.as_slice().into()], &mut |row| {
            let state =
                RootState { version: row.get(2)?, is_trashed: row.get(3)?, is_pinned: row.get(4)?, last_used_at: None };
            states.insert((row.get(0)?, row.get(1)?), state);
            Ok(())
        })?;
    }
    let untracked = ids(&[ItemKind::Entity, ItemKind::Relation]);
    if !untracked.is_empty() {
        tx.query(&sql::UNTRACKED_STATES, &[workspace.into(), untracked.as_slice().into()], &mut |row| {
            let state = RootState { version: 0, is_trashed: row.get(1)?, is_pinned: false, last_used_at: None };
            states.insert((row.get(0)?, 0), state);
            Ok(())
        })?;
    }
    for (_, item) in batch.iter().filter(|(_, item)| item.kind == ItemKind::Workspace) {
        let state = RootState { version: 0, is_trashed: false, is_pinned: false, last_used_at: None };
        states.insert((item.object, 0), state);
    }
    Ok(states)
}

/// The flip, and the count of what followed from it.
fn trash(
    tx: &mut dyn Transaction,
    confirmed: &ConfirmedPlan,
    items: &[PlanItem],
    stamp: Stamp<'_>,
) -> Result<RunCounts, StoreError> {
    let (workspace, run, now) = (confirmed.workspace, &confirmed.run, stamp.now);
    let ids = |kinds: &[ItemKind]| -> Vec<[u8; 16]> {
        items.iter().filter(|item| kinds.contains(&item.kind)).map(|item| item.object).collect()
    };
    let mut counts = RunCounts::default();
    let memories = ids(&[ItemKind::Memory]);
    let untracked = ids(&[ItemKind::Entity, ItemKind::Relation]);
    let untracked_visible = graph::visible_among(tx, workspace, &untracked)?;
    if !memories.is_empty() {
        let parameters = [workspace.into(), memories.as_slice().into(), run.into(), now.into()];
        let flipped = tx.execute(&sql::TRASH_MEMORIES, &parameters)?;
        // An erasure takes what is in the trash already, too.
        assert!(flipped == memories.len() || confirmed.erases, "every memory was checked in this very transaction");
        jobs::park_completions(tx, workspace, &memories)?;
        counts.memories = memories.len() as i64;
        counts.chunks = tx.scalar(&sql::CHUNK_COUNT, &[workspace.into(), memories.as_slice().into()])?;
    }
    if !untracked.is_empty() {
        let parameters = [workspace.into(), untracked.as_slice().into(), run.into(), now.into()];
        let statement = match confirmed.erases {
            true => &crate::statements::graph::CLAIM_UNTRACKED,
            false => &crate::statements::graph::TRASH_UNTRACKED,
        };
        tx.execute(statement, &parameters)?;
    }
    let revisions: Vec<_> = items
        .iter()
        .filter(|item| item.kind == ItemKind::Revision)
        .map(|item| vec![workspace.into(), (&item.object).into(), item.revision.into(), run.into(), now.into()])
        .collect();
    if !revisions.is_empty() {
        tx.execute_many(&sql::TRASH_REVISION, &revisions)?;
        counts.revisions = revisions.len() as i64;
    }
    if items.iter().any(|item| item.kind == ItemKind::Workspace) {
        let parameters = [workspace.into(), run.into(), now.into()];
        tx.execute(&crate::statements::workspaces::TRASH, &parameters)?;
    }
    count_lost(tx, workspace, &memories, &untracked, &untracked_visible, &mut counts)?;
    Ok(counts)
}

/// Entities and relations that nobody living vouches for any more.
fn count_lost(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[[u8; 16]],
    untracked: &[[u8; 16]],
    untracked_visible: &HashSet<[u8; 16]>,
    counts: &mut RunCounts,
) -> Result<(), StoreError> {
    let mut touched = graph::contributed_by(tx, workspace, memories)?;
    if !untracked.is_empty() {
        tx.query(&sql::UNTRACKED_KINDS, &[workspace.into(), untracked.into()], &mut |row| {
            let object: [u8; 16] = row.get(0)?;
            if untracked_visible.contains(&object) {
                touched.insert(object, row.get(1)?);
            }
            Ok(())
        })?;
    }
    let objects: Vec<[u8; 16]> = touched.keys().copied().collect();
    let visible = graph::visible_among(tx, workspace, &objects)?;
    let lost = |kind| touched.iter().filter(|(object, of)| **of == kind && !visible.contains(*object)).count() as i64;
    counts.entities = lost(KIND_ENTITY);
    counts.relations = lost(KIND_RELATION);
    Ok(())
}

impl ConfirmedPlan {
    pub(crate) fn workspace(&self) -> WorkspaceKey {
        self.workspace
    }

    pub(crate) fn run(&self) -> RunId {
        self.run
    }

    pub(crate) fn erasure(&self) -> ErasureId {
        self.erasure
    }

    pub(crate) fn operation(&self) -> &str {
        &self.operation
    }
}
