//! The collector's protocol: a plan, its review, applying it, undoing and purging it, and why something is kept.

use std::collections::BTreeMap;

use rootset_gc::{Blocked, Skip, StrategyChoice};
use rootset_model::plan::ItemKind;
use rootset_model::{Channel, Counts, DrainId, MemoryId, PinnedBy, PlanId, RunId, Timestamp, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::backup::{HoldingBackup, RewrittenBackupAnswer};
use crate::counts::{PlannedCounts, ReclaimedCounts, RestoredCounts, TrashedCounts};

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! collector_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        PruneMemory => PruneAnswer {
            name: "prune_memory",
            effect: Destroy,
            is: [in_workspace],
            needs_person: [|it| allow_large Large if it.allow_large == Some(true) && it.dry_run == Some(false)],
            brief: BriefPrune,
            profiles: [Core, Code, Admin],
            example: {"strategy": "expired", "dry_run": true},
        }
        GcPlan => PlanAnswer {
            name: "gc_plan",
            effect: Write,
            is: [in_workspace],
            brief: BriefPlan,
            profiles: [Admin],
            example: {"strategies": ["stale_code", "expired"]},
        }
        GetPlan => PlanAnswer {
            name: "get_plan",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefPlan,
            profiles: [Admin],
            example: {"plan_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11", "limit": 50},
        }
        GcApply => AppliedPlan {
            name: "gc_apply",
            effect: Destroy,
            is: [idempotent, in_workspace],
            needs_person: [|it| allow_large Large if it.allow_large == Some(true)],
            brief: BriefApplied,
            profiles: [Core, Code, Admin],
            example: {"plan_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11", "exclude": ["deploys"]},
        }
        GcUndo => UndoAnswer {
            name: "gc_undo",
            effect: Write,
            is: [in_workspace],
            brief: BriefUndo,
            profiles: [Core, Code, Admin],
            example: {"run_id": "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11"},
        }
        GcPurge => PurgeAnswer {
            name: "gc_purge",
            effect: Purge,
            is: [idempotent, in_workspace],
            needs_person: [always Permanent],
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

/// Find garbage with the chosen strategies and return a plan to review. Nothing is removed before `gc_apply`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcPlan {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The kinds of garbage to find.
    pub strategies: Vec<StrategyChoice>,
}

/// Preview garbage; `dry_run: false` and `confirm: true` move it to the trash.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PruneMemory {
    /// The workspace to prune; default: the current one.
    pub workspace_id: Option<String>,
    /// Only preview (true).
    pub dry_run: Option<bool>,
    pub confirm: Option<bool>,
    /// Default: `stale_code`.
    pub strategy: Option<StrategyChoice>,
    /// An earlier preview's plan.
    #[schemars(extend("x-rare" = true))]
    pub plan_id: Option<String>,
    /// Names or ids to keep.
    #[schemars(extend("x-rare" = true))]
    pub exclude: Option<Vec<String>>,
    /// Apply even if a limit is exceeded.
    #[schemars(extend("x-rare" = true))]
    pub allow_large: Option<bool>,
    /// Create a verified backup before anything is removed (false).
    #[schemars(extend("x-rare" = true))]
    pub backup: Option<bool>,
}

/// The plan of a preview, or the outcome of applying it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PruneAnswer {
    #[serde(flatten)]
    pub plan: Option<PlanAnswer>,
    #[serde(flatten)]
    pub applied: Option<AppliedPlan>,
    pub message: String,
}

/// Read a stored plan and page through its items.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetPlan {
    /// The workspace of the plan; default: the current one.
    pub workspace_id: Option<String>,
    /// The id of the plan.
    pub plan_id: String,
    /// The number of items to skip (0).
    pub offset: Option<i64>,
    /// The number of items to show (50, at most 100).
    pub limit: Option<i64>,
}

/// Apply a reviewed plan: exactly its items, except those that changed since.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcApply {
    /// The workspace the plan belongs to; default: the current one.
    pub workspace_id: Option<String>,
    pub plan_id: String,
    /// Names or ids to keep.
    #[schemars(extend("x-rare" = true))]
    pub exclude: Option<Vec<String>>,
    /// By id or name, where the preview's action is not wanted.
    pub actions: Option<BTreeMap<String, ItemAction>>,
    /// Apply even if a limit is exceeded.
    #[schemars(extend("x-rare" = true))]
    pub allow_large: Option<bool>,
    /// Create a verified backup first (false); not possible for an erasure.
    #[schemars(extend("x-rare" = true))]
    pub backup: Option<bool>,
    /// For a plan that erases for good.
    pub confirm: Option<bool>,
    /// For an erasure: also rewrite the backups in the backup folder without the erased rows (false). Needs the scope `admin`
    /// over the whole database.
    #[schemars(extend("x-rare" = true))]
    pub rewrite_backups: Option<bool>,
    /// For an erasure: return a signed receipt, which can be checked without the database (false).
    #[schemars(extend("x-rare" = true))]
    pub receipt: Option<bool>,
}

