//! Workspaces on their way: which number a restored one gets, its row, and room for its rows.

use std::ops::Range;

use super::super::bundle::ArchivedWorkspace;
use super::super::rows::Cell;
use super::super::tables::{self, Rows};
use crate::Stamp;
use crate::driver::{Tenant, Transaction, Value};
use crate::error::StoreError;
use crate::statements::backup as sql;
use crate::statements::{purge as purge_sql, workspaces as workspace_sql};
use crate::workspaces;
use rootset_model::WorkspaceKey;

/// Where the row of a workspace says whose personal one it is.
pub(super) const PERSON_CELL: usize = 10;

/// A workspace on its way.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub archived: &'a ArchivedWorkspace,
    /// The row of the workspace as it will stand.
    pub cells: Vec<Cell>,
    pub key: WorkspaceKey,
    pub origin: Origin,
    /// Numbers under which this database may have noted erasures of it.
    pub ledgers: Vec<WorkspaceKey>,
    /// What the counters were when its number was last in use: of numbers, chunks, sessions and segments.
    pub counters: Counters,
    /// Whether somebody had deleted it, and its grace was over: it comes back into the trash.
    pub is_trashed_again: bool,
    /// Drawn for vectors and not used yet.
    pub numbers: Range<i64>,
}

pub(super) type Counters = [i64; 4];

const NEW_COUNTERS: Counters = [1; 4];

/// Where a backup comes from, seen from this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Same,
    /// From another one whose place this one takes.
    Adopted,
    Foreign,
}

/// Chooses the number of a workspace: that of the living one of its name; or its old one, when this database gave it and
/// it is free; or a new one.
pub(super) fn target<'a>(
    tx: &mut dyn Transaction,
    archived: &'a ArchivedWorkspace,
    mut cells: Vec<Cell>,
    origin: Origin,
) -> Result<Target<'a>, StoreError> {
    let name = cells[0].text().unwrap_or_default();
    let number = archived.number;
    let is_free = tx.row(&sql::FIND_NUMBER, &[number.into()], |_| Ok(()))?.is_none();
    // A personal workspace is known by its person, whatever its name is here.
    let name = name.to_owned();
    let personal = match cells[PERSON_CELL].text() {
        Some(person) => workspaces::of_person(tx, person)?,
        None => None,
    };
    let living = match personal {
        Some(personal) => {
            cells[0] = Cell::Text(personal.id.clone());
            Some(personal)
        }
        None => workspaces::find(tx, &name)?,
    };
    let kept = kept_counters(tx, number)?.filter(|_| is_free && origin == Origin::Same);
    let (key, counters) = match (living, kept, origin) {
        (Some(living), ..) => (living.key, NEW_COUNTERS),
        (None, Some(kept), _) => (number, kept),
        (None, None, Origin::Adopted) if is_free && number.0 > workspaces::last_number(tx)? => (number, NEW_COUNTERS),
        (None, None, _) => (WorkspaceKey(0), NEW_COUNTERS),
    };
    Ok(Target { archived, cells, key, origin, ledgers: Vec::new(), counters, is_trashed_again: false, numbers: 0..0 })
}

/// What the counters of a workspace that is gone were.
fn kept_counters(tx: &mut dyn Transaction, number: WorkspaceKey) -> Result<Option<Counters>, StoreError> {
    tx.enter(number.into())?;
    let kept =
        tx.row(&sql::KEPT_COUNTERS, &[number.into()], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    tx.enter(Tenant::Database)?;
    Ok(kept)
}

/// Numbers that are chosen already are drawn for no other workspace.
pub(super) fn reserve(tx: &mut dyn Transaction, targets: &[Target<'_>]) -> Result<(), StoreError> {
    for target in targets {
        tx.execute(&workspace_sql::RAISE_LAST_NUMBER, &[target.key.into()])?;
    }
    Ok(())
}

/// Makes sure that the workspace has a row, and so a number.
pub(super) fn place(tx: &mut dyn Transaction, target: &mut Target<'_>, stamp: Stamp<'_>) -> Result<(), StoreError> {
    tx.enter(Tenant::Database)?;
    let name = target.cells[0].text().unwrap_or_default().to_owned();
    if target.key.0 == 0 {
        let new = workspaces::NewWorkspace { id: name, ..workspaces::NewWorkspace::default() };
        target.key = workspaces::create(tx, &new, stamp)?;
        return Ok(());
    }
    if tx.row(&sql::FIND_NUMBER, &[target.key.into()], |_| Ok(()))?.is_none() {
        let cells = target.cells.iter().take(target.cells.len() - 1).map(Value::from);
        let parameters: Vec<Value<'_>> = std::iter::once(target.key.into()).chain(cells).collect();
        tx.execute(&sql::INSERT_WORKSPACE, &parameters)?;
    }
    Ok(())
}

/// Takes everything out of a workspace but its runs, its ledger and its audit, which are history.
pub(super) fn empty(tx: &mut dyn Transaction, key: WorkspaceKey) -> Result<(), StoreError> {
    tx.execute(&sql::RAISE_FENCES, &[key.into()])?;
    for table in tables::in_workspace().rev() {
        if let Rows::Stored { delete: Some(delete), .. } = table.rows {
            tx.execute(delete, &[key.into()])?;
        }
    }
    for statement in
        [&sql::DELETE_RUN_SKIPS, &purge_sql::DELETE_PLAN_ITEMS, &purge_sql::DELETE_PLANS, &purge_sql::DELETE_SOURCES]
    {
        tx.execute(statement, &[key.into()])?;
    }
    tx.search_clear(key)
}

#[cfg(test)]
mod tests {
    use rootset_model::{RetentionPolicy, RunId, Timestamp};

    use crate::backup::{BackupKind, Configured, FreshTrash, LedgerUse, NewBackup, RestoreTarget, Restoring};
    use crate::workspaces::NewWorkspace;
    use crate::{Stamp, Store};

    const TRASH: FreshTrash = FreshTrash { run: RunId([9; 16]), grace_ms: 1 };

    #[test]
    fn a_workspace_that_needs_a_new_number_does_not_get_that_of_the_next() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stamp = Stamp::new(Timestamp(1_800_000_000_000), "test");
        let create = |store: &Store, id: &str| {
            let new = NewWorkspace { id: id.to_owned(), ..NewWorkspace::default() };
            store.create_workspace(&new, stamp).expect("a workspace").key
        };
        let origin = Store::open_sqlite(&folder.path().join("origin.db")).expect("a new database");
        assert_eq!(["first", "second"].map(|id| create(&origin, id).0), [1, 2]);
        let new = NewBackup { id: "backup", kind: BackupKind::Jsonl, workspace: None };
        let backup = origin.create_backup(&folder.path().join("backups"), &new, stamp).expect("a backup");

        // The number of the first is taken here, so it needs another; the second keeps its own.
        let other = Store::open_sqlite(&folder.path().join("other.db")).expect("a new database");
        create(&other, "home");
        let (target, ledger) = (RestoreTarget::Database, LedgerUse::Without);
        let configured = Configured(&|_| RetentionPolicy::default());
        let restoring = Restoring { target, ledger, trash: TRASH, configured, room: folder.path() };
        other.restore_backup(&backup, restoring, stamp).expect("restored");
        let number = |id: &str| other.workspace(id).expect("a workspace").key.0;
        assert_eq!((number("first"), number("second")), (3, 2));
        assert_eq!(create(&other, "third").0, 4);
    }
}
