//! `gc_status`.

use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_model::limits::RUNS_SHOWN;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::undo::RunAnswer;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// How the heap is: what lives, what is in the trash, what the last runs did, and what a defragmentation would win back.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcStatus {
    /// Workspace to look at; absent: the current one.
    workspace_id: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
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

#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
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

impl Operation for GcStatus {
    const NAME: &'static str = "gc_status";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = StatusAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<StatusAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let status = service.store.status(&workspace, RUNS_SHOWN, service.now())?;
        let sees_all = caller.rights.workspaces.is_none();
        let dead_fraction = status.dead.fraction();
        let threshold = service.settings.gc.defrag_threshold;
        Ok(StatusAnswer {
            workspace_id: workspace.id,
            live: LiveCounts {
                memories: status.memories,
                pinned: status.pinned,
                out_of_search: status.out_of_search,
                sessions: status.sessions,
                segments: status.segments,
            },
            trash: TrashCounts {
                memories: status.trashed,
                sessions: status.trashed_sessions,
                segments: status.trashed_segments,
                oldest_at: status.oldest_trash_at,
            },
            last_runs: status.last_runs.into_iter().map(Into::into).collect(),
            dead_fraction: sees_all.then_some(dead_fraction),
            defrag_recommended: sees_all.then(|| rootset_gc::is_defrag_recommended(dead_fraction, threshold)),
            unclassifiable: status.unclassifiable,
            disk: DiskAnswer {
                db: sees_all.then_some(status.sizes.database_bytes),
                wal: sees_all.then_some(status.sizes.log_bytes),
                trash: status.trash_bytes,
                reclaimable: sees_all.then_some(status.sizes.free_bytes),
                free: status.sizes.disk_free_bytes.filter(|_| sees_all),
            },
        })
    }
}
