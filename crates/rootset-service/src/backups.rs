//! Backups as others in the service use them: where they are, making one, and removing those no longer needed.

use std::path::{Path, PathBuf};

use rootset_api::HoldingBackup;
use rootset_gc::{BackupFacts, BackupPolicy, backups_to_remove};
use rootset_model::Timestamp;
use rootset_store::{
    Author, Backup, BackupKind, DamagedBackup, FreshTrash, NewBackup, Rewritten, RewrittenBackup, Stamp, Workspace,
    backup_id, find_backup, list_backups, list_damaged_backups, open_backup, remove_backup, remove_damaged_backup,
    remove_unfinished_backups, verify_backup,
};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::hex;
use crate::service::Service;

impl Service {
    /// The folder of backups: as configured, or beside the database. A database on a server has nothing beside it.
    pub fn backup_folder(&self) -> Option<PathBuf> {
        self.settings.backup.folder.clone().or_else(|| self.store.backup_folder())
    }

    fn need_backup_folder(&self) -> Result<PathBuf, ServiceError> {
        self.backup_folder().ok_or_else(|| {
            ServiceError::invalid("no backup folder is set, and the database is on a server")
                .with_hint("set `backup.dir` in the configuration, or `ROOTSET_BACKUP__DIR`")
        })
    }

    /// How often backups are taken by themselves; `None` where nobody wants them, or there is no place for them.
    pub(crate) fn backup_interval_ms(&self) -> Option<i64> {
        self.settings.backup.interval_ms.filter(|_| self.backup_folder().is_some())
    }

    /// A backup of the whole database, of the kind that is restored fastest.
    pub fn create_whole_backup(&self, author: Author<'_>) -> Result<Backup, ServiceError> {
        let kind = if self.store.has_file() { BackupKind::Snapshot } else { BackupKind::Jsonl };
        self.create_backup(kind, None, author)
    }

    /// Makes a backup and verifies it; what does not verify is an error and is not kept.
    pub fn create_backup(
        &self,
        kind: BackupKind,
        workspace: Option<&Workspace>,
        author: Author<'_>,
    ) -> Result<Backup, ServiceError> {
        let folder = self.need_backup_folder()?;
        // Uses that were served but not yet written belong into it.
        self.flush_uses()?;
        let stamp = Stamp::new(self.now(), author);
        let distinction = hex(&self.next_backup_bytes());
        let new = NewBackup { id: &backup_id(stamp.now, &distinction), kind, workspace };
        Ok(self.store.create_backup(&folder, &new, stamp)?)
    }

    /// The backup that a caller wants before something goes to the trash: of the whole database, where the caller may have
    /// one, because it restores fastest.
    pub(crate) fn back_up_before(
        &self,
        wanted: Option<bool>,
        workspace: &Workspace,
        caller: &Caller,
    ) -> Result<(), ServiceError> {
        if wanted != Some(true) {
            return Ok(());
        }
        match caller.rights.workspaces {
            None => self.create_whole_backup(caller.author())?,
            Some(_) => self.create_backup(BackupKind::Jsonl, Some(workspace), caller.author())?,
        };
        Ok(())
    }

    /// Rewrites the backups without what was erased. The erasure is done, so a failure is an answer, not an error.
    pub(crate) fn rewrite_backups(&self, caller: &Caller, warnings: &mut Vec<String>) -> Vec<RewrittenBackup> {
        let Some(folder) = self.backup_folder() else { return Vec::new() };
        let trash = FreshTrash { run: self.next_run_id(), grace_ms: self.settings.grace_ms };
        let rewritten = self.store.rewrite_backups(&folder, trash, self.stamp(caller)).unwrap_or_else(|error| {
            warnings.push(format!("the backups were not rewritten and may still hold what was removed: {error}"));
            Vec::new()
        });
        for backup in &rewritten {
            if let Rewritten::Failed(problem) = &backup.outcome {
                warnings.push(format!("backup `{}` could not be rewritten: {problem}", backup.backup_id));
            }
        }
        rewritten
    }

    /// All of them, newest first; none where there is no folder for them.
    pub(crate) fn list_backups(&self) -> Result<Vec<Backup>, ServiceError> {
        match self.backup_folder() {
            Some(folder) => Ok(list_backups(&folder)?),
            None => Ok(Vec::new()),
        }
    }

