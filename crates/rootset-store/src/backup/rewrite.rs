//! Backups without what was erased after they were made.
//!
//! A backup is restored into a temporary database, which replays the erasure ledger as every restore does, and that is
//! backed up again under the same id and time. So there is one way in which an erasure reaches a backup, whatever its
//! kind and schema; what a restore leaves aside (audit, plans, tokens) is not in the rewritten backup. The new one is
//! verified before it takes the place of the old one, and a crash leaves the one or the other.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rootset_model::{RetentionPolicy, Timestamp};

use super::folder::{
    Backup, Partial, list_backups, list_damaged_backups, remove_backup, remove_scratch, scratch_folder,
};
use super::manifest::{BackupKind, Manifest, SNAPSHOT_FILE};
use super::restore::{Configured, FreshTrash, LedgerUse, RestoreTarget, Restoring};
use super::{NewBackup, verified};
use crate::driver::Tenant;
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::statements::purge as purge_sql;
use crate::{Stamp, Store};

/// What became of a backup that should be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rewritten {
    /// It no longer holds what was erased.
    Rewritten,
    /// It held nothing of it, and stays as it is.
    Clean,
    /// Everything in it was erased.
    Removed,
    /// It belongs to another database.
    Foreign,
    /// It stays as it is and may still hold what was erased.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewrittenBackup {
    pub backup_id: String,
    /// Of one whose manifest cannot be read: when its folder was last changed.
    pub created_at: Timestamp,
    pub outcome: Rewritten,
}

impl Store {
    /// Rewrites every backup in the folder that holds something that was erased. One that fails does not stop the others.
    pub fn rewrite_backups(
        &self,
        folder: &Path,
        trash: FreshTrash,
        stamp: Stamp<'_>,
    ) -> Result<Vec<RewrittenBackup>, StoreError> {
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        super::folder::settle(folder)?;
        self.complete_ledger(folder)?;
        let own_key: Vec<u8> = self.read(Tenant::Database, |tx| tx.scalar(&purge_sql::ERASURE_KEY, &[]))?;
        let mut rewritten = Vec::new();
        for backup in list_backups(folder)? {
            let is_own = STANDARD.decode(&backup.manifest.ledger_key).is_ok_and(|key| key == own_key);
            let outcome = match is_own {
                false => Rewritten::Foreign,
                true => {
                    rewrite(folder, &backup, trash, stamp).unwrap_or_else(|error| Rewritten::Failed(error.to_string()))
                }
            };
            let Manifest { backup_id, created_at, .. } = backup.manifest;
            rewritten.push(RewrittenBackup { backup_id, created_at, outcome });
        }
        for damaged in list_damaged_backups(folder)? {
            let outcome = Rewritten::Failed(damaged.problem);
            rewritten.push(RewrittenBackup { backup_id: damaged.backup_id, created_at: damaged.changed_at, outcome });
        }
        remove_scratch(folder);
        Ok(rewritten)
    }
}

fn rewrite(folder: &Path, backup: &Backup, trash: FreshTrash, stamp: Stamp<'_>) -> Result<Rewritten, StoreError> {
    let scratch = Partial::begin(&scratch_folder(folder), "database")?;
    let temporary = scratch.path.join(SNAPSHOT_FILE);
    let mut temporary = Store::open_sqlite_with_backups(&temporary, &scratch.path)?;
    let now = stamp.now;
    temporary.set_wall(Arc::new(move || now));
    let ledgers = [folder.to_owned()];
    let (target, ledger) = (RestoreTarget::Database, LedgerUse::Consult(&ledgers));
    let configured = Configured(&|_| RetentionPolicy::default());
    let restoring = Restoring { target, ledger, trash, configured, room: &scratch.path };
    let restored = temporary.restore_backup(backup, restoring, stamp)?;
    failpoint!("rewrite.restored");
    if restored.replayed_erasures == 0 {
        return Ok(Rewritten::Clean);
    }
    if restored.workspaces.is_empty() {
        remove_backup(backup)?;
        return Ok(Rewritten::Removed);
    }
    // Without free pages, and without what full text only marks as deleted.
    temporary.engine.compact()?;
    let old = &backup.manifest;
    let partial = Partial::begin(folder, &old.backup_id)?;
    let new = NewBackup { id: &old.backup_id, kind: old.kind, workspace: None };
    let made_then = Stamp { now: old.created_at, ..stamp };
    let manifest = match old.kind {
        BackupKind::Snapshot => temporary.snapshot(&partial, &new, made_then)?,
        BackupKind::Jsonl => temporary.bundle(&partial, &new, made_then)?,
    };
    let manifest =
        Manifest { reason: old.reason, workspace_id: old.workspace_id.clone(), has_ledger: true, ..manifest };
    // What had rotted before is told by `backup_verify`, as it was before.
    let (verified, _) = verified(Backup { path: partial.path.clone(), manifest, warnings: Vec::new() })?;
    partial.replace(verified.manifest)?;
    Ok(Rewritten::Rewritten)
}
