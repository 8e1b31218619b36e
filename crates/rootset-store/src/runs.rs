//! Runs: one change that can be undone or purged as a whole; and the trash that runs leave.

use std::collections::{BTreeMap, HashMap};

use rootset_model::{Channel, Counts, DrainId, PlanId, RunId, Timestamp, Trust, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::graph::Imported;
use crate::purge::{NAMED_BY_PURGES, Receipt};
use crate::statements::runs as sql;
use crate::time::ObservedStamp;
use crate::{Stamp, Store, Workspace, audit, kinds, leases};

/// What a run took, counted as it went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunCounts {
    /// Roots, and the derived rows that followed them.
    #[serde(flatten)]
    pub taken: Counts,
    pub skipped: i64,
    /// While a large run goes on: entities and relations are counted in its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) awaits_count: bool,
    /// Derived rows that nothing vouched for, removed physically.
    #[serde(skip_serializing_if = "Counts::is_nothing")]
    pub reclaimed: Counts,
    /// Rows that an erasing run has removed so far.
    #[serde(skip_serializing_if = "Counts::is_nothing")]
    pub erased: Counts,
}

/// Kinds that the counts of every run name.
const NAMED_BY_RUNS: [&str; 5] = ["memories", "chunks", "entities", "relations", "revisions"];
/// Kinds that are named wherever rows were reclaimed.
pub(crate) const NAMED_AS_RECLAIMED: [&str; 3] = ["chunks", "entities", "relations"];

impl Default for RunCounts {
    fn default() -> Self {
        Self {
            taken: Counts::zero(&NAMED_BY_RUNS),
            skipped: 0,
            awaits_count: false,
            reclaimed: Counts::zero(&NAMED_AS_RECLAIMED),
            erased: Counts::zero(&NAMED_BY_PURGES),
        }
    }
}

impl RunCounts {
    /// Whether there is nothing that an undo could bring back.
    pub(crate) fn took_nothing_undoable(&self) -> bool {
        self.taken.is_nothing() && !self.reclaimed.is_nothing()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.taken.add_all(&other.taken);
        self.skipped += other.skipped;
        self.awaits_count |= other.awaits_count;
        self.reclaimed.add_all(&other.reclaimed);
        self.erased.add_all(&other.erased);
    }
}

#[derive(Clone, Debug)]
pub struct RunView {
    pub id: RunId,
    pub operation: String,
    pub plan: Option<PlanId>,
    pub actor: String,
    pub started_at: Timestamp,
    pub finished_at: Option<Timestamp>,
    pub(crate) cursor: i64,
    pub counts: RunCounts,
    pub undo_until: Option<Timestamp>,
    pub undone_at: Option<Timestamp>,
    pub purged_at: Option<Timestamp>,
    pub(crate) erasure: Option<rootset_model::ErasureId>,
    pub(crate) receipt: Option<Receipt>,
    pub drain: Option<DrainId>,
    /// `None` for runs of Rootset itself.
    pub channel: Option<Channel>,
    pub trust: Option<Trust>,
}

impl RunView {
    pub(crate) fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let counts: String = row.get(7)?;
        Ok(Self {
            id: row.get(0)?,
            operation: row.get(1)?,
            plan: row.get(2)?,
            actor: row.get(3)?,
            started_at: row.get(4)?,
            finished_at: row.get(5)?,
            cursor: row.get(6)?,
            counts: serde_json::from_str(&counts).map_err(|_| StoreError::UnreadableValue("the counts of a run"))?,
            undo_until: row.get(8)?,
            undone_at: row.get(9)?,
            purged_at: row.get(10)?,
            erasure: row.get(11)?,
            receipt: row
                .get::<Option<String>>(12)?
                .map(|json| serde_json::from_str(&json).map_err(|_| StoreError::UnreadableValue("a receipt")))
                .transpose()?,
            drain: row.get(13)?,
            channel: row.get(14)?,
            trust: row.get(15)?,
        })
    }
}

/// A note in the trash.
#[derive(Clone, Debug)]
pub struct TrashedText {
    pub run: RunId,
    pub name: String,
    pub topic: String,
    pub context: String,
}

#[derive(Clone, Debug)]
pub struct TrashedItem {
    pub kind: String,
    pub id: String,
    pub name: Option<String>,
    pub topic: Option<String>,
    pub trashed_at: Timestamp,
    pub run: RunId,
    pub undo_until: Option<Timestamp>,
}

impl Store {
    /// The newest runs that can still be undone.
    pub fn undoable_runs(&self, workspace: &Workspace, limit: i64) -> Result<Vec<RunView>, StoreError> {
        self.read(workspace, |tx| tx.rows(&sql::RECENT_UNDOABLE, &[workspace.key.into(), limit.into()], RunView::read))
    }

