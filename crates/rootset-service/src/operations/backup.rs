//! `backup_create`, `backup_list`, `backup_verify`, `backup_restore`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootset_api::{
    BackupCreate, BackupCreated, BackupFormat, BackupList, BackupReasonAnswer, BackupRestore, BackupRestored,
    BackupVerified, BackupVerify, BackupsListed, DamagedBackupAnswer, ErrorCode, ListedBackup,
};
use rootset_model::names::{HOME_WORKSPACE, check_workspace_id, meant_workspace};
use rootset_store::{
    Backup, BackupKind, BackupReason, Configured, DamagedBackup, FreshTrash, LedgerUse, RestoreTarget, Restoring,
    StoreError, Workspace, verify_backup,
};
use serde_json::json;

use super::doctor::repair;
use super::purge::said;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Operation, confirmation_of};
use crate::service::{Service, unknown_to_caller};

impl Operation for BackupCreate {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupCreated, ServiceError> {
        let only = self.workspace_id.as_deref().filter(|id| !id.is_empty());
        if only.is_none() {
            caller.need_whole_database(|| "a backup without `workspace_id`")?;
        }
        let workspace = only.map(|id| service.workspace_or_trashed(caller, Some(id))).transpose()?;
        let backup = match (self.format, &workspace) {
            (Some(BackupFormat::Snapshot), Some(_)) => {
                return Err(ServiceError::invalid("`workspace_id`: a snapshot always holds the whole database")
                    .with_hint("use the format `jsonl` for one workspace"));
            }
            (Some(BackupFormat::Snapshot), None) => {
                service.create_backup(BackupKind::Snapshot, None, caller.author())?
            }
            (Some(BackupFormat::Jsonl), workspace) | (None, workspace @ Some(_)) => {
                service.create_backup(BackupKind::Jsonl, workspace.as_ref(), caller.author())?
            }
            (None, None) => service.create_whole_backup(caller.author())?,
        };
        Ok(BackupCreated {
            path: backup.path.display().to_string(),
            rows: backup.manifest.rows(),
            bytes: backup.manifest.bytes(),
            backup_id: backup.manifest.backup_id,
            verified: true,
            warnings: said(backup.warnings),
        })
    }
}

fn backup_reason_answer(reason: BackupReason) -> BackupReasonAnswer {
    match reason {
        BackupReason::Requested => BackupReasonAnswer::Requested,
        BackupReason::Migration => BackupReasonAnswer::Migration,
        BackupReason::Salvage => BackupReasonAnswer::Salvage,
    }
}

fn listed_backup_answer(Backup { path, manifest, .. }: Backup) -> ListedBackup {
    ListedBackup {
        created_at: manifest.created_at,
        format: manifest.kind.as_str().to_owned(),
        reason: backup_reason_answer(manifest.reason),
        memories: manifest.tables.get("memories").copied().unwrap_or(0),
        rows: manifest.rows(),
        bytes: manifest.bytes(),
        schema_version: manifest.schema_version,
        path: path.display().to_string(),
        backup_id: manifest.backup_id,
        workspace_id: manifest.workspace_id,
    }
}

fn damaged_backup_answer(damaged: DamagedBackup) -> DamagedBackupAnswer {
    let DamagedBackup { path, backup_id, changed_at, problem } = damaged;
    DamagedBackupAnswer { backup_id, changed_at, path: path.display().to_string(), problem }
}

impl Operation for BackupList {
    fn run(self, service: &Arc<Service>, _caller: &Caller) -> Result<BackupsListed, ServiceError> {
        let backups: Vec<ListedBackup> = service.list_backups()?.into_iter().map(listed_backup_answer).collect();
        let damaged = service.list_damaged_backups()?.into_iter().map(damaged_backup_answer).collect();
        Ok(BackupsListed { total: backups.len(), backups, damaged })
    }
}

impl Operation for BackupVerify {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupVerified, ServiceError> {
        let problems = match service.find_backup(caller, &self.backup_id) {
            Ok(backup) => verify_backup(&backup)?,
            // A manifest that cannot be read is what this operation is there to find.
            Err(error) if error.code == ErrorCode::Conflict => vec![error.0.message],
            Err(error) => return Err(error),
        };
        Ok(BackupVerified { ok: problems.is_empty(), problems })
    }
}

