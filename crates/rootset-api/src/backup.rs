//! Backups, restoring them, and reclaiming disk space.

use std::collections::BTreeMap;

use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! backup_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        BackupCreate => BackupCreated {
            name: "backup_create",
            effect: Admin,
            is: [in_workspace],
            profiles: [Admin],
            example: {"format": "jsonl"},
        }
        BackupList => BackupsListed {
            name: "backup_list",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {},
        }
        BackupVerify => BackupVerified {
            name: "backup_verify",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {"backup_id": "20260101T000000Z-0a1b2c3d"},
        }
        BackupRestore => BackupRestored {
            name: "backup_restore",
            effect: Admin,
            is: [idempotent, in_workspace],
            needs_person: [always Permanent],
            profiles: [Admin],
            example: {"backup_id": "20260101T000000Z-0a1b2c3d", "confirm": true},
        }
        Defrag => DefragAnswer {
            name: "defrag",
            effect: Admin,
            is: [idempotent, database_wide],
            needs_person: [always Permanent],
            profiles: [Admin],
            example: {"confirm": true},
        }
    } };
}

/// Create a verified backup while others write: a snapshot of the database, or a bundle of JSON lines.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupCreate {
    /// The format: `snapshot` (a copy of the SQLite file; the default with SQLite), or `jsonl` (one file per table, for any
    /// later version and engine).
    pub format: Option<BackupFormat>,
    /// The only workspace to back up, with `jsonl`; default: the whole database.
    pub workspace_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackupFormat {
    Snapshot,
    Jsonl,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupCreated {
    pub backup_id: String,
    pub path: String,
    /// The number of rows in all tables.
    pub rows: i64,
    pub bytes: u64,
    /// Whether every row of the backup was read and checked; a backup that fails this is an error.
    pub verified: bool,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}

/// List the backups, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupList {}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupsListed {
    pub backups: Vec<ListedBackup>,
    pub total: usize,
    /// The backups whose manifest cannot be read; their files may still hold data.
    pub damaged: Vec<DamagedBackupAnswer>,
}

/// A backup whose manifest cannot be read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DamagedBackupAnswer {
    pub backup_id: String,
    /// When its folder last changed.
    pub changed_at: Timestamp,
    pub path: String,
    /// What is wrong with its manifest.
    pub problem: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedBackup {
    pub backup_id: String,
    pub created_at: Timestamp,
    /// The format: `snapshot` or `jsonl`.
    pub format: String,
    /// Why it was made: `requested`, `migration` (before a schema change) or `salvage`.
    pub reason: BackupReasonAnswer,
    /// The workspace, if the backup holds only one.
    pub workspace_id: Option<String>,
    pub memories: i64,
    pub rows: i64,
    pub bytes: u64,
    pub schema_version: i64,
    pub path: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackupReasonAnswer {
    Requested,
    Migration,
    Salvage,
}

impl BackupReasonAnswer {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Migration => "migration",
            Self::Salvage => "salvage",
        }
    }
}

/// Check that a backup can be restored: its files, checksums and contents.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupVerify {
    /// The id of the backup; on the command line, also a path.
    pub backup_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupVerified {
    pub ok: bool,
    /// The problems found, in words.
    pub problems: Vec<String>,
}

/// Replace the whole database, or one workspace, with a backup. Items purged since then stay purged, also in a new
/// database.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupRestore {
    /// The id of the backup; on the command line, also a path.
    pub backup_id: String,
    /// The only workspace to restore; default: everything in the backup.
    pub workspace_id: Option<String>,
    /// The id to restore the workspace under, instead of its own.
    pub into_workspace_id: Option<String>,
    /// Restore even if the erasure ledger beside the backup is missing or damaged. What was erased after the backup may come
    /// back.
    pub without_ledger: Option<bool>,
    /// Must be true: the current contents are replaced.
    pub confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupRestored {
    /// The number of rows restored, by table.
    pub restored: BTreeMap<String, i64>,
    /// The number of memories, revisions, imported rows and workspaces that were erased after the backup and stay erased.
    pub replayed_erasures: i64,
    /// The number of items that someone had removed and whose grace period was over: they are in the trash, with a new
    /// grace period.
    pub trashed_again: i64,
    /// The workspaces that were restored.
    pub workspaces: Vec<String>,
    /// The workspaces created after the backup, which restoring the whole database removes.
    pub workspaces_removed: Vec<String>,
    /// What else to know about it, also what went wrong afterwards; absent if there is nothing.
    pub warnings: Option<Vec<String>>,
}

/// Rebuild the database to reclaim the space of purged items. Writers wait until it is done; readers continue.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Defrag {
    /// Must be true: nothing can be written until it is done.
    pub confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DefragAnswer {
    /// The size of the database with its log before.
    pub bytes_before: i64,
    pub bytes_after: i64,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}

/// A backup made before an erasure, which may still hold the erased text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HoldingBackup {
    pub backup_id: String,
    /// When the backup may be removed, if enough newer backups verify.
    pub expires_at: Timestamp,
}

/// What became of a backup that was to be rewritten without what was erased.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewrittenBackupAnswer {
    pub backup_id: String,
    /// The outcome: `rewritten`; `clean` if it held nothing of it; `removed` if nothing else was in it; `foreign` if it belongs
    /// to another database; or `failed`.
    pub outcome: String,
    /// Why it failed.
    pub problem: Option<String>,
}
