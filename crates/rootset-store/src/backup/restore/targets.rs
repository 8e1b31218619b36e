//! Workspaces on their way: which number a restored one gets, its row, and room for its rows.

use std::ops::Range;

use super::super::bundle::ArchivedWorkspace;
use super::super::rows::Cell;
use super::super::tables::{Rows, TABLES};
use crate::Stamp;
use crate::driver::{Transaction, Value};
use crate::error::StoreError;
use crate::statements::backup as sql;
use crate::statements::purge as purge_sql;
use crate::workspaces;
use rootset_model::WorkspaceKey;

/// A workspace on its way.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub archived: &'a ArchivedWorkspace,
    /// The row of the workspace as it will stand.
    pub cells: Vec<Cell>,
    pub key: WorkspaceKey,
    /// Numbers under which this database may have noted erasures of it.
    pub ledgers: Vec<WorkspaceKey>,
    /// What the counters were when its number was last in use: of numbers, chunks, sessions and segments.
    pub counters: Counters,
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
    cells: Vec<Cell>,
    origin: Origin,
) -> Result<Target<'a>, StoreError> {
    let name = cells[0].text().unwrap_or_default();
    let number = archived.number;
    let is_free = tx.row(&sql::FIND_NUMBER, &[number.into()], |_| Ok(()))?.is_none();
    let kept: Option<String> = tx.row(&sql::KEPT_COUNTERS, &[number.into()], |row| row.get(0))?;
    let (key, counters) = match (workspaces::find(tx, name)?, origin) {
        (Some(living), _) => (living.key, NEW_COUNTERS),
        (None, Origin::Same) if is_free && kept.is_some() => (number, parsed_counters(kept.as_deref())?),
        (None, Origin::Adopted) if is_free && number.0 > last_number(tx)? => (number, NEW_COUNTERS),
        (None, _) => (WorkspaceKey(0), NEW_COUNTERS),
    };
    Ok(Target { archived, cells, key, ledgers: Vec::new(), counters, numbers: 0..0 })
}

/// A workspace that went before there were sessions has no counters of them.
fn parsed_counters(text: Option<&str>) -> Result<Counters, StoreError> {
    let unreadable = || StoreError::UnreadableValue("the counters of a workspace that is gone");
    let mut counters = NEW_COUNTERS;
    let words: Vec<&str> = text.unwrap_or_default().split(' ').collect();
    if !(2..=counters.len()).contains(&words.len()) {
        return Err(unreadable());
    }
    for (counter, word) in counters.iter_mut().zip(words) {
        *counter = word.parse().map_err(|_| unreadable())?;
    }
    Ok(counters)
}

pub(super) fn last_number(tx: &mut dyn Transaction) -> Result<i64, StoreError> {
    Ok(tx.scalar::<Option<i64>>(&sql::LAST_NUMBER, &[])?.unwrap_or(0))
}

/// Makes sure that the workspace has a row, and so a number.
pub(super) fn place(tx: &mut dyn Transaction, target: &mut Target<'_>, stamp: Stamp<'_>) -> Result<(), StoreError> {
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
    for table in TABLES.iter().rev() {
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
