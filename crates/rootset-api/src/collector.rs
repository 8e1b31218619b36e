//! The collector's protocol: a plan, its review, applying it, undoing and purging it, and why something is kept.

use rootset_gc::{Blocked, Skip, StrategyChoice};
use rootset_model::plan::ItemKind;
use rootset_model::{Counts, MemoryId, PlanId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::backup::HoldingBackup;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! collector_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        PruneMemory => PruneAnswer {
            name: "prune_memory",
            effect: Destroy,
            is: [in_workspace],
            profiles: [Core, Code, Admin],
            example: {"strategy": "expired", "dry_run": true},
        }
        GcPlan => PlanAnswer {
            name: "gc_plan",
            effect: Write,
            is: [in_workspace],
            profiles: [Admin],
            example: {"strategies": ["stale_code", "expired"]},
        }
        GetPlan => PlanAnswer {
            name: "get_plan",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"plan_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11", "limit": 50},
        }
        GcApply => AppliedPlan {
            name: "gc_apply",
            effect: Destroy,
            is: [idempotent, in_workspace],
            profiles: [Core, Code, Admin],
            example: {"plan_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11", "exclude": ["deploys"]},
        }
        GcUndo => UndoAnswer {
            name: "gc_undo",
            effect: Write,
            is: [in_workspace],
            profiles: [Core, Code, Admin],
            example: {"run_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11"},
        }
        GcPurge => PurgeAnswer {
            name: "gc_purge",
            effect: Purge,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"run_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11", "confirm": true},
        }
        GcExplain => ExplainAnswer {
            name: "gc_explain",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"id": "deploys"},
        }
    } };
}

/// Compute what is garbage under the chosen strategies and return a plan to review. Nothing is removed before `gc_apply`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcPlan {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    pub strategies: Vec<StrategyChoice>,
}

/// Preview garbage, or with `dry_run: false` and `confirm: true` move it to the trash. Undo with `gc_undo`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PruneMemory {
    /// Workspace to prune; absent: the current one.
    pub workspace_id: Option<String>,
    /// Only show what would go (true).
    pub dry_run: Option<bool>,
    /// Needed to remove anything.
    pub confirm: Option<bool>,
    /// What to look for (stale_code).
    pub strategy: Option<StrategyChoice>,
    /// A plan from an earlier preview, instead of a new one.
    pub plan_id: Option<String>,
    /// Ids of items to keep.
    pub exclude: Option<Vec<String>>,
    /// Apply although a limit is exceeded.
    pub allow_large: Option<bool>,
}

/// The plan when it was a preview, the outcome when it was applied.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PruneAnswer {
    #[serde(flatten)]
    pub plan: Option<PlanAnswer>,
    #[serde(flatten)]
    pub applied: Option<AppliedPlan>,
    pub message: String,
}

/// Read a stored plan, its items page by page.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetPlan {
    /// Workspace it belongs to; absent: the current one.
    pub workspace_id: Option<String>,
    pub plan_id: String,
    /// How many items to skip (0).
    pub offset: Option<i64>,
    /// How many items to show (50, at most 100).
    pub limit: Option<i64>,
}

