//! Looking after the collector: what there is, what is in the trash, who did what, and how long things are kept.

mod simulation;

use rootset_gc::PolicyOrigin;
use rootset_model::retention::fields::{ShownPolicy, Written};
use rootset_model::{Counts, DrainId, DurationMs, Past, PlanId, RunId, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::collector::RunAnswer;
use crate::counts::{InTrashCounts, LivingCounts};

pub use simulation::{RetentionSimulation, SimulatedDay, SimulatedSource, SimulatedTotal};

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! upkeep_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GcStatus => StatusAnswer {
            name: "gc_status",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefStatus,
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
            needs_person: [|it| final Permanent if it.is_final == Some(Written::Flag(true)) && it.dry_run != Some(true)],
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

/// Show what is alive, what is in the trash, what the last runs did, and what a defragmentation would reclaim.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GcStatus {
    /// The workspace to look at; default: the current one.
    pub workspace_id: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatusAnswer {
    pub workspace_id: String,
    pub live: LiveCounts,
    pub trash: TrashCounts,
    /// The last runs, newest first.
    pub last_runs: Vec<RunAnswer>,
    /// The share of chunks purged since the last defragmentation, over all workspaces; shown only to callers who may
    /// see all of them.
    pub dead_fraction: Option<f64>,
    pub defrag_recommended: Option<bool>,
    /// The number of memories whose ingestion time is missing, in the future or in doubt; retention does not remove them.
    pub unclassifiable: i64,
    /// Why nothing is purged or deleted automatically at the moment: the clock jumped, or nothing ran for a while. It
    /// passes without anyone doing anything.
    pub waiting: Option<String>,
    /// What the scheduler's rounds found and did.
    pub rounds: RoundsAnswer,
    /// Runs whose undo ends within a day.
    pub undo_ends_soon: Option<Vec<RunAnswer>>,
    /// What agents moved to the trash and a person can still restore; absent if there is nothing.
    pub removed_by_agents: Option<RemovedByAgents>,
    /// How far the vectors are; absent if no embedder is configured.
    pub vectors: Option<VectorsAnswer>,
    pub disk: DiskAnswer,
}

/// Vectors are made in the background. Until a memory has its own, searches find it by its words.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VectorsAnswer {
    /// The model in use.
    pub embedder: String,
    /// The number of chunks that should have a vector; code has none.
    pub chunks: i64,
    /// The number of those that have one of this model.
    pub embedded: i64,
    /// Why the last attempt failed, while a memory still waits for the next.
    pub last_error: Option<String>,
}

/// Memories that agents removed and whose undo is not over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedByAgents {
    pub count: i64,
    /// The names of the first five, those whose undo ends soonest first.
    pub names: Vec<String>,
    /// When the first undo ends.
    pub undo_until: Timestamp,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundsAnswer {
    /// The number of memories that were garbage in the last look at this workspace, and are still there.
    pub garbage: i64,
    /// The sources whose garbage is not simply taken.
    pub sources: Option<Vec<WaitingSourceAnswer>>,
    pub last_at: Option<Timestamp>,
    /// When the next round is due; absent if the scheduler is off.
    pub next_at: Option<Timestamp>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitingSourceAnswer {
    pub source: String,
    /// `announced` (begins at `next_at`), `draining`, `blocked` (waits for a person) or `stopped` (a person undid it).
    pub state: String,
    /// The number of memories that would go.
    pub garbage: i64,
    /// The number of its living memories.
    pub total: i64,
    /// The drain, for `gc_undo`.
    pub drain_id: Option<DrainId>,
    /// The plan that waits, for `gc_apply`.
    pub plan_id: Option<PlanId>,
    /// When the drain begins or goes on.
    pub next_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LiveCounts {
    /// By kind.
    #[serde(flatten)]
    #[schemars(with = "LivingCounts")]
    pub counts: Counts,
    pub pinned: i64,
    /// The number of superseded, expired or stale memories: alive, but left out of searches.
    pub out_of_search: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TrashCounts {
    /// By kind.
    #[serde(flatten)]
    #[schemars(with = "InTrashCounts")]
    pub counts: Counts,
    /// When the oldest item was moved to the trash.
    pub oldest_at: Option<Timestamp>,
}

/// Sizes in bytes. All but `trash` are for the whole database, and shown only to callers who may see all of it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DiskAnswer {
    pub db: Option<i64>,
    pub wal: Option<i64>,
    /// The size of the text in the workspace's trash.
    pub trash: i64,
    /// The size of free pages inside the file.
    pub reclaimable: Option<i64>,
    /// The free space on the disk, if known.
    pub free: Option<i64>,
}

/// List what is in the trash, newest first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListTrash {
    /// The workspace, which may itself be in the trash; default: the current one.
    pub workspace_id: Option<String>,
    /// The number to skip (0).
    pub offset: Option<i64>,
    /// The number to show (50, at most 100).
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
    /// The kind: `memory`, `revision`, `entity`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    /// The name of the item; for a segment its segment_id, for a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, type of an entity, or session_id of a segment.
    pub topic: Option<String>,
    pub trashed_at: Timestamp,
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

/// List the audit trail, newest first: who removed, restored or changed how much, and when. It never contains stored text.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListAudit {
    /// The workspace, which may itself be in the trash; default: the current one.
    pub workspace_id: Option<String>,
    /// The earliest time to list.
    pub since: Option<Past>,
    /// The time before which to list.
    pub until: Option<Past>,
    /// The only operation to list.
    pub operation: Option<String>,
    /// The kinds of entries to list: operations, or events such as `drain_announced`; `events` stands for all of those.
    pub kinds: Option<Vec<String>>,
    /// List the trail of the database itself (backups, restores, tokens, refused requests) instead of a workspace's.
    pub database: Option<bool>,
    /// The number to skip (0).
    pub offset: Option<i64>,
    /// The number to show (50, at most 100).
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
    /// The workspace; absent in the database's own trail.
    pub workspace_id: Option<String>,
    /// The numbers of objects, by kind.
    pub counts: Value,
    pub plan_id: Option<PlanId>,
    pub run_id: Option<RunId>,
    /// The token of the request; absent on the command line.
    pub token_id: Option<TokenId>,
    /// How the request came: `cli`, `mcp` or `http`, and the address; absent for automatic work.
    pub origin: Option<String>,
    /// Strategies, policies and names, where numbers do not say enough.
    pub details: Option<serde_json::Value>,
}

/// Replace the retention policy of the workspace, a source, a repository or a tag, and show what it would expire;
/// `dry_run` only tries it. Nothing is removed: a policy only creates plans.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SetRetention {
    /// The workspace of the policy; default: the current one.
    pub workspace_id: Option<String>,
    /// The source whose memories the policy is for.
    pub source: Option<String>,
    /// The repository whose files the policy is for.
    pub repo: Option<String>,
    /// The tag whose memories the policy is for. Of several tags with a policy, the one that keeps longest decides.
    pub tag: Option<String>,
    /// Expire memories older than this: `90d`, `24h`, or milliseconds.
    #[schemars(with = "Option<DurationMs>")]
    pub max_age: Option<Written>,
    /// Expire all but this many of the newest in each source and repository.
    #[schemars(with = "Option<i64>")]
    pub max_count: Option<Written>,
    /// Expire memories this many source versions behind the newest.
    #[schemars(with = "Option<i64>")]
    pub max_version_gap: Option<Written>,
    /// Always keep this many of the newest (0).
    #[schemars(with = "Option<i64>")]
    pub min_keep: Option<Written>,
    /// Always keep memories younger than this (0).
    #[schemars(with = "Option<DurationMs>")]
    pub keep_within: Option<Written>,
    /// The time that age is measured from: `ingested_at` (default) or `last_used_at`.
    #[schemars(with = "Option<String>")]
    pub basis: Option<Written>,
    /// Let scheduled rounds take the last memory of a source as well (false).
    #[schemars(with = "Option<bool>")]
    pub may_empty: Option<Written>,
    /// A legal period: what has expired is erased when it is purged, and no restore brings it back (false).
    #[serde(rename = "final")]
    #[schemars(with = "Option<bool>")]
    pub is_final: Option<Written>,
    /// Store nothing; show what would expire on each of the coming days.
    pub dry_run: Option<bool>,
    /// How many days a dry run looks ahead, such as `365d` (`90d`, at most `3650d`).
    #[schemars(with = "Option<DurationMs>")]
    pub horizon: Option<Written>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetentionSet {
    pub policy: ShownPolicy,
    /// The policy that was in force for the same target before.
    pub replaces: ShownPolicy,
    pub would_expire: WouldExpire,
    /// With `dry_run`: what would expire on the coming days. Nothing was stored.
    pub simulation: Option<RetentionSimulation>,
}

/// What all policies of the workspace would expire now.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WouldExpire {
    pub memories: i64,
    /// The share of the workspace's living memories.
    pub fraction: f64,
    /// The number of them used in the last 30 days.
    pub recently_used: i64,
}

/// Show the retention policy in force, and where it comes from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetRetention {
    /// The workspace of the policy; default: the current one.
    pub workspace_id: Option<String>,
    /// The source to show the policy for.
    pub source: Option<String>,
    /// The repository to show the policy for.
    pub repo: Option<String>,
    /// The tag to show the policy for.
    pub tag: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RetentionAnswer {
    pub policy: ShownPolicy,
    /// Where the policy is set: `repo`, `tag`, `source`, `workspace` or `configuration`.
    pub origin: PolicyOrigin,
}
