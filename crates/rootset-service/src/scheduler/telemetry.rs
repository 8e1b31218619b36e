//! What the scheduler reports: events with ids, counts and policies, never with words of a memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rootset_gc::Blocked;
use rootset_model::PlanId;
use rootset_model::retention::fields::ShownPolicy;
use serde::Serialize;

/// Where events go. It cannot fail: whatever it does, the run goes on.
pub trait TelemetrySink: Send + Sync {
    fn emit(&self, event: &Event);
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Tombstone(Tombstone),
    Blocked(BlockedPlan),
}

/// Memories of one source and repository that the policies no longer keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tombstone {
    pub workspace_id: String,
    pub source: String,
    pub repo: Option<String>,
    /// Living ones, before anything was trashed.
    pub memories_total: i64,
    pub chunks_total: i64,
    /// Chunks of memories that went to the trash.
    pub chunks_deleted: i64,
    pub detail: TombstoneDetail,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TombstoneDetail {
    pub expired: i64,
    pub evaluated: i64,
    pub unclassifiable: i64,
    pub deleted: i64,
    pub retention: ShownPolicy,
    pub auto_delete: bool,
    pub defrag_recommended: bool,
}

/// A plan that is over a limit: nothing was trashed, and the plan waits for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockedPlan {
    pub workspace_id: String,
    pub plan_id: PlanId,
    pub blocked: Vec<Blocked>,
}

/// Events as log lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogSink;

impl TelemetrySink for LogSink {
    fn emit(&self, event: &Event) {
        match event {
            Event::Tombstone(it) => {
                let detail = serde_json::to_string(&it.detail).unwrap_or_default();
                tracing::info!(
                    target: "rootset::gc",
                    workspace_id = it.workspace_id,
                    source = it.source,
                    repo = it.repo,
                    memories_total = it.memories_total,
                    chunks_total = it.chunks_total,
                    chunks_deleted = it.chunks_deleted,
                    detail,
                    "tombstone"
                );
            }
            Event::Blocked(it) => {
                let blocked = serde_json::to_string(&it.blocked).unwrap_or_default();
                tracing::warn!(
                    target: "rootset::gc",
                    workspace_id = it.workspace_id,
                    plan_id = %it.plan_id,
                    blocked,
                    "blocked: the plan exceeds a limit, nothing was trashed; `rootset gc apply {} --allow-large` applies it", it.plan_id
                );
            }
        }
    }
}

/// A sink that panics loses its event and nothing else.
pub(super) fn emit(sink: &Arc<dyn TelemetrySink>, event: &Event) {
    if catch_unwind(AssertUnwindSafe(|| sink.emit(event))).is_err() {
        tracing::error!(target: "rootset::gc", "an event was lost: its sink panicked");
    }
}