/// Apply a reviewed plan: exactly its items, less what changed since. Applying it again returns the first outcome.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcApply {
    /// Workspace the plan belongs to; absent: the current one.
    pub workspace_id: Option<String>,
    pub plan_id: String,
    /// Ids of items to keep.
    pub exclude: Option<Vec<String>>,
    /// Apply although a limit is exceeded.
    pub allow_large: Option<bool>,
    /// Take a verified backup first (false); not before an erasure.
    pub backup: Option<bool>,
    /// Needed for a plan that erases for good.
    pub confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AppliedPlan {
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub trashed: Trashed,
    /// Rows that nothing vouched for, removed physically.
    pub reclaimed: Option<ReclaimedAnswer>,
    pub skipped: SkippedAnswer,
    /// Until when it can be undone; absent when nothing can be.
    pub undo_until: Option<Timestamp>,
    /// Set when the run was undone since.
    pub undone: Option<bool>,
    /// Set when the time limit stopped the run: applying the plan again goes on.
    pub unfinished: Option<bool>,
    /// Proof of an erasure.
    pub receipt: Option<ReceiptAnswer>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedAnswer {
    pub count: i64,
    /// The first twenty.
    pub first: Vec<SkippedItem>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedItem {
    pub id: String,
    pub reason: Skip,
}

/// Undo a run, or bring one memory back from the trash. With neither: what can be undone, changing nothing.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcUndo {
    /// Workspace it was in, also one that is in the trash itself; absent: the current one.
    pub workspace_id: Option<String>,
    /// The run to undo.
    pub run_id: Option<String>,
    /// One memory, by id or by the name it had.
    pub memory_id: Option<String>,
    /// With neither: `segment` lists stashes instead of deletions.
    pub kind: Option<ListedKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListedKind {
    Segment,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UndoAnswer {
    pub restored: Option<Restored>,
    /// What could not come back, item by item.
    pub conflicts: Option<Vec<ConflictAnswer>>,
    /// Runs that can be undone, newest first.
    pub runs: Option<Vec<RunAnswer>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    pub memories: i64,
    pub revisions: Option<i64>,
    /// Untracked graph rows that came back.
    pub untracked: Option<i64>,
    /// Context segments that came back.
    pub segments: Option<i64>,
    /// Whole context sessions that came back.
    pub sessions: Option<i64>,
    pub workspaces: Option<i64>,
    /// Untracked graph rows that the undo of an import took out.
    pub removed: Option<i64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConflictAnswer {
    pub id: String,
    /// `name_taken`, `content_taken` or `path_taken` (the file was indexed again).
    pub reason: String,
    /// The living memory in the way.
    pub by: Option<MemoryId>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunAnswer {
    pub run_id: RunId,
    pub operation: String,
    pub actor: String,
    pub at: Timestamp,
    pub trashed: Trashed,
    pub undo_until: Option<Timestamp>,
}

/// Remove trash for good: a run's, or everything that has been in the trash for longer than a while.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcPurge {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    pub workspace_id: Option<String>,
    /// The run whose trash to remove.
    pub run_id: Option<String>,
    /// Everything trashed longer ago than this: `7d`, `24h`, or milliseconds.
    pub older_than: Option<Value>,
    /// Must be true: nothing brings purged things back.
    pub confirm: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurgeAnswer {
    /// Rows removed, by kind.
    pub purged: Counts,
    /// Bytes of text removed.
    pub bytes_freed: i64,
    /// False while a reader still holds the old log: it is emptied later by itself, or by purging again.
    pub wal_clean: bool,
    pub receipt: ReceiptAnswer,
}

/// Why something is alive, or why it is not: a memory, entity, relation, chunk, context segment or session.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcExplain {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Any id, or a memory's name.
    pub id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExplainAnswer {
    /// `memory`, `entity`, `relation`, `chunk`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    pub alive: bool,
    /// In words.
    pub reason: String,
    /// From the root that keeps it down to the thing itself.
    pub path: Vec<String>,
}

/// What a run took, by kind.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trashed {
    pub memories: i64,
    pub chunks: i64,
    /// Entities that lost their last contributor.
    pub entities: i64,
    /// Relations that lost their last contributor.
    pub relations: i64,
    /// Earlier revisions, where the run took any.
    pub revisions: Option<i64>,
    /// Context segments, where the run took any.
    pub segments: Option<i64>,
    /// Whole context sessions, where the run took any.
    pub sessions: Option<i64>,
    /// Context segments that went into the stash, where the run stashed any.
    pub stashed: Option<i64>,
}

/// Derived rows that nothing vouched for, by kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReclaimedAnswer {
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
}

/// A plan to review.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanAnswer {
    pub plan_id: PlanId,
    /// Fingerprint of the items.
    pub digest: String,
    /// Until when the plan can be applied.
    pub expires_at: Timestamp,
    pub totals: Totals,
    /// Memories in the plan as a share of the workspace's.
    pub fraction: f64,
    /// Items newest first.
    pub items: Vec<PlanItemAnswer>,
    /// How many items there are; `get_plan` pages through them.
    pub items_total: i64,
    /// Applying removes for good.
    pub purge: bool,
    /// Limits that would refuse the apply.
    pub blocked: Vec<Blocked>,
}

/// What would go.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub memories: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub bytes: i64,
    pub revisions: Option<i64>,
    pub segments: Option<i64>,
    pub sessions: Option<i64>,
    /// Rows that nothing vouches for, removed physically.
    pub reclaim: Option<ReclaimedAnswer>,
}

/// The kinds of object that a plan may name: roots, and derived rows that have none any more. Derived rows that follow
/// their roots are only counted.
#[expect(dead_code, reason = "only its schema is used")]
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PlannedKind {
    Memory,
    Revision,
    Entity,
    Relation,
    Workspace,
    /// Only ever to be reclaimed.
    Chunk,
    /// A part of an agent's context.
    Segment,
    /// A whole context.
    Session,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanItemAnswer {
    #[schemars(with = "PlannedKind")]
    pub kind: ItemKind,
    /// A revision's id is its memory's, `@` and its number.
    pub id: String,
    /// Of a segment its segment_id, of a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, the type of an entity, the session_id of a segment.
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub created_at: Option<Timestamp>,
    /// Of an indexed file.
    pub lines: Option<i64>,
    pub chunk_count: Option<i64>,
    /// `trash`, `erase`, `reclaim` or `stash`.
    pub action: String,
    /// Why, in words.
    pub reason: String,
}

/// Proof of an erasure.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptAnswer {
    pub erasure_id: String,
    /// Rows removed, by kind.
    pub rows: Counts,
    /// `clean`, `found` when a piece of the text is still in the files (another memory may hold the same words), or
    /// `not_run`.
    pub byte_scan: String,
    /// Backups from before, which may still hold it, and when they may go.
    pub backups: Vec<HoldingBackup>,
    /// On a server: what may still hold it beyond our reach, and until when.
    pub left_to_operator: Option<Vec<String>>,
}