    /// Those whose manifest cannot be read.
    pub(crate) fn list_damaged_backups(&self) -> Result<Vec<DamagedBackup>, ServiceError> {
        match self.backup_folder() {
            Some(folder) => Ok(list_damaged_backups(&folder)?),
            None => Ok(Vec::new()),
        }
    }

    /// Backups that may still hold what was erased in the workspaces at that time: not those of another workspace.
    pub fn backups_that_may_hold(
        &self,
        workspaces: &[&str],
        erased_at: Timestamp,
    ) -> Result<Vec<HoldingBackup>, ServiceError> {
        let max_age_ms = self.settings.backup.max_age_ms;
        let may_hold = |it: &Backup| {
            let only = it.manifest.workspace_id.as_ref();
            it.manifest.created_at <= erased_at && only.is_none_or(|only| workspaces.contains(&only.as_str()))
        };
        let older = self.list_backups()?.into_iter().filter(may_hold);
        let older = older.map(|it| (it.manifest.backup_id, it.manifest.created_at));
        // Nobody can tell what a damaged one holds.
        let damaged = self.list_damaged_backups()?.into_iter().map(|it| (it.backup_id, it.changed_at));
        let holding = older.chain(damaged).map(|(backup_id, at)| {
            let expires_at = at.saturating_add_ms(max_age_ms);
            HoldingBackup { backup_id, expires_at }
        });
        Ok(holding.collect())
    }

    /// The same for the answer of an erasure that is done: what cannot be found out is said.
    pub(crate) fn holding_backups(
        &self,
        workspaces: &[&str],
        erased_at: Timestamp,
        warnings: &mut Vec<String>,
    ) -> Vec<HoldingBackup> {
        match self.backup_folder().map_or(Ok(true), |folder| remove_unfinished_backups(&folder)) {
            Ok(true) => {}
            Ok(false) => {
                warnings.push("a backup is being made at this moment; it may hold what was removed".to_owned());
            }
            Err(error) => warnings.push(format!("an unfinished backup may hold what was removed: {error}")),
        }
        self.backups_that_may_hold(workspaces, erased_at).unwrap_or_else(|error| {
            warnings.push(format!("the backups could not be listed, they may still hold what was removed: {error}"));
            Vec::new()
        })
    }

    /// Removes the backups that the settings no longer ask for; answers their ids. Before one goes, those that stay in
    /// its place are verified.
    pub fn prune_backups(&self, now: Timestamp) -> Result<Vec<String>, ServiceError> {
        let (backups, damaged) = (self.list_backups()?, self.list_damaged_backups()?);
        let settings = &self.settings.backup;
        let policy = BackupPolicy { keep_last: settings.keep_last, max_age_ms: settings.max_age_ms };
        let facts = |is_good: &dyn Fn(&Backup) -> Result<bool, ServiceError>| {
            let of = |it: &Backup| Ok(BackupFacts { created_at: it.manifest.created_at, is_good: is_good(it)? });
            let bad = damaged.iter().map(|it| Ok(BackupFacts { created_at: it.changed_at, is_good: false }));
            backups.iter().map(of).chain(bad).collect::<Result<Vec<_>, ServiceError>>()
        };
        // Verifying reads every byte: not worth it while nothing would go anyway.
        if backups_to_remove(&facts(&|_| Ok(false))?, policy, now).is_empty() {
            return Ok(Vec::new());
        }
        let verified = facts(&|it| Ok(!it.manifest.is_empty() && verify_backup(it)?.is_empty()))?;
        let mut removed = Vec::new();
        for place in backups_to_remove(&verified, policy, now) {
            if let Some(backup) = backups.get(place) {
                remove_backup(backup)?;
                removed.push(backup.manifest.backup_id.clone());
            } else {
                let backup = &damaged[place - backups.len()];
                remove_damaged_backup(backup)?;
                removed.push(backup.backup_id.clone());
            }
        }
        Ok(removed)
    }

    /// The backup that a request names. A path is for the command line only: everybody else stays within the folder.
    pub(crate) fn find_backup(&self, caller: &Caller, reference: &str) -> Result<Backup, ServiceError> {
        let is_path = reference.contains(['/', '\\']) || reference.starts_with('.');
        if is_path {
            caller.need_command_line("backup_id", "give an id; `backup_list` shows them")?;
            return Ok(open_backup(Path::new(reference))?);
        }
        Ok(find_backup(&self.need_backup_folder()?, reference)?)
    }
}
