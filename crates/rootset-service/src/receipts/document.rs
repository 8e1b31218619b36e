//! What a receipt says, as it is written and read.

use rootset_model::{Counts, Timestamp};
use serde::{Deserialize, Serialize};

/// Everything that the signature covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptDocument {
    pub format: u32,
    pub issued_at: Timestamp,
    /// The caller that the audit names.
    pub issued_to: String,
    pub program: String,
    /// The engine of the database: `sqlite` or `postgres`.
    pub store: String,
    pub erasure_id: String,
    pub asked: AskedFor,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub searched: Option<SearchedLine>,
    pub erased: Vec<ErasedLine>,
    /// Workspaces in which nothing was erased because something failed.
    pub failed: Vec<FailedLine>,
    /// `clean`, `found` or `not_run`, over all workspaces.
    pub byte_scan: String,
    pub backups: Vec<BackupLine>,
    /// Places that may hold copies and that Rootset cannot reach.
    pub not_reached: Vec<String>,
    pub key: SignedBy,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedFor {
    pub operation: String,
    /// Of the whole request, under a key that never leaves the database.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keyed_hash: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchedLine {
    pub workspaces: Vec<String>,
    pub kinds: Vec<String>,
    pub kinds_left_out: Vec<String>,
}

/// What went in one workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedLine {
    pub workspace_id: String,
    pub erasure_id: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_id: Option<String>,
    /// Rows by kind.
    pub rows: Counts,
    pub byte_scan: String,
    pub left: Vec<Left>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub audit: Option<AuditLink>,
}

/// Matches that were not erased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub count: i64,
    pub reason: String,
    pub decided_by: String,
}

/// The last entry of the workspace's audit when the receipt was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLink {
    pub seq: i64,
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedLine {
    pub workspace_id: String,
    pub problem: String,
    pub decided_by: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupLine {
    pub backup_id: String,
    /// `holds` (it may), `rewritten`, `clean`, `removed`, `foreign` or `failed`.
    pub state: String,
    /// When it may be removed, if enough newer backups verify; of those that may hold it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub problem: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedBy {
    pub algorithm: String,
    /// In hexadecimal digits.
    pub public_key: String,
    pub fingerprint: String,
}