    /// The first names that each of these runs took, as far as they are still in the trash.
    pub fn names_taken(
        &self,
        workspace: &Workspace,
        runs: &[RunView],
        positions: i64,
    ) -> Result<HashMap<RunId, Vec<String>>, StoreError> {
        let by_plan: HashMap<PlanId, RunId> = runs.iter().filter_map(|run| Some((run.plan?, run.id))).collect();
        let plans: Vec<[u8; 16]> = by_plan.keys().map(|plan| plan.0).collect();
        if plans.is_empty() {
            return Ok(HashMap::new());
        }
        let mut names: HashMap<RunId, Vec<String>> = HashMap::new();
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), plans.as_slice().into(), positions.into()];
            tx.query(&sql::NAMES_TAKEN, &parameters, &mut |row| {
                let (plan, name): (PlanId, Option<String>) = (row.get(0)?, row.get(1)?);
                if let (Some(run), Some(name)) = (by_plan.get(&plan), name) {
                    names.entry(*run).or_default().push(name);
                }
                Ok(())
            })
        })?;
        Ok(names)
    }

    /// The notes that went to the trash last.
    pub fn trashed_texts(&self, workspace: &Workspace, limit: i64) -> Result<Vec<TrashedText>, StoreError> {
        self.read(workspace, |tx| {
            tx.rows(&sql::TRASHED_TEXTS, &[workspace.key.into(), limit.into()], |row| {
                Ok(TrashedText { run: row.get(0)?, name: row.get(1)?, topic: row.get(2)?, context: row.get(3)? })
            })
        })
    }

    /// The newest runs that stashed something and were not undone.
    pub fn stashing_runs(&self, workspace: &Workspace, limit: i64) -> Result<Vec<RunView>, StoreError> {
        self.read(workspace, |tx| tx.rows(&sql::RECENT_STASHES, &[workspace.key.into(), limit.into()], RunView::read))
    }

    /// How many items a run left alone, by the reason.
    pub fn skips_by_reason(&self, workspace: &Workspace, run: RunId) -> Result<BTreeMap<String, i64>, StoreError> {
        self.read(workspace, |tx| {
            let counted = tx.rows(&sql::SKIPS_BY_REASON, &[workspace.key.into(), (&run).into()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            Ok(counted.into_iter().collect())
        })
    }

    pub fn list_trash(
        &self,
        workspace: &Workspace,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<TrashedItem>, i64), StoreError> {
        self.read(workspace, |tx| {
            let total = tx.scalar(&sql::TRASH_COUNT, &[workspace.key.into()])?;
            let items = tx.rows(&sql::TRASH, &[workspace.key.into(), limit.into(), offset.into()], |row| {
                let word: String = row.get(0)?;
                let (kind, name) = kinds::named(&word).ok_or(StoreError::UnreadableValue("the kind of an item"))?;
                Ok(TrashedItem {
                    kind: word,
                    id: kind.trashed_id(name, row)?,
                    name: row.get(2)?,
                    topic: row.get(3)?,
                    trashed_at: row.get(4)?,
                    run: row.get(5)?,
                    undo_until: row.get(6)?,
                })
            })?;
            Ok((items, total))
        })
    }
}

pub(crate) fn find(tx: &mut dyn Transaction, workspace: WorkspaceKey, id: RunId) -> Result<RunView, StoreError> {
    tx.row(&sql::BY_ID, &[workspace.into(), (&id).into()], RunView::read)?
        .ok_or_else(|| StoreError::RunNotFound(id.to_string()))
}

pub(crate) struct NewRun<'a> {
    pub id: RunId,
    pub operation: &'a str,
    pub plan: Option<PlanId>,
    /// `None` for runs that nothing can undo.
    pub undo_until: Option<Timestamp>,
    /// The drain that it is a round of.
    pub drain: Option<DrainId>,
}

pub(crate) fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: &NewRun<'_>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let counts = audit::json(&RunCounts::default());
    let observed = ObservedStamp::now(tx)?;
    tx.execute(
        &sql::INSERT,
        &[
            workspace.into(),
            (&run.id).into(),
            run.operation.into(),
            run.plan.as_ref().into(),
            stamp.actor.into(),
            stamp.now.into(),
            (&counts).into(),
            run.undo_until.into(),
            observed.observed_ms.into(),
            observed.doubt(),
            run.drain.as_ref().into(),
            stamp.origin.map(|origin| origin.channel).into(),
            stamp.origin.map(|origin| origin.trust).into(),
        ],
    )?;
    if let Some(drain) = &run.drain {
        // A drain is taken back as a whole, so its first round waits for the grace of its last.
        tx.execute(&sql::EXTEND_UNDO, &[workspace.into(), drain.into(), run.undo_until.into()])?;
    }
    Ok(())
}

/// Moves the cursor; `finished_at` ends the run.
pub(crate) fn advance(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    cursor: i64,
    counts: &RunCounts,
    finished_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let json = audit::json(counts);
    let observed_ms = tx.observed_time()?.observed_ms;
    let parameters =
        [workspace.into(), (&run).into(), cursor.into(), (&json).into(), finished_at.into(), observed_ms.into()];
    tx.execute(&sql::ADVANCE, &parameters)?;
    Ok(())
}

/// Ends a run that may still be going on: whoever carries it out finds its lease gone and takes nothing more.
pub(crate) fn end(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: RunId,
    now: Timestamp,
) -> Result<(), StoreError> {
    tx.execute(&sql::END, &[workspace.into(), (&run).into(), now.into()])?;
    leases::remove(tx, crate::sweep::work_of(workspace, run))
}

/// An import is a run too: its undo takes the untracked rows out again.
pub(crate) fn record_import(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    imported: &Imported,
    grace_ms: i64,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let undo_until = Some(stamp.now.saturating_add_ms(grace_ms));
    let run = NewRun { id: imported.run, operation: "import_graph", plan: None, undo_until, drain: None };
    insert(tx, workspace, &run, stamp)?;
    let mut counts = RunCounts::default();
    counts.taken.add("entities", imported.entities as i64);
    counts.taken.add("relations", imported.relations as i64);
    advance(tx, workspace, imported.run, 0, &counts, Some(stamp.now))
}
