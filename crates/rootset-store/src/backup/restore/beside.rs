//! The ledger beside the backups, as a restore uses it: its notes are merged into the database before anything is
//! compared, so that they count like the database's own.

use std::collections::HashMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::beside::{LedgerFile, Note, Unread};
use super::super::bundle::ArchivedWorkspace;
use super::super::folder::Backup;
use super::super::manifest::BackupReason;
use super::super::rows::Cell;
use super::super::tables::Table;
use super::ROWS_AT_ONCE;
use super::ledger::ArchivedLedger;
use super::rows::insert_rows;
use super::targets::{Origin, Target};
use crate::Stamp;
use crate::driver::{Tenant, Transaction, Value};
use crate::erasure::{Class, WORKSPACE_CAUSE};
use crate::error::StoreError;
use crate::statements::{backup as sql, workspaces as workspace_sql};

const WITHOUT_LEDGER: &str =
    "no erasure ledger was kept beside this backup: what was erased after it was made may have come back";

/// Whether a restore looks for the ledger beside the backups.
#[derive(Clone, Copy, Debug)]
pub enum LedgerUse<'a> {
    /// In these folders. A restore that finds none, or a damaged one, is refused.
    Consult(&'a [PathBuf]),
    /// Whatever was erased after the backup may come back.
    Without,
}

/// The ledgers that were found for a backup, each read once and known to be whole.
#[derive(Debug)]
pub(super) struct Beside {
    files: Vec<LedgerFile>,
    /// Of workspaces that were purged as a whole.
    purges: Vec<Note>,
    /// Where the ledger should have been; `None` when nobody wants it.
    wanted: Option<PathBuf>,
}

impl Beside {
    pub fn find(backup: &Backup, ledger: LedgerUse<'_>) -> Result<Self, StoreError> {
        let mut beside = Self { files: Vec::new(), purges: Vec::new(), wanted: None };
        let LedgerUse::Consult(folders) = ledger else { return Ok(beside) };
        let key = STANDARD.decode(&backup.manifest.ledger_key).unwrap_or_default();
        for folder in folders {
            let file = LedgerFile::of(folder, &key);
            beside.wanted.get_or_insert_with(|| file.path.clone());
            if !file.exists() || beside.files.iter().any(|it| it.path == file.path) {
                continue;
            }
            let purges = &mut beside.purges;
            read(&file, &mut |note| {
                if is_purge_of_workspace(&note) {
                    purges.push(note);
                }
                Ok(())
            })?;
            beside.files.push(file);
        }
        Ok(beside)
    }

    /// A database knows itself what it erased, and so does what was saved of it; any other needs the ledger. Backups that
    /// never had one are restored all the same.
    pub fn refuse_or_warn_if_missing(&self, backup: &Backup, origin: Origin) -> Result<Option<String>, StoreError> {
        let knows = origin == Origin::Same || backup.manifest.reason == BackupReason::Salvage;
        match &self.wanted {
            Some(path) if self.files.is_empty() && !knows => {
                if backup.manifest.has_ledger {
                    return Err(StoreError::LedgerMissing { path: path.clone() });
                }
                Ok(Some(WITHOUT_LEDGER.to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// Whether this very workspace was purged after the backup, and how. One of the same name that was made later has
    /// another number. A database that takes the place of the one that erased it goes on knowing it.
    pub fn purged(
        &self,
        tx: &mut dyn Transaction,
        workspace: &ArchivedWorkspace,
        archived: Option<&ArchivedLedger>,
        origin: Origin,
    ) -> Result<Option<Class>, StoreError> {
        let number = workspace.number;
        let is_of = |note: &&Note| {
            note.number == number
                && (note.workspace == workspace.id || note.workspace.is_empty())
                && !archived.is_some_and(|it| note.cells[0].id().is_some_and(|erasure| it.erasures.contains(&erasure)))
        };
        let purges: Vec<&Note> = self.purges.iter().filter(is_of).collect();
        let Some(note) = purges.iter().find(|note| class_of(note) == Class::Erased) else {
            return Ok(purges.first().map(|note| class_of(note)));
        };
        let is_free = tx.row(&sql::FIND_NUMBER, &[number.into()], |_| Ok(()))?.is_none();
        if origin == Origin::Adopted && is_free {
            tx.execute(&workspace_sql::RAISE_LAST_NUMBER, &[number.into()])?;
            tx.enter(number.into())?;
            let cells = note.cells.iter().map(Value::from);
            let parameters: Vec<Value<'_>> = std::iter::once(number.into()).chain(cells).collect();
            tx.execute(&sql::INSERT_ERASURES, &parameters)?;
            tx.enter(Tenant::Database)?;
        }
        Ok(Some(Class::Erased))
    }

    /// Adds the notes about each restored workspace to the ledger of the one that takes its place.
    pub fn merge(
        &self,
        tx: &mut dyn Transaction,
        targets: &mut [Target<'_>],
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let places: HashMap<String, usize> =
            targets.iter().enumerate().map(|(place, it)| (it.archived.id.clone(), place)).collect();
        for file in &self.files {
            let mut waiting: Option<(&'static Table, usize, Vec<Vec<Cell>>)> = None;
            read(file, &mut |note| {
                let Some(&place) = places.get(&note.workspace) else { return Ok(()) };
                if is_purge_of_workspace(&note) {
                    return Ok(());
                }
                match &mut waiting {
                    Some((table, of, rows))
                        if table.name == note.table.name && *of == place && rows.len() < ROWS_AT_ONCE =>
                    {
                        rows.push(note.cells);
                    }
                    _ => {
                        let before = waiting.replace((note.table, place, vec![note.cells]));
                        if let Some((table, of, rows)) = before {
                            insert_rows(tx, table, &mut targets[of], rows, stamp)?;
                        }
                    }
                }
                Ok(())
            })?;
            if let Some((table, of, rows)) = waiting {
                insert_rows(tx, table, &mut targets[of], rows, stamp)?;
            }
        }
        Ok(())
    }
}

fn read(file: &LedgerFile, each: &mut dyn FnMut(Note) -> Result<(), StoreError>) -> Result<(), StoreError> {
    file.each(each).map_err(|unread| match unread {
        Unread::Damaged(problem) => StoreError::LedgerDamaged { path: file.path.clone(), problem },
        Unread::Failed(error) => error,
    })
}

fn is_purge_of_workspace(note: &Note) -> bool {
    note.table.name == "erasures" && note.cells[3].text() == Some(WORKSPACE_CAUSE)
}

/// Of a row of `erasures`. Before there were classes, everything was erased.
fn class_of(note: &Note) -> Class {
    note.cells[5].text().map_or(Class::Erased, Class::from_stored)
}
