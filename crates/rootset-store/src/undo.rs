//! Undo: the flip back. Item by item, and never over something that took a name or content meanwhile.

use rootset_model::{MemoryId, RunId, Timestamp, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::failpoints::{failpoint, sweep_batch_memories};
use crate::memories::{self, MemoryRow};
use crate::runs::{self, RunView};
use crate::statements::runs as sql;
use crate::{Stamp, Store, Workspace, audit, context, jobs};

/// What came back, and what could not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    pub memories: i64,
    pub revisions: i64,
    pub untracked: i64,
    pub segments: i64,
    pub sessions: i64,
    pub workspaces: i64,
    /// Graph rows that an import had brought and that its undo took out.
    pub removed: i64,
    pub conflicts: Vec<Conflict>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub id: String,
    /// `purged`, `name_taken`, `content_taken` or `path_taken`.
    pub reason: &'static str,
    /// The living memory in the way.
    pub by: Option<MemoryId>,
}

impl Store {
    /// Crashes are resumed by calling it again: what has come back is no longer in the run's trash.
    pub fn undo_run(&self, workspace: &Workspace, run: RunId, stamp: Stamp<'_>) -> Result<Undone, StoreError> {
        let view = self.read(workspace, |tx| runs::find(tx, workspace.key, run))?;
        if view.undone_at.is_some() {
            return Err(StoreError::RunNotUndoable { run, purged: false });
        }
        let mut undone = Undone::default();
        let mut after: Vec<u8> = Vec::new();
        loop {
            let (last, is_last, of_batch) =
                self.write(workspace, |tx| undo_batch(tx, workspace.key, &view, &after, stamp))?;
            failpoint!("undo.batch_committed");
            undone.add(of_batch);
            if is_last {
                return Ok(undone);
            }
            after = last.expect("a full batch has a last item").to_vec();
        }
    }

    /// Brings one trashed memory back, by id or by the name it had.
    pub fn undo_memory(&self, workspace: &Workspace, reference: &str, stamp: Stamp<'_>) -> Result<Undone, StoreError> {
        self.write(workspace, |tx| {
            let row = find_trashed(tx, workspace.key, reference)?;
            let mut undone = Undone::default();
            restore(tx, workspace.key, &[row.id.0], &mut undone, stamp.now)?;
            append_audit(tx, workspace.key, "gc_undo", row.trashed.map(|(run, _)| run), &undone, stamp)?;
            Ok(undone)
        })
    }
}

/// One batch of an undo: the last memory it looked at, whether that was all, and what came back.
fn undo_batch(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: &RunView,
    after: &[u8],
    stamp: Stamp<'_>,
) -> Result<(Option<[u8; 16]>, bool, Undone), StoreError> {
    // An apply that is still going on, or that a crash cut short, must not take again what comes back now.
    runs::end(tx, workspace, run.id, stamp.now)?;
    let size = sweep_batch_memories();
    let parameters = [workspace.into(), (&run.id).into(), after.into(), (size as i64).into()];
    let ids: Vec<[u8; 16]> = tx.rows(&sql::TRASHED_MEMORIES_OF, &parameters, |row| row.get(0))?;
    let mut undone = Undone::default();
    restore(tx, workspace, &ids, &mut undone, stamp.now)?;
    let is_last = ids.len() < size;
    if is_last {
        finish(tx, workspace, run, &mut undone, stamp)?;
        if run.purged_at.is_some() && undone == Undone::default() && after.is_empty() {
            return Err(StoreError::RunNotUndoable { run: run.id, purged: true });
        }
        undone.conflicts.extend(purged_items(tx, workspace, run)?);
    }
    if undone != Undone::default() || is_last {
        append_audit(tx, workspace, "gc_undo", Some(run.id), &undone, stamp)?;
    }
    failpoint!("undo.batch");
    Ok((ids.last().copied(), is_last, undone))
}

impl Undone {
    fn add(&mut self, other: Self) {
        self.memories += other.memories;
        self.revisions += other.revisions;
        self.untracked += other.untracked;
        self.segments += other.segments;
        self.sessions += other.sessions;
        self.workspaces += other.workspaces;
        self.removed += other.removed;
        self.conflicts.extend(other.conflicts);
    }
}

