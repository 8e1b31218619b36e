//! `gc_undo`.

use std::sync::Arc;

use rootset_model::limits::RUNS_SHOWN;
use rootset_model::{MemoryId, RunId, Timestamp};
use rootset_store::{RunView, Undone, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{Trashed, parse_run_id};

/// Undo a run, or bring one memory back from the trash. With neither: what can be undone, changing nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcUndo {
    /// Workspace it was in, also one that is in the trash itself; absent: the current one.
    workspace_id: Option<String>,
    /// The run to undo.
    run_id: Option<String>,
    /// One memory, by id or by the name it had.
    memory_id: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct UndoAnswer {
    pub restored: Option<Restored>,
    /// What could not come back, item by item.
    pub conflicts: Option<Vec<ConflictAnswer>>,
    /// Runs that can be undone, newest first.
    pub runs: Option<Vec<RunAnswer>>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConflictAnswer {
    pub id: String,
    /// `name_taken`, `content_taken` or `path_taken` (the file was indexed again).
    pub reason: String,
    /// The living memory in the way.
    pub by: Option<MemoryId>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
    pub run_id: RunId,
    pub operation: String,
    pub actor: String,
    pub at: Timestamp,
    pub trashed: Trashed,
    pub undo_until: Option<Timestamp>,
}

impl From<RunView> for RunAnswer {
    fn from(run: RunView) -> Self {
        Self {
            run_id: run.id,
            operation: run.operation,
            actor: run.actor,
            at: run.started_at,
            trashed: run.counts.into(),
            undo_until: run.undo_until,
        }
    }
}

impl Operation for GcUndo {
    const NAME: &'static str = "gc_undo";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = false;
    type Response = UndoAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<UndoAnswer, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        match (&self.run_id, &self.memory_id) {
            (Some(_), Some(_)) => Err(ServiceError::invalid("`run_id` and `memory_id` are given; one is enough")),
            (Some(run), None) => {
                Ok(answer(service.store.undo_run(&workspace, parse_run_id(run)?, service.stamp(caller))?))
            }
            (None, Some(memory)) => Ok(answer(service.store.undo_memory(&workspace, memory, service.stamp(caller))?)),
            (None, None) => nothing_named(service, caller, &workspace),
        }
    }
}

/// A trashed workspace named by itself is undone: there is nothing else to mean.
fn nothing_named(service: &Service, caller: &Caller, workspace: &Workspace) -> Result<UndoAnswer, ServiceError> {
    if let Some((run, _)) = workspace.trashed {
        return Ok(answer(service.store.undo_run(workspace, run, service.stamp(caller))?));
    }
    let runs = service.store.undoable_runs(workspace, RUNS_SHOWN)?;
    Ok(UndoAnswer { restored: None, conflicts: None, runs: Some(runs.into_iter().map(Into::into).collect()) })
}

fn answer(undone: Undone) -> UndoAnswer {
    let some = |count: i64| (count > 0).then_some(count);
    UndoAnswer {
        restored: Some(Restored {
            memories: undone.memories,
            revisions: some(undone.revisions),
            untracked: some(undone.untracked),
            segments: some(undone.segments),
            sessions: some(undone.sessions),
            workspaces: some(undone.workspaces),
            removed: some(undone.removed),
        }),
        conflicts: Some(
            undone
                .conflicts
                .into_iter()
                .map(|it| ConflictAnswer { id: it.id, reason: it.reason.to_owned(), by: it.by })
                .collect(),
        ),
        runs: None,
    }
}
