//! What was purged since the backup, by the ledgers of both sides.

use std::collections::{HashMap, HashSet};

use rootset_model::ErasureId;

use super::super::bundle::ArchivedWorkspace;
use super::super::rows::Cell;
use super::targets::Target;
use crate::driver::{Tenant, Transaction};
use crate::erasure::Class;
use crate::error::StoreError;
use crate::statements::backup as sql;

/// What the ledger of the backup notes about one workspace.
#[derive(Debug, Default)]
pub(super) struct ArchivedLedger {
    pub erasures: HashSet<[u8; 16]>,
    /// Each with its erasure: what was removed before may have been erased since.
    pub contents: HashMap<Noted, [u8; 16]>,
}

/// The hash of a content (of nothing, for a whole memory) with its memory; or those of a segment or session.
pub(super) type Noted = (Vec<u8>, [u8; 16]);

/// What this database knows of a workspace before it is emptied.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// What was erased since the backup.
    pub erased: Vec<Noted>,
    /// What somebody removed and housekeeping purged since the backup.
    pub removed: Vec<Noted>,
    /// Runs whose trash was erased.
    pub erased_runs: HashSet<[u8; 16]>,
    /// Runs whose trash somebody made and housekeeping purged.
    pub removed_runs: HashSet<[u8; 16]>,
    /// The greatest epoch of its sessions.
    pub last_epoch: i64,
}

/// Whether this very workspace was purged after the backup, and how.
pub(super) fn purged_since(
    tx: &mut dyn Transaction,
    workspace: &ArchivedWorkspace,
    ledger: Option<&ArchivedLedger>,
) -> Result<Option<Class>, StoreError> {
    if tx.row(&sql::FIND_NUMBER, &[workspace.number.into()], |_| Ok(()))?.is_some() {
        return Ok(None);
    }
    tx.enter(workspace.number.into())?;
    let mut purges: Vec<(ErasureId, Class)> = tx.rows(&sql::WAS_PURGED, &[workspace.number.into()], |row| {
        Ok((row.get(0)?, Class::from_stored(&row.get::<String>(1)?)))
    })?;
    tx.enter(Tenant::Database)?;
    purges.retain(|(erasure, _)| ledger.is_none_or(|it| !it.erasures.contains(&erasure.0)));
    let is_erased = purges.iter().any(|(_, class)| *class == Class::Erased);
    Ok(if is_erased { Some(Class::Erased) } else { purges.first().map(|(_, class)| *class) })
}

/// Asked before the workspace is emptied and the ledgers are merged.
pub(super) fn known_since(
    tx: &mut dyn Transaction,
    target: &Target<'_>,
    archived: Option<&ArchivedLedger>,
) -> Result<Since, StoreError> {
    let last_epoch = tx.scalar(&sql::LAST_EPOCH, &[target.key.into()])?;
    let mut since = Since { last_epoch, ..Since::default() };
    let mut ledgers = target.ledgers.clone();
    ledgers.push(target.key);
    ledgers.sort_unstable();
    ledgers.dedup();
    for ledger in ledgers {
        tx.enter(ledger.into())?;
        tx.query(&sql::NOTED_CONTENTS, &[ledger.into()], &mut |row| {
            let noted: Noted = (row.get(0)?, row.get(1)?);
            let erasure: [u8; 16] = row.get(2)?;
            if archived.is_none_or(|it| it.contents.get(&noted) != Some(&erasure)) {
                match Class::from_stored(&row.get::<String>(3)?) {
                    Class::Erased => since.erased.push(noted),
                    Class::Removed => since.removed.push(noted),
                }
            }
            Ok(())
        })?;
        tx.query(&sql::PURGED_RUNS, &[ledger.into()], &mut |row| {
            let runs = if row.get(1)? { &mut since.removed_runs } else { &mut since.erased_runs };
            runs.insert(row.get(0)?);
            Ok(())
        })?;
    }
    tx.enter(target.key.into())?;
    Ok(since)
}

/// A line of an archived ledger, with its erasure.
pub(super) fn noted(cells: &[Cell]) -> Option<(Noted, [u8; 16])> {
    match &cells[0] {
        Cell::Blob(hash) => Some(((hash.clone(), cells[1].id()?), cells[2].id()?)),
        _ => None,
    }
}
