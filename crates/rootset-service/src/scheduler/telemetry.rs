//! What the scheduler reports: events with ids, counts and policies, never with words of a memory.
//!
//! Every event is a line of the log, an entry of the audit trail, and on its way to whoever wants to hear of it
//! (`rootset-store/src/events.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rootset_gc::Blocked;
use rootset_model::retention::fields::ShownPolicy;
use rootset_model::{Counts, DrainId, PlanId, RunId, Timestamp};
use rootset_store::EventNote;
use serde::Serialize;

/// Where events go beside the audit trail. It cannot fail: whatever it does, the run goes on.
pub trait TelemetrySink: Send + Sync {
    fn emit(&self, event: &Event);
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Tombstone(Tombstone),
    Blocked(BlockedPlan),
    Drain(DrainEvent),
    Failed(FailedWorkspace),
    Clock(ClockEvent),
    Removals(RemovalsByAgents),
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

/// A step of a drain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrainEvent {
    pub workspace_id: String,
    pub drain_id: DrainId,
    pub source: String,
    pub step: DrainStep,
    /// Memories of the source that are garbage, and living ones.
    pub garbage: i64,
    pub total: i64,
    /// Memories that this step took.
    pub taken: i64,
    /// When an announced drain begins.
    pub begins_at: Option<Timestamp>,
    pub run_id: Option<RunId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DrainStep {
    Announced,
    Began,
    /// A round took its slice.
    Round,
    Ended,
    /// What was announced is no longer called for.
    Withdrawn,
}

/// A workspace in which a round failed; the reason is in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailedWorkspace {
    pub workspace_id: String,
    pub code: String,
}

/// The clock came into doubt, or is believed again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockEvent {
    pub is_in_doubt: bool,
    pub in_words: String,
}

/// Memories that agents removed: the first undo ends soon.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RemovalsByAgents {
    pub workspace_id: String,
    /// All that can still be undone.
    pub count: i64,
    pub undo_until: Timestamp,
    /// The run whose undo ends first.
    pub run_id: RunId,
}

impl DrainStep {
    fn kind(self) -> &'static str {
        match self {
            Self::Announced => "drain_announced",
            Self::Began => "drain_began",
            Self::Round => "drain_round",
            Self::Ended => "drain_ended",
            Self::Withdrawn => "drain_withdrawn",
        }
    }
}

impl Event {
    /// As the audit trail keeps it.
    pub(super) fn note(&self) -> EventNote {
        let mut counts = Counts::default();
        let (kind, details, run) = match self {
            Self::Tombstone(it) => {
                counts.add("expired", it.detail.expired);
                counts.add("deleted", it.detail.deleted);
                counts.add("memories", it.memories_total);
                let details = serde_json::json!({
                    "source": it.source, "repo": it.repo, "strategy": "expired", "policy": it.detail.retention,
                    "auto_delete": it.detail.auto_delete, "unclassifiable": it.detail.unclassifiable,
                });
                ("garbage_found", details, None)
            }
            Self::Blocked(it) => {
                let details = serde_json::json!({"plan_id": it.plan_id, "blocked": it.blocked});
                ("plan_blocked", details, None)
            }
            Self::Drain(it) => {
                counts.add("garbage", it.garbage);
                counts.add("memories", it.total);
                counts.add("taken", it.taken);
                let details =
                    serde_json::json!({"drain_id": it.drain_id, "source": it.source, "begins_at": it.begins_at});
                (it.step.kind(), details, it.run_id)
            }
            Self::Failed(it) => ("round_failed", serde_json::json!({"code": it.code}), None),
            Self::Clock(it) => {
                let kind = if it.is_in_doubt { "clock_in_doubt" } else { "clock_believed" };
                (kind, serde_json::json!({"in_words": it.in_words}), None)
            }
            Self::Removals(it) => {
                counts.add("memories", it.count);
                ("removals_by_agents", serde_json::json!({"undo_until": it.undo_until}), Some(it.run_id))
            }
        };
        EventNote { kind, counts, details: Some(details), run }
    }
}

/// Kinds of events, for whoever asks the audit trail for them.
pub const EVENT_KINDS: [&str; 13] = [
    "garbage_found",
    "plan_blocked",
    "drain_announced",
    "drain_began",
    "drain_round",
    "drain_ended",
    "drain_withdrawn",
    "drain_stopped",
    "round_failed",
    "clock_in_doubt",
    "clock_believed",
    "token_expiring",
    "removals_by_agents",
];

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
            Event::Drain(it) => log_drain(it),
            // The reason was logged where it happened.
            Event::Failed(_) => {}
            Event::Clock(it) => tracing::warn!(target: "rootset::gc", "{}", it.in_words),
            Event::Removals(it) => tracing::warn!(
                target: "rootset::gc", workspace_id = it.workspace_id, count = it.count, run_id = %it.run_id,
                "agents removed memories, and the first undo ends at {}; `rootset undo {}` restores them",
                it.undo_until, it.run_id
            ),
        }
    }
}

fn log_drain(it: &DrainEvent) {
    let (workspace_id, source, garbage, total) = (&it.workspace_id, &it.source, it.garbage, it.total);
    match it.step {
        DrainStep::Announced => tracing::warn!(
            target: "rootset::gc", workspace_id, source, garbage, total, drain_id = %it.drain_id,
            "announced: a drain begins at {}; change the policy to keep them, or `rootset undo --drain {}` to stop it",
            it.begins_at.map(|at| at.to_string()).unwrap_or_default(), it.drain_id
        ),
        DrainStep::Began | DrainStep::Round => tracing::info!(
            target: "rootset::gc", workspace_id, source, garbage, total, taken = it.taken, drain_id = %it.drain_id,
            "draining: `rootset undo --drain {}` takes it back", it.drain_id
        ),
        DrainStep::Ended | DrainStep::Withdrawn => tracing::info!(
            target: "rootset::gc", workspace_id, source, drain_id = %it.drain_id, step = ?it.step, "the drain is over"
        ),
    }
}

/// A sink that panics loses its event and nothing else.
pub(super) fn emit(sink: &Arc<dyn TelemetrySink>, event: &Event) {
    if catch_unwind(AssertUnwindSafe(|| sink.emit(event))).is_err() {
        tracing::error!(target: "rootset::gc", "an event was lost: its sink panicked");
    }
}
