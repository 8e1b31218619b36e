//! What was purged since the backup, by the ledgers of both sides.

use std::collections::HashSet;

use rootset_model::ErasureId;

use super::super::bundle::ArchivedWorkspace;
use super::super::rows::Cell;
use super::targets::Target;
use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::backup as sql;

/// What the ledger of the backup notes about one workspace.
#[derive(Debug, Default)]
pub(super) struct ArchivedLedger {
    pub erasures: HashSet<[u8; 16]>,
    pub contents: HashSet<(Vec<u8>, [u8; 16])>,
}

/// What this database knows of a workspace before it is emptied.
#[derive(Debug, Default)]
pub(super) struct Since {
    /// Contents (or whole memories), segments and sessions erased since the backup.
    pub erased: Vec<(Vec<u8>, [u8; 16])>,
    pub purged_runs: HashSet<[u8; 16]>,
    /// The greatest epoch of its sessions.
    pub last_epoch: i64,
}

/// Whether this very workspace was purged after the backup.
pub(super) fn was_purged_since(
    tx: &mut dyn Transaction,
    workspace: &ArchivedWorkspace,
    ledger: Option<&ArchivedLedger>,
) -> Result<bool, StoreError> {
    if tx.row(&sql::FIND_NUMBER, &[workspace.number.into()], |_| Ok(()))?.is_some() {
        return Ok(false);
    }
    tx.enter(workspace.number.into())?;
    let purges: Vec<ErasureId> = tx.rows(&sql::WAS_PURGED, &[workspace.number.into()], |row| row.get(0))?;
    tx.enter(Tenant::Database)?;
    Ok(purges.iter().any(|erasure| ledger.is_none_or(|it| !it.erasures.contains(&erasure.0))))
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
        tx.query(&sql::READ_ERASED_CONTENTS, &[ledger.into()], &mut |row| {
            let content: (Vec<u8>, [u8; 16]) = (row.get(0)?, row.get(1)?);
            if archived.is_none_or(|it| !it.contents.contains(&content)) {
                since.erased.push(content);
            }
            Ok(())
        })?;
        since.purged_runs.extend(tx.rows(&sql::PURGED_RUNS, &[ledger.into()], |row| row.get::<[u8; 16]>(0))?);
    }
    tx.enter(target.key.into())?;
    Ok(since)
}

pub(super) fn noted(hash: &Cell, memory: &Cell) -> Option<(Vec<u8>, [u8; 16])> {
    match hash {
        Cell::Blob(hash) => Some((hash.clone(), memory.id()?)),
        _ => None,
    }
}
