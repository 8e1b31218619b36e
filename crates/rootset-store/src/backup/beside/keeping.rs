//! Keeping the ledger beside the backups: after every erasure what it noted, with every backup whatever is missing.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rootset_model::{ErasureId, WorkspaceKey};

use super::super::bundle;
use super::super::rows;
use super::super::tables::by_name;
use super::{LedgerFile, Note, Notes, Unread};
use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::{backup as sql, purge as purge_sql};
use crate::{Store, workspaces};

impl Store {
    /// The folder in which erasures are noted as well: that of the backups.
    pub fn keep_ledger_in(&self, folder: PathBuf) {
        // A store belongs to one service, which says it once.
        let _ = self.ledger_folder.set(folder);
    }

    /// Notes an erasure beside the backups, before anybody gets a receipt for it; answers what went wrong. What was
    /// erased stays erased whatever happens here, and the next backup notes what is missing.
    ///
    /// `name` is that of the workspace, where it may be gone.
    pub(crate) fn note_beside(&self, number: WorkspaceKey, name: Option<&str>, erasure: ErasureId) -> Option<String> {
        // Without a folder there are no backups that could bring anything back; the first one brings the ledger.
        let folder = self.ledger_folder.get().filter(|folder| folder.is_dir())?;
        self.try_note_beside(folder, number, name, erasure).err().map(|error| error.to_string())
    }

    fn try_note_beside(
        &self,
        folder: &Path,
        number: WorkspaceKey,
        name: Option<&str>,
        erasure: ErasureId,
    ) -> Result<(), StoreError> {
        let file = self.ledger_file(folder)?;
        let _alone = file.lock()?;
        if !file.exists() {
            return self.write_whole(&file);
        }
        self.read(number, |tx| {
            let workspace = match name {
                Some(name) => name.to_owned(),
                None => tx.row(&sql::WORKSPACE_NAME, &[number.into()], |row| row.get(0))?.unwrap_or_default(),
            };
            file.append(&mut |notes| add(tx, notes, number, &workspace, erasure))
        })
    }

    /// Makes sure that the ledger in the folder is whole: part of every backup. A damaged one is put aside, because this
    /// database knows what it erased.
    pub(crate) fn complete_ledger(&self, folder: &Path) -> Result<(), StoreError> {
        let file = self.ledger_file(folder)?;
        let _alone = file.lock()?;
        if !file.exists() {
            return self.write_whole(&file);
        }
        // What each erasure took, by its id.
        let mut known: HashMap<[u8; 16], i64> = HashMap::new();
        let read = file.each(&mut |note| {
            let is_head = note.table.name == "erasures";
            let erasure = if is_head { note.cells[0].id() } else { note.cells[2].id() };
            let count = known.entry(erasure.unwrap_or_default()).or_default();
            *count += i64::from(!is_head);
            Ok(())
        });
        match read {
            Ok(()) => self.read(Tenant::Database, |tx| {
                let missing = missing(tx, &known)?;
                if missing.is_empty() {
                    return Ok(());
                }
                file.append(&mut |notes| add_all(tx, notes, &missing))
            }),
            Err(Unread::Damaged(_)) => {
                file.put_aside()?;
                self.write_whole(&file)
            }
            Err(Unread::Failed(error)) => Err(error),
        }
    }

    fn write_whole(&self, file: &LedgerFile) -> Result<(), StoreError> {
        self.read(Tenant::Database, |tx| {
            let all = missing(tx, &HashMap::new())?;
            file.create(&mut |notes| add_all(tx, notes, &all))
        })
    }

    fn ledger_file(&self, folder: &Path) -> Result<LedgerFile, StoreError> {
        let key: Vec<u8> = self.read(Tenant::Database, |tx| tx.scalar(&purge_sql::ERASURE_KEY, &[]))?;
        Ok(LedgerFile::of(folder, &key))
    }
}

/// Erasures of one workspace of which the file does not hold every note.
struct Missing {
    number: WorkspaceKey,
    /// Empty when the workspace is gone.
    name: String,
    erasures: HashSet<[u8; 16]>,
}

fn missing(tx: &mut dyn Transaction, known: &HashMap<[u8; 16], i64>) -> Result<Vec<Missing>, StoreError> {
    let mut names: HashMap<WorkspaceKey, String> =
        bundle::workspaces(tx)?.into_iter().map(|it| (it.number, it.id)).collect();
    let mut missing = Vec::new();
    for number in (1..=workspaces::last_number(tx)?).map(WorkspaceKey) {
        tx.enter(number.into())?;
        let key = [number.into()];
        let mut erasures: HashSet<[u8; 16]> =
            tx.rows(&sql::READ_ERASURES, &key, |row| row.get(0))?.into_iter().collect();
        if !erasures.is_empty() {
            let counts: HashMap<[u8; 16], i64> =
                tx.rows(&sql::COUNT_ERASED_CONTENTS, &key, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
            let count = |erasure: &[u8; 16]| counts.get(erasure).copied().unwrap_or(0);
            erasures.retain(|erasure| known.get(erasure).is_none_or(|it| *it < count(erasure)));
        }
        if !erasures.is_empty() {
            missing.push(Missing { number, name: names.remove(&number).unwrap_or_default(), erasures });
        }
    }
    tx.enter(Tenant::Database)?;
    Ok(missing)
}

/// One pass over the ledger of each workspace, however many erasures it lists.
fn add_all(tx: &mut dyn Transaction, notes: &mut Notes, all: &[Missing]) -> Result<(), StoreError> {
    for Missing { number, name, erasures } in all {
        tx.enter((*number).into())?;
        for (table, statement, place) in
            [("erasures", &sql::READ_ERASURES, 0), ("erased_contents", &sql::READ_ERASED_CONTENTS, 2)]
        {
            let table = by_name(table).expect("a table of the ledger");
            tx.query(statement, &[(*number).into()], &mut |row| {
                let cells = rows::read(table, row, 0)?;
                if !cells[place].id().is_some_and(|erasure| erasures.contains(&erasure)) {
                    return Ok(());
                }
                notes.add(&Note { table, number: *number, workspace: name.clone(), cells })
            })?;
        }
    }
    tx.enter(Tenant::Database)
}

/// What one erasure noted.
fn add(
    tx: &mut dyn Transaction,
    notes: &mut Notes,
    number: WorkspaceKey,
    name: &str,
    erasure: ErasureId,
) -> Result<(), StoreError> {
    for (table, statement) in [("erasures", &sql::READ_ERASURE), ("erased_contents", &sql::READ_CONTENTS_OF_ERASURE)] {
        let table = by_name(table).expect("a table of the ledger");
        tx.query(statement, &[number.into(), (&erasure).into()], &mut |row| {
            notes.add(&Note { table, number, workspace: name.to_owned(), cells: rows::read(table, row, 0)? })
        })?;
    }
    Ok(())
}