fn find_trashed(tx: &mut dyn Transaction, workspace: WorkspaceKey, reference: &str) -> Result<MemoryRow, StoreError> {
    let row = match reference.parse::<MemoryId>() {
        Ok(id) => memories::by_id(tx, workspace, id)?,
        Err(_) => {
            let parameters = [workspace.into(), reference.into()];
            tx.row(&crate::statements::memories::TRASHED_BY_NAME, &parameters, MemoryRow::read)?
        }
    };
    row.filter(|row| row.trashed.is_some()).ok_or_else(|| StoreError::NotInTrash(reference.to_owned()))
}

/// For an add that brings removed content back; its name is freed of conflicts by the caller's check of contents.
pub(crate) fn restore_one(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    operation: &str,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let row = memories::by_id(tx, workspace, memory)?;
    let mut undone = Undone::default();
    restore(tx, workspace, &[memory.0], &mut undone, stamp.now)?;
    if let (Some(conflict), Some(row)) = (undone.conflicts.first(), row) {
        let by = conflict.by.unwrap_or(memory);
        return Err(StoreError::NameTaken { name: row.name.unwrap_or_default(), by });
    }
    append_audit(tx, workspace, operation, None, &undone, stamp)
}

fn restore(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
    undone: &mut Undone,
    now: Timestamp,
) -> Result<(), StoreError> {
    let conflicts = tx.rows(&sql::UNDO_CONFLICTS, &[workspace.into(), ids.into()], |row| {
        let reason = match row.get::<String>(1)?.as_str() {
            "name" => "name_taken",
            "path" => "path_taken",
            _ => "content_taken",
        };
        Ok((row.get::<[u8; 16]>(0)?, reason, row.get::<MemoryId>(2)?))
    })?;
    let free: Vec<[u8; 16]> =
        ids.iter().filter(|id| !conflicts.iter().any(|(conflicting, ..)| conflicting == *id)).copied().collect();
    undone.memories += tx.execute(&sql::RESTORE_MEMORIES, &[workspace.into(), free.as_slice().into()])? as i64;
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

/// What is not memories: revisions, untracked rows, segments and sessions, an import, the workspace itself.
fn finish(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: &RunView,
    undone: &mut Undone,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&run.id).into()];
    if run.operation == "import_graph" {
        let parameters = [workspace.into(), (&run.id).into(), stamp.now.into()];
        undone.removed = tx.execute(&crate::statements::graph::TRASH_IMPORT, &parameters)? as i64;
    } else {
        undone.revisions = tx.execute(&sql::RESTORE_REVISIONS, &key)? as i64;
        undone.untracked = tx.execute(&crate::statements::graph::RESTORE_UNTRACKED, &key)? as i64;
        context::trash::restore(tx, workspace, run.id, undone, stamp)?;
        undone.workspaces = tx.execute(&crate::statements::workspaces::RESTORE, &key)? as i64;
    }
    tx.execute(&sql::SET_UNDONE, &[workspace.into(), (&run.id).into(), stamp.now.into()])?;
    Ok(())
}

/// Memories that the run trashed and that were purged since.
fn purged_items(tx: &mut dyn Transaction, workspace: WorkspaceKey, run: &RunView) -> Result<Vec<Conflict>, StoreError> {
    let (Some(plan), Some(_)) = (run.plan, run.purged_at) else { return Ok(Vec::new()) };
    tx.rows(&sql::PURGED_ITEMS, &[workspace.into(), (&plan).into(), (&run.id).into()], |row| {
        Ok(Conflict { id: row.get::<MemoryId>(0)?.to_string(), reason: "purged", by: None })
    })
}

fn append_audit(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    operation: &str,
    run: Option<RunId>,
    undone: &Undone,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let mut counts = serde_json::json!({
        "memories": undone.memories, "revisions": undone.revisions, "untracked": undone.untracked,
        "workspaces": undone.workspaces, "removed": undone.removed, "conflicts": undone.conflicts.len(),
    });
    for (kind, count) in [("segments", undone.segments), ("sessions", undone.sessions)] {
        if count > 0 {
            counts[kind] = count.into();
        }
    }
    let entry = audit::Entry { operation, counts: Some(counts.to_string()), run, ..audit::Entry::default() };
    audit::append(tx, workspace, stamp, &entry)?;
    Ok(())
}
