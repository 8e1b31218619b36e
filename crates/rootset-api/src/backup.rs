//! Backups, restoring them, and giving space back.

use std::collections::BTreeMap;

use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What is said of each, in the order of the catalogue.
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
            profiles: [Admin],
            example: {"backup_id": "20260101T000000Z-0a1b2c3d", "confirm": true},
        }
        Defrag => DefragAnswer {
            name: "defrag",
            effect: Admin,
            is: [idempotent, database_wide],
            profiles: [Admin],
            example: {"confirm": true},
        }
    } };
}

/// Make a verified backup while others write: a snapshot of the database, or a bundle of JSON lines.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupCreate {
    /// `snapshot` (a copy of the SQLite file, the default where there is one), or `jsonl` (one file per table, for any
    /// later version and engine).
    pub format: Option<BackupFormat>,
    /// Only this workspace; for `jsonl` only. Absent: the whole database.
    pub workspace_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackupFormat {
    Snapshot,
    Jsonl,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupCreated {
    pub backup_id: String,
    pub path: String,
    /// Rows of all tables together.
    pub rows: i64,
    pub bytes: u64,
    /// It was opened, checked and counted; one that does not verify is an error instead.
    pub verified: bool,
}

/// List the backups, newest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupList {}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupsListed {
    pub backups: Vec<ListedBackup>,
    pub total: usize,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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

/// Check that a backup can be restored: its files, their checksums, what is in them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupVerify {
    /// Id of the backup; on the command line also a path.
    pub backup_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BackupVerified {
    pub ok: bool,
    /// What is wrong, in words.
    pub problems: Vec<String>,
}

/// Put a backup in the place of what is there: the whole database, or one workspace. What was purged since stays purged.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BackupRestore {
    /// Id of the backup; on the command line also a path.
    pub backup_id: String,
    /// Only this workspace of the backup; absent: everything in it.
    pub workspace_id: Option<String>,
    /// Restore the workspace under this name instead of its own.
    pub into_workspace_id: Option<String>,
    /// Must be true: what is there now is replaced.
    pub confirm: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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

/// Rebuild the database without the room of what was purged. Writers wait meanwhile, readers go on.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Defrag {
    /// Must be true: nobody can write until it is done.
    pub confirm: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DefragAnswer {
    /// The database with its log.
    pub bytes_before: i64,
    pub bytes_after: i64,
}

/// A backup that was made before an erasure, and may hold what was erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HoldingBackup {
    pub backup_id: String,
    /// When it may go, if enough newer ones verify.
    pub expires_at: Timestamp,
}