/// What a reviewer wants done with an item of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemAction {
    Remove,
    /// Remove the sentences that match and keep the others.
    Redact,
    Keep,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AppliedPlan {
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    #[schemars(with = "TrashedCounts")]
    pub trashed: Counts,
    /// The number of derived rows that belonged to no memory, removed permanently.
    #[schemars(with = "Option<ReclaimedCounts>")]
    pub reclaimed: Option<Counts>,
    pub skipped: SkippedAnswer,
    /// When undo stops being possible; absent if nothing can be undone.
    pub undo_until: Option<Timestamp>,
    /// Set if the run was undone later.
    pub undone: Option<bool>,
    /// Set if the time limit or a failure stopped the run; apply the plan again to continue.
    pub unfinished: Option<bool>,
    /// The proof of an erasure.
    pub receipt: Option<ReceiptAnswer>,
    /// The outcome in each workspace of a joint plan.
    pub parts: Option<Vec<AppliedPart>>,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}

/// What a joint plan did in one workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AppliedPart {
    pub workspace_id: String,
    /// The run in that workspace; absent if nothing was applied there.
    pub run_id: Option<RunId>,
    #[schemars(with = "Option<TrashedCounts>")]
    pub trashed: Option<Counts>,
    /// The number of items left alone.
    pub skipped: Option<i64>,
    /// Set if the run stopped before its end.
    pub unfinished: Option<bool>,
    /// Why nothing was applied in this workspace. Apply the joint plan again to retry.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedAnswer {
    pub count: i64,
    /// The first twenty items.
    pub first: Vec<SkippedItem>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedItem {
    pub id: String,
    pub reason: Skip,
}

/// Undo a removal, or restore one memory. Without arguments: list what can be undone.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcUndo {
    /// The workspace, which may itself be in the trash; default: the current one.
    pub workspace_id: Option<String>,
    /// The run to undo, or a joint plan.
    pub run_id: Option<String>,
    /// The drain to undo with all its rounds, and to stop.
    #[schemars(extend("x-rare" = true))]
    pub drain_id: Option<String>,
    /// The memory to restore, by former name or id.
    pub memory_id: Option<String>,
    /// List only what took memories with these words.
    pub query: Option<String>,
    /// Without an id: `segment` lists stashes instead of deletions.
    #[schemars(extend("x-rare" = true))]
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
    #[schemars(with = "Option<RestoredCounts>")]
    pub restored: Option<Counts>,
    /// The items that could not be restored, with the reason.
    pub conflicts: Option<Vec<ConflictAnswer>>,
    /// The runs that can be undone, newest first.
    pub runs: Option<Vec<RunAnswer>>,
    /// The outcome in each workspace of a joint plan.
    pub parts: Option<Vec<UndonePart>>,
    /// Set if a failure stopped the undo; undo the run again to continue.
    pub unfinished: Option<bool>,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}

/// What the undo of a joint plan did in one workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UndonePart {
    pub workspace_id: String,
    #[schemars(with = "Option<RestoredCounts>")]
    pub restored: Option<Counts>,
    /// Why nothing was undone in this workspace.
    pub problem: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConflictAnswer {
    pub id: String,
    /// Why: `name_taken`, `content_taken`, `path_taken` (the file was indexed again) or `changed` (a redacted memory has another
    /// text now).
    pub reason: String,
    /// The living memory that has the name, content or path now.
    pub by: Option<MemoryId>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunAnswer {
    pub run_id: RunId,
    pub operation: String,
    /// The names of what it took, at most five.
    pub names: Option<Vec<String>>,
    pub actor: String,
    pub at: Timestamp,
    #[schemars(with = "TrashedCounts")]
    pub trashed: Counts,
    pub undo_until: Option<Timestamp>,
    /// The drain that it is a round of.
    pub drain_id: Option<DrainId>,
}

/// Remove trash permanently: that of one run, or everything older than a given age.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcPurge {
    /// The workspace, which may itself be in the trash; default: the current one.
    pub workspace_id: Option<String>,
    /// The run whose trash to remove.
    pub run_id: Option<String>,
    /// The least age in the trash: `7d`, `24h`, or milliseconds.
    pub older_than: Option<Value>,
    /// Must be true: purged items cannot be restored.
    pub confirm: Option<bool>,
    /// What was shown when this purge was to be confirmed (`details.next`). If the trash has changed since, nothing is purged.
    pub set: Option<String>,
    /// Also rewrite the backups in the backup folder without the purged rows (false). Needs the scope `admin` over the whole
    /// database.
    pub rewrite_backups: Option<bool>,
    /// Return a signed receipt, which can be checked without the database (false).
    pub receipt: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurgeAnswer {
    /// The number of rows removed, by kind.
    pub purged: Counts,
    /// The number of bytes of text removed.
    pub bytes_freed: i64,
    /// False while a reader still uses the old log, which is emptied later, or by purging again.
    pub wal_clean: bool,
    /// Set if a failure stopped the purge; purge again to continue.
    pub unfinished: Option<bool>,
    pub receipt: ReceiptAnswer,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}

/// Explain why a memory, entity, relation, chunk, context segment or session is alive, or why not.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcExplain {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id to explain, or a memory's name.
    pub id: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExplainAnswer {
    /// The kind: `memory`, `entity`, `relation`, `chunk`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    pub alive: bool,
    /// The reason, in words.
    pub reason: String,
    /// The path from the root that keeps it to the object itself.
    pub path: Vec<String>,
    /// Of a memory: how it came in.
    pub channel: Option<Channel>,
    /// Of a memory: who answers for its text.
    pub trust: Option<Trust>,
    /// Of a pinned memory: for whom it is pinned, `person` or `agent`.
    pub pinned_by: Option<PinnedBy>,
}

/// A plan to review.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanAnswer {
    pub plan_id: PlanId,
    /// The fingerprint of the items.
    pub digest: String,
    /// When the plan expires.
    pub expires_at: Timestamp,
    pub totals: Totals,
    /// The share of the workspace's memories that the plan holds.
    pub fraction: f64,
    /// The items, newest first.
    pub items: Vec<PlanItemAnswer>,
    /// What may be meant, too. It is kept unless `gc_apply` is given an action for it.
    pub maybe: Option<Vec<PlanItemAnswer>>,
    /// The number of items; `get_plan` pages through them.
    pub items_total: i64,
    /// Whether applying the plan removes permanently.
    pub purge: bool,
    /// The limits that prevent applying the plan.
    pub blocked: Vec<Blocked>,
    /// What was found in each workspace, if this is a joint plan. `fraction` is then the largest of theirs.
    pub parts: Option<Vec<PlanPart>>,
}

