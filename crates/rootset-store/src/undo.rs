//! Undo: the flip back. Item by item, and never over something that took a name or content meanwhile.

use rootset_model::{Counts, MemoryId, RunId, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::failpoints::{failpoint, sweep_batch_memories};
use crate::kinds::{KINDS, Undoing, restore_memories};
use crate::memories::{self, Among, MemoryRow};
use crate::runs::{self, RunView};
use crate::statements::runs as sql;
use crate::sweep::Remains;
use crate::{Stamp, Store, Workspace, audit, workspaces};

/// What came back, and what could not.
#[derive(Clone, Debug)]
pub struct Undone {
    /// By kind; `removed` are graph rows that an import had brought and that its undo took out.
    pub restored: Counts,
    pub conflicts: Vec<Conflict>,
    /// Whether some of it is still in the trash, because something went wrong on the way.
    pub is_unfinished: bool,
    /// What went wrong after something came back.
    pub warnings: Vec<String>,
}

/// What the audit names of every undo; conflicts are counted in the end.
const NAMED_BY_UNDO: [&str; 6] = ["memories", "revisions", "untracked", "workspaces", "removed", CONFLICTS];
const CONFLICTS: &str = "conflicts";

impl Default for Undone {
    fn default() -> Self {
        Self {
            restored: Counts::zero(&NAMED_BY_UNDO),
            conflicts: Vec::new(),
            is_unfinished: false,
            warnings: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub id: String,
    /// `purged`, `changed`, `name_taken`, `content_taken` or `path_taken`.
    pub reason: &'static str,
    /// The living memory in the way.
    pub by: Option<MemoryId>,
}

impl Store {
    /// Crashes are resumed by calling it again: what has come back is no longer in the run's trash.
    pub fn undo_run(&self, workspace: &Workspace, run: RunId, stamp: Stamp<'_>) -> Result<Undone, StoreError> {
        self.undo_run_with(workspace, run, &Remains::default(), stamp)
    }

    /// The same with the whole texts of what the run cut, ready to become current: without them, those are conflicts.
    pub fn undo_run_with(
        &self,
        workspace: &Workspace,
        run: RunId,
        wholes: &Remains,
        stamp: Stamp<'_>,
    ) -> Result<Undone, StoreError> {
        let view = self.read(workspace, |tx| runs::find(tx, workspace.key, run))?;
        if view.undone_at.is_some() {
            return Err(StoreError::RunNotUndoable { run, purged: false });
        }
        let mut undone = Undone::default();
        if let Err(error) = self.undo_batches(workspace, &view, wholes, &mut undone, stamp) {
            if undone.is_nothing() {
                return Err(error);
            }
            undone.is_unfinished = true;
            undone.warnings.push(format!("stopped before the end, undo the run again to continue: {error}"));
        } else if let Err(error) = self.carry_out(workspace.key, run, stamp) {
            undone.warnings.push(format!("what lies outside the database was not restored: {error}"));
        }
        Ok(undone)
    }

    fn undo_batches(
        &self,
        workspace: &Workspace,
        run: &RunView,
        wholes: &Remains,
        undone: &mut Undone,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let mut from = Position { kind: 0, after: Vec::new() };
        loop {
            let (next, of_batch) =
                self.write(workspace, |tx| undo_batch(tx, workspace.key, run, wholes, &from, stamp))?;
            undone.add(of_batch);
            failpoint!("undo.batch_committed");
            match next {
                Some(position) => from = position,
                None => return Ok(()),
            }
        }
    }

    /// Brings one trashed memory back, by id or by the name it had.
    pub fn undo_memory(&self, workspace: &Workspace, reference: &str, stamp: Stamp<'_>) -> Result<Undone, StoreError> {
        self.write(workspace, |tx| {
            let row = find_trashed(tx, workspace.key, reference)?;
            let mut undone = Undone::default();
            restore_memories(tx, workspace.key, &[row.id.0], &mut undone, stamp.now)?;
            workspaces::look_again(tx, workspace.key)?;
            append_audit(tx, workspace.key, "gc_undo", row.trashed.map(|(run, _)| run), &undone, stamp)?;
            Ok(undone)
        })
    }
}

/// How far an undo has come.
struct Position {
    /// In the list of kinds.
    kind: usize,
    /// Of that kind: the last row that was looked at.
    after: Vec<u8>,
}

/// One batch of an undo: where to go on, and what came back.
fn undo_batch(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    run: &RunView,
    wholes: &Remains,
    from: &Position,
    stamp: Stamp<'_>,
) -> Result<(Option<Position>, Undone), StoreError> {
    // An apply that is still going on, or that a crash cut short, must not take again what comes back now.
    runs::end(tx, workspace, run.id, stamp.now)?;
    let undoing = Undoing { workspace, run, size: sweep_batch_memories(), wholes, stamp };
    let mut undone = Undone::default();
    let next = restore_kinds(tx, &undoing, from, &mut undone)?;
    if next.is_none() {
        tx.execute(&sql::SET_UNDONE, &[workspace.into(), (&run.id).into(), stamp.now.into()])?;
        let is_first = from.kind == 0 && from.after.is_empty();
        if run.purged_at.is_some() && undone.is_nothing() && is_first {
            return Err(StoreError::RunNotUndoable { run: run.id, purged: true });
        }
        for kind in KINDS {
            undone.conflicts.extend(kind.purged_items(tx, &undoing)?);
        }
    }
    if !undone.is_nothing() || next.is_none() {
        workspaces::look_again(tx, workspace)?;
        append_audit(tx, workspace, "gc_undo", Some(run.id), &undone, stamp)?;
    }
    failpoint!("undo.batch");
    Ok((next, undone))
}

/// Kind by kind, until one of them fills the batch.
fn restore_kinds(
    tx: &mut dyn Transaction,
    undoing: &Undoing<'_>,
    from: &Position,
    undone: &mut Undone,
) -> Result<Option<Position>, StoreError> {
    let mut after: &[u8] = &from.after;
    for (number, kind) in KINDS.iter().enumerate().skip(from.kind) {
        if let Some(after) = kind.restore(tx, undoing, after, undone)? {
            return Ok(Some(Position { kind: number, after }));
        }
        after = &[];
    }
    Ok(None)
}

impl Undone {
    pub(crate) fn is_nothing(&self) -> bool {
        self.restored.is_nothing() && self.conflicts.is_empty()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.restored.add_all(&other.restored);
        self.conflicts.extend(other.conflicts);
        self.is_unfinished |= other.is_unfinished;
        self.warnings.extend(other.warnings);
    }
}

fn find_trashed(tx: &mut dyn Transaction, workspace: WorkspaceKey, reference: &str) -> Result<MemoryRow, StoreError> {
    let row = match reference.parse::<MemoryId>() {
        Ok(id) => memories::by_id(tx, workspace, id)?,
        Err(_) => {
            let parameters = [workspace.into(), reference.into()];
            match tx.row(&crate::statements::memories::TRASHED_BY_NAME, &parameters, MemoryRow::read)? {
                Some(row) => Some(row),
                None => match memories::id_beginning(tx, workspace, reference, Among::Trashed)? {
                    Some(id) => memories::by_id(tx, workspace, id)?,
                    None => None,
                },
            }
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
    restore_memories(tx, workspace, &[memory.0], &mut undone, stamp.now)?;
    if let (Some(conflict), Some(row)) = (undone.conflicts.first(), row) {
        let by = conflict.by.unwrap_or(memory);
        return Err(StoreError::NameTaken { name: row.name.unwrap_or_default(), by });
    }
    append_audit(tx, workspace, operation, None, &undone, stamp)
}

fn append_audit(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    operation: &str,
    run: Option<RunId>,
    undone: &Undone,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let mut counts = undone.restored.clone();
    counts.add(CONFLICTS, undone.conflicts.len() as i64);
    let entry = audit::Entry { operation, counts: Some(audit::json(&counts)), run, ..audit::Entry::default() };
    audit::append(tx, workspace, stamp, &entry)?;
    Ok(())
}