impl Operation for BackupRestore {
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        let replaced = match checked(self, service, caller) {
            Ok((_, None)) => "the whole database".to_owned(),
            Ok((_, Some((_, into)))) => format!("the workspace `{into}`"),
            Err(error) => return error,
        };
        let message = format!("restoring replaces {replaced} and needs `confirm: true`");
        confirmation_of(self, message, json!({"confirm": true}))
            .with_hint("save the current contents first with `backup_create`")
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupRestored, ServiceError> {
        let (backup, only) = checked(&self, service, caller)?;
        if self.confirm != Some(true) {
            return Err(self.unconfirmed(service, caller));
        }
        let target = match &only {
            Some((id, into)) => RestoreTarget::Workspace {
                id,
                into,
                bound: caller.rights.numbers.as_ref(),
                personal: caller.personal_of(),
            },
            None => RestoreTarget::Database,
        };
        service.flush_uses()?;
        // A copy of a snapshot is as private as the snapshot: without a folder of our own, it goes beside it.
        let beside = backup.path.parent().map(Path::to_owned);
        let room = service.backup_folder().or_else(|| beside.clone()).unwrap_or_else(|| ".".into());
        let folders: Vec<PathBuf> = beside.into_iter().chain(service.backup_folder()).collect();
        let ledger = match self.without_ledger {
            Some(true) => LedgerUse::Without,
            _ => LedgerUse::Consult(&folders),
        };
        let trash = FreshTrash { run: service.next_run_id(), grace_ms: service.settings.grace_ms };
        let configured = |workspace: &Workspace| service.settings.gc.retention_of(workspace);
        let restoring = Restoring { target, ledger, trash, configured: Configured(&configured), room: &room };
        let restored = service.store.restore_backup(&backup, restoring, service.stamp(caller));
        let restored = restored.map_err(|error| only_seen(error, caller))?;
        let mut warnings = restored.warnings;
        if let Err(error) = settle(service, caller, backup.manifest.reason) {
            warnings.push(format!("everything is restored, but the rest of the work failed: {error}"));
        }
        Ok(BackupRestored {
            restored: restored.rows.into_iter().map(|(table, count)| (table.to_owned(), count)).collect(),
            replayed_erasures: restored.replayed_erasures,
            trashed_again: restored.trashed_again,
            workspaces: restored.workspaces,
            workspaces_removed: restored.workspaces_removed,
            warnings: said(warnings),
        })
    }
}

/// The backup, and the only workspace to restore with the id to restore it under.
fn checked(
    request: &BackupRestore,
    service: &Service,
    caller: &Caller,
) -> Result<(Backup, Option<(String, String)>), ServiceError> {
    let given = |id: &Option<String>| {
        let id = id.as_deref().filter(|id| !id.is_empty());
        id.map(|id| meant_workspace(id).to_owned())
    };
    let (asked, into) = (given(&request.workspace_id), given(&request.into_workspace_id));
    for (field, id) in [("workspace_id", &asked), ("into_workspace_id", &into)] {
        if let Some(id) = id {
            check_workspace_id(id).map_err(|error| ServiceError::invalid(format!("`{field}`: {error}")))?;
            caller.rights.allow_workspace(id).then_some(()).ok_or_else(|| unknown_to_caller(id))?;
        }
    }
    if asked.is_none() {
        caller.need_whole_database(|| "a restore without `workspace_id`")?;
    }
    let backup = service.find_backup(caller, &request.backup_id)?;
    match (asked.or_else(|| backup.manifest.workspace_id.clone()), into) {
        (Some(id), into) => {
            let into = into.unwrap_or_else(|| id.clone());
            Ok((backup, Some((id, into))))
        }
        (None, None) => Ok((backup, None)),
        (None, Some(_)) => Err(ServiceError::invalid(
            "`into_workspace_id` needs `workspace_id`, because the backup holds several workspaces",
        )),
    }
}

/// What follows a restore: the workspace that always exists, and what a salvage had to leave out.
fn settle(service: &Arc<Service>, caller: &Caller, reason: BackupReason) -> Result<(), ServiceError> {
    service.store.ensure_workspace(HOME_WORKSPACE, service.stamp(caller))?;
    if reason == BackupReason::Salvage {
        // Salvaged memories are texts without anything derived from them.
        while service.complete_one_pending()? {}
        repair(service)?;
    }
    Ok(())
}

/// A backup may hold more workspaces than its reader may know of.
fn only_seen(error: StoreError, caller: &Caller) -> StoreError {
    match error {
        StoreError::WorkspaceNotInBackup { backup, workspace, mut present } => {
            present.retain(|id| *id != workspace && caller.rights.allow_workspace(id));
            StoreError::WorkspaceNotInBackup { backup, workspace, present }
        }
        other => other,
    }
}
