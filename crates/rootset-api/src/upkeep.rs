//! Looking after the collector: what there is, what is in the trash, who did what, and how long things are kept.

use rootset_gc::PolicyOrigin;
use rootset_model::retention::fields::{ShownPolicy, Written};
use rootset_model::{DurationMs, PlanId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::collector::RunAnswer;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! upkeep_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GcStatus => StatusAnswer {
            name: "gc_status",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {},
        }
        ListTrash => TrashList {
            name: "list_trash",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"limit": 20},
        }
        ListAudit => AuditList {
            name: "list_audit",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"operation": "delete_memory", "limit": 20},
        }
        SetRetention => RetentionSet {
            name: "set_retention",
            effect: Admin,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"source": "agent", "max_count": 1000},
        }
        GetRetention => RetentionAnswer {
            name: "get_retention",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"source": "agent"},
        }
    } };
}

/// How the heap is: what lives, what is in the trash, what the last runs did, and what a defragmentation would win back.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcStatus {
    /// Workspace to look at; absent: the current one.
    pub workspace_id: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    pub workspace_id: String,
    pub live: LiveCounts,
    pub trash: TrashCounts,
    /// Newest first.
    pub last_runs: Vec<RunAnswer>,
    /// Chunks purged since the last defragmentation as a share of those and the present ones, over all workspaces; shown
    /// to those who may see all of them.
    pub dead_fraction: Option<f64>,
    pub defrag_recommended: Option<bool>,
    /// Memories whose time of ingestion is missing or in the future: retention never takes them.
    pub unclassifiable: i64,
    pub disk: DiskAnswer,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LiveCounts {
    pub memories: i64,
    pub pinned: i64,
    /// Superseded, expired or stale: live, but no longer served by searches.
    pub out_of_search: i64,
    pub sessions: i64,
    /// In those sessions, stashed ones included.
    pub segments: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrashCounts {
    pub memories: i64,
    pub sessions: i64,
    /// Those of a trashed session are not counted again.
    pub segments: i64,
    /// The longest in the trash.
    pub oldest_at: Option<Timestamp>,
}

/// Bytes; all but `trash` are of the whole database, and shown to those who may see all of it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DiskAnswer {
    pub db: Option<i64>,
    pub wal: Option<i64>,
    /// Text in the workspace's trash.
    pub trash: i64,
    /// Free pages inside the file.
    pub reclaimable: Option<i64>,
    /// Left on the disk, where that can be told.
    pub free: Option<i64>,
}

/// List what is in the trash, newest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTrash {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    pub workspace_id: Option<String>,
    /// How many to skip (0).
    pub offset: Option<i64>,
    /// How many to show (50, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrashList {
    pub items: Vec<TrashItem>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrashItem {
    /// `memory`, `revision`, `entity`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    /// Of a segment its segment_id, of a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, the type of an entity, the session_id of a segment.
    pub topic: Option<String>,
    pub trashed_at: Timestamp,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

/// List the audit trail, newest first: who removed, restored or changed how much, and when. Never with which words.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListAudit {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    pub workspace_id: Option<String>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    /// Only before this time.
    pub until: Option<Timestamp>,
    /// Only of this operation.
    pub operation: Option<String>,
    /// The trail of the database itself (backups, restores, defragmentations) instead of a workspace's.
    pub database: Option<bool>,
    /// How many to skip (0).
    pub offset: Option<i64>,
    /// How many to show (50, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditList {
    pub entries: Vec<AuditAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditAnswer {
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub operation: String,
    /// Absent for the database's own trail.
    pub workspace_id: Option<String>,
    /// Numbers by kind.
    pub counts: Value,
    pub plan_id: Option<PlanId>,
    pub run_id: Option<RunId>,
}

/// Replace the retention policy of the workspace, of one source or of one repository, and tell what it would expire now.
/// Nothing is removed: a policy only makes plans.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SetRetention {
    /// Workspace of the policy; absent: the current one.
    pub workspace_id: Option<String>,
    /// Only for memories of this source.
    pub source: Option<String>,
    /// Only for files of this repository.
    pub repo: Option<String>,
    /// Expire what is older: `90d`, `24h`, or milliseconds.
    #[schemars(with = "Option<DurationMs>")]
    pub max_age: Option<Written>,
    /// Expire all but so many newest of each source and repository.
    #[schemars(with = "Option<i64>")]
    pub max_count: Option<Written>,
    /// Expire what is so many source versions behind the newest.
    #[schemars(with = "Option<i64>")]
    pub max_version_gap: Option<Written>,
    /// Keep so many newest in any case (0).
    #[schemars(with = "Option<i64>")]
    pub min_keep: Option<Written>,
    /// Keep what is younger in any case (0).
    #[schemars(with = "Option<DurationMs>")]
    pub keep_within: Option<Written>,
    /// What age is counted from: `ingested_at` (default) or `last_used_at`.
    #[schemars(with = "Option<String>")]
    pub basis: Option<Written>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetentionSet {
    pub policy: ShownPolicy,
    /// What was in force for the same target before.
    pub replaces: ShownPolicy,
    pub would_expire: WouldExpire,
}

/// What all policies of the workspace together would expire now.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WouldExpire {
    pub memories: i64,
    /// Of the workspace's living memories.
    pub fraction: f64,
    /// How many of them were used in the last 30 days.
    pub recently_used: i64,
}

/// Show the retention policy in force, and where it comes from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetRetention {
    /// Workspace of the policy; absent: the current one.
    pub workspace_id: Option<String>,
    /// In force for memories of this source.
    pub source: Option<String>,
    /// In force for files of this repository.
    pub repo: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetentionAnswer {
    pub policy: ShownPolicy,
    /// The nearest that has one: `repo`, `source`, `workspace` or `configuration`.
    pub origin: PolicyOrigin,
}
