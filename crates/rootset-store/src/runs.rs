//! Runs: one change that can be undone or purged as a whole; and the trash that runs leave.

use rootset_model::plan::ItemKind;
use rootset_model::{PlanId, RunId, SegmentKey, SessionKey, Timestamp, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::graph::Imported;
use crate::purge::{Purged, Receipt};
use crate::statements::runs as sql;
use crate::{Stamp, Store, Workspace, leases, plans};

/// What a run took, counted as it went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunCounts {
    pub memories: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub revisions: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub segments: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: i64,
    pub skipped: i64,
    /// While a large run goes on: entities and relations are counted in its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) awaits_count: bool,
    #[serde(skip_serializing_if = "Reclaimed::is_nothing")]
    pub reclaimed: Reclaimed,
    /// Rows that an erasing run has removed so far.
    #[serde(skip_serializing_if = "Purged::is_nothing")]
    pub erased: Purged,
}

/// Derived rows that nothing vouched for, removed physically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reclaimed {
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
}

impl Reclaimed {
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.entities += other.entities;
        self.relations += other.relations;
    }
}

/// For counts that most runs do not have.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &i64) -> bool {
    *count == 0
}

impl RunCounts {
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("numbers always serialise")
    }

    /// Whether there is nothing that an undo could bring back.
    pub(crate) fn took_nothing_undoable(&self) -> bool {
        let Self { memories, revisions, entities, relations, segments, sessions, .. } = self;
        let undoable = [memories, revisions, entities, relations, segments, sessions];
        !self.reclaimed.is_nothing() && undoable.iter().all(|count| **count == 0)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.memories += other.memories;
        self.chunks += other.chunks;
        self.entities += other.entities;
        self.relations += other.relations;
        self.revisions += other.revisions;
        self.segments += other.segments;
        self.sessions += other.sessions;
        self.skipped += other.skipped;
        self.awaits_count |= other.awaits_count;
        self.reclaimed.add(&other.reclaimed);
        self.erased.add(&other.erased);
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
        })
    }
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

    pub fn list_trash(
        &self,
        workspace: &Workspace,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<TrashedItem>, i64), StoreError> {
        self.read(workspace, |tx| {
            let total = tx.scalar(&sql::TRASH_COUNT, &[workspace.key.into()])?;
            let items = tx.rows(&sql::TRASH, &[workspace.key.into(), limit.into(), offset.into()], |row| {
                let kind: String = row.get(0)?;
                let shown = ItemKind::from_stored(&kind).ok_or(StoreError::UnreadableValue("the kind of an item"))?;
                let number: i64 = row.get(7)?;
                let object = match shown {
                    ItemKind::Segment => SegmentKey(number).object(),
                    ItemKind::Session => SessionKey(number).object(),
                    _ => row.get(1)?,
                };
                Ok(TrashedItem {
                    kind,
                    id: plans::shown_id(shown, object, number),
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
}

pub(crate) fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: &NewRun<'_>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let counts = RunCounts::default().json();
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
        ],
    )?;
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
    let json = counts.json();
    let parameters = [workspace.into(), (&run).into(), cursor.into(), (&json).into(), finished_at.into()];
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
    let run = NewRun { id: imported.run, operation: "import_graph", plan: None, undo_until };
    insert(tx, workspace, &run, stamp)?;
    let counts =
        RunCounts { entities: imported.entities as i64, relations: imported.relations as i64, ..RunCounts::default() };
    advance(tx, workspace, imported.run, 0, &counts, Some(stamp.now))
}