/// What a joint plan holds of one workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanPart {
    pub workspace_id: String,
    /// The plan in that workspace; absent if pins keep everything that matched.
    pub plan_id: Option<PlanId>,
    /// The number of matches.
    pub matched: usize,
    /// The number of matches in the plan.
    pub in_plan: usize,
    /// The number of matches that are kept because they are pinned.
    pub kept_pinned: usize,
    /// The limits that prevent applying the plan there.
    pub blocked: Vec<Blocked>,
}

/// What the plan would remove.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// By kind, and bytes of text.
    #[serde(flatten)]
    #[schemars(with = "PlannedCounts")]
    pub counts: Counts,
    /// The number of derived rows that belong to no memory, removed permanently.
    #[schemars(with = "Option<ReclaimedCounts>")]
    pub reclaim: Option<Counts>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanItemAnswer {
    /// The kind of the item: a root, such as `memory`, `revision`, `entity`, `relation`, `workspace`, `segment` or `session`;
    /// or a derived row without a root, such as `chunk`, which can only be reclaimed. Derived rows that follow their roots
    /// are only counted.
    #[schemars(with = "String")]
    pub kind: ItemKind,
    /// The workspace of the item, if the plan is a joint one.
    pub workspace_id: Option<String>,
    /// The id of the item; for a revision, the memory's id, `@` and the number.
    pub id: String,
    /// The name of the item; for a segment its segment_id, for a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, type of an entity, or session_id of a segment.
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub created_at: Option<Timestamp>,
    /// The number of lines of an indexed file.
    pub lines: Option<i64>,
    pub chunk_count: Option<i64>,
    /// What applying does: `trash`, `erase`, `reclaim`, `stash`, or `redact`: some sentences go and the others stay.
    pub action: String,
    /// The reason, in words.
    pub reason: String,
    /// The words that matched.
    pub matched_words: Option<Vec<String>>,
    /// What else a memory says: what would stay of it if it is redacted.
    pub rest: Option<String>,
    /// Set if the memory can be redacted.
    pub can_redact: Option<bool>,
}

/// Proof of an erasure.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptAnswer {
    pub erasure_id: String,
    /// The number of rows removed, by kind.
    pub rows: Counts,
    /// The result: `clean`, `found` if part of the text is still in the files (another memory may hold the same words), or
    /// `not_run`.
    pub byte_scan: String,
    /// The earlier backups that may still hold the text, and when they may be removed.
    pub backups: Vec<HoldingBackup>,
    /// Why the erasure is not noted beside the backups. Until the next backup notes it, a restore of an older one into a new
    /// database would bring the text back.
    pub ledger_problem: Option<String>,
    /// On a server: the places beyond our reach that may still hold the text, and until when.
    pub left_to_operator: Option<Vec<String>>,
    /// What became of each backup, if they were to be rewritten. Those that no longer hold the text are not in `backups`.
    pub rewritten: Option<Vec<RewrittenBackupAnswer>>,
    /// The signed receipt, if it was asked for: the exact text of the file that `rootset receipt verify` reads.
    pub signed: Option<String>,
}
