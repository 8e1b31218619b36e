//! `backup_create`, `backup_list`, `backup_verify`, `backup_restore`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_model::names::check_workspace_id;
use rootset_store::{Backup, BackupKind, BackupReason, RestoreTarget, StoreError, verify_backup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::doctor::repair;
use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::{DEFAULT_WORKSPACE, Service, unknown_to_caller};

/// Make a verified backup while others write: a snapshot of the database, or a bundle of JSON lines.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackupCreate {
    /// `snapshot` (a copy of the SQLite file, the default where there is one), or `jsonl` (one file per table, for any
    /// later version and engine).
    format: Option<Format>,
    /// Only this workspace; for `jsonl` only. Absent: the whole database.
    workspace_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    Snapshot,
    Jsonl,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupCreated {
    pub backup_id: String,
    pub path: String,
    /// Rows of all tables together.
    pub rows: i64,
    pub bytes: u64,
    /// It was opened, checked and counted; one that does not verify is an error instead.
    pub verified: bool,
}

impl Operation for BackupCreate {
    const NAME: &'static str = "backup_create";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = false;
    type Response = BackupCreated;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupCreated, ServiceError> {
        let only = self.workspace_id.as_deref().filter(|id| !id.is_empty());
        if only.is_none() {
            caller.need_whole_database(|| "a backup without `workspace_id`")?;
        }
        let workspace = only.map(|id| service.workspace_or_trashed(caller, Some(id))).transpose()?;
        let backup = match (self.format, &workspace) {
            (Some(Format::Snapshot), Some(_)) => {
                return Err(ServiceError::invalid("`workspace_id`: a snapshot is of the whole database")
                    .with_hint("the format `jsonl` can hold one workspace"));
            }
            (Some(Format::Snapshot), None) => service.create_backup(BackupKind::Snapshot, None, &caller.actor)?,
            (Some(Format::Jsonl), workspace) | (None, workspace @ Some(_)) => {
                service.create_backup(BackupKind::Jsonl, workspace.as_ref(), &caller.actor)?
            }
            (None, None) => service.create_whole_backup(&caller.actor)?,
        };
        Ok(BackupCreated {
            path: backup.path.display().to_string(),
            rows: backup.manifest.rows(),
            bytes: backup.manifest.bytes(),
            backup_id: backup.manifest.backup_id,
            verified: true,
        })
    }
}

/// List the backups, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackupList {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupsListed {
    pub backups: Vec<ListedBackup>,
    pub total: usize,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedBackup {
    pub backup_id: String,
    pub created_at: Timestamp,
    /// `snapshot` or `jsonl`.
    pub format: String,
    /// `requested`, `migration` (before a change of the schema) or `salvage`.
    pub reason: BackupReasonAnswer,
    /// Set when it holds only this workspace.
    pub workspace_id: Option<String>,
    pub memories: i64,
    pub rows: i64,
    pub bytes: u64,
    pub schema_version: i64,
    pub path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackupReasonAnswer {
    Requested,
    Migration,
    Salvage,
}

impl From<BackupReason> for BackupReasonAnswer {
    fn from(reason: BackupReason) -> Self {
        match reason {
            BackupReason::Requested => Self::Requested,
            BackupReason::Migration => Self::Migration,
            BackupReason::Salvage => Self::Salvage,
        }
    }
}

impl From<Backup> for ListedBackup {
    fn from(Backup { path, manifest }: Backup) -> Self {
        Self {
            created_at: manifest.created_at,
            format: manifest.kind.as_str().to_owned(),
            reason: manifest.reason.into(),
            memories: manifest.tables.get("memories").copied().unwrap_or(0),
            rows: manifest.rows(),
            bytes: manifest.bytes(),
            schema_version: manifest.schema_version,
            path: path.display().to_string(),
            backup_id: manifest.backup_id,
            workspace_id: manifest.workspace_id,
        }
    }
}

impl Operation for BackupList {
    const NAME: &'static str = "backup_list";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    const IS_DATABASE_WIDE: bool = true;
    type Response = BackupsListed;

    fn run(self, service: &Arc<Service>, _caller: &Caller) -> Result<BackupsListed, ServiceError> {
        let backups: Vec<ListedBackup> = service.list_backups()?.into_iter().map(Into::into).collect();
        Ok(BackupsListed { total: backups.len(), backups })
    }
}

/// Check that a backup can be restored: its files, their checksums, what is in them.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackupVerify {
    /// Id of the backup; on the command line also a path.
    backup_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupVerified {
    pub ok: bool,
    /// What is wrong, in words.
    pub problems: Vec<String>,
}

impl Operation for BackupVerify {
    const NAME: &'static str = "backup_verify";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    const IS_DATABASE_WIDE: bool = true;
    type Response = BackupVerified;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupVerified, ServiceError> {
        let problems = match service.find_backup(caller, &self.backup_id) {
            Ok(backup) => verify_backup(&backup)?,
            // A manifest that cannot be read is what this operation is there to find.
            Err(error) if error.code == ErrorCode::Conflict => vec![error.message],
            Err(error) => return Err(error),
        };
        Ok(BackupVerified { ok: problems.is_empty(), problems })
    }
}

/// Put a backup in the place of what is there: the whole database, or one workspace. What was purged since stays purged.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct BackupRestore {
    /// Id of the backup; on the command line also a path.
    backup_id: String,
    /// Only this workspace of the backup; absent: everything in it.
    workspace_id: Option<String>,
    /// Restore the workspace under this name instead of its own.
    into_workspace_id: Option<String>,
    /// Must be true: what is there now is replaced.
    confirm: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupRestored {
    /// Rows restored, by table.
    pub restored: BTreeMap<String, i64>,
    /// Memories, earlier revisions, imported rows and workspaces that were purged after the backup, and stay so.
    pub replayed_erasures: i64,
    /// The workspaces that were restored.
    pub workspaces: Vec<String>,
    /// Workspaces made after the backup, which a restore of the whole database removes.
    pub workspaces_removed: Vec<String>,
}

impl Operation for BackupRestore {
    const NAME: &'static str = "backup_restore";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = true;
    type Response = BackupRestored;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<BackupRestored, ServiceError> {
        let given = |id: &Option<String>| id.clone().filter(|id| !id.is_empty());
        let (asked, into) = (given(&self.workspace_id), given(&self.into_workspace_id));
        for (field, id) in [("workspace_id", &asked), ("into_workspace_id", &into)] {
            if let Some(id) = id {
                check_workspace_id(id).map_err(|error| ServiceError::invalid(format!("`{field}`: {error}")))?;
                caller.rights.allow_workspace(id).then_some(()).ok_or_else(|| unknown_to_caller(id))?;
            }
        }
        if asked.is_none() {
            caller.need_whole_database(|| "a restore without `workspace_id`")?;
        }
        let backup = service.find_backup(caller, &self.backup_id)?;
        let only = asked.or_else(|| backup.manifest.workspace_id.clone());
        let target = match (&only, &into) {
            (Some(id), into) => RestoreTarget::Workspace { id, into: into.as_ref().unwrap_or(id) },
            (None, None) => RestoreTarget::Database,
            (None, Some(_)) => {
                return Err(ServiceError::invalid(
                    "`into_workspace_id` needs `workspace_id`: the backup holds several",
                ));
            }
        };
        if !caller.confirms_for_good(self.confirm) {
            return Err(caller.unconfirmed_for_good(self.unconfirmed(target)));
        }
        service.flush_uses()?;
        // A copy of a snapshot is as private as the snapshot: without a folder of our own, it goes beside it.
        let beside = || backup.path.parent().map(Path::to_owned);
        let room = service.backup_folder().or_else(beside).unwrap_or_else(|| ".".into());
        let restored = service.store.restore_backup(&backup, target, &room, service.stamp(caller));
        let restored = restored.map_err(|error| only_seen(error, caller))?;
        service.store.ensure_workspace(DEFAULT_WORKSPACE, service.stamp(caller))?;
        if backup.manifest.reason == BackupReason::Salvage {
            // Salvaged memories are texts without anything derived from them.
            while service.complete_one_pending()? {}
            repair(service)?;
        }
        Ok(BackupRestored {
            restored: restored.rows.into_iter().map(|(table, count)| (table.to_owned(), count)).collect(),
            replayed_erasures: restored.replayed_erasures,
            workspaces: restored.workspaces,
            workspaces_removed: restored.workspaces_removed,
        })
    }
}

/// A backup may hold more workspaces than its reader may know of.
fn only_seen(error: StoreError, caller: &Caller) -> StoreError {
    match error {
        StoreError::WorkspaceNotInBackup { backup, workspace, mut present } => {
            present.retain(|id| caller.rights.allow_workspace(id));
            StoreError::WorkspaceNotInBackup { backup, workspace, present }
        }
        other => other,
    }
}

impl BackupRestore {
    fn unconfirmed(&self, target: RestoreTarget<'_>) -> ServiceError {
        let what = match target {
            RestoreTarget::Database => "the whole database".to_owned(),
            RestoreTarget::Workspace { into, .. } => format!("the workspace `{into}`"),
        };
        ServiceError::new(
            ErrorCode::ConfirmationRequired,
            format!("restoring replaces {what}: it needs `confirm: true`"),
        )
        .with_hint("`backup_create` keeps what is there now")
        .with_details(json!({"next": {"operation": "backup_restore", "arguments": {
            "backup_id": self.backup_id, "workspace_id": self.workspace_id,
            "into_workspace_id": self.into_workspace_id, "confirm": true,
        }}}))
    }
}
