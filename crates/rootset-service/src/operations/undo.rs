//! `gc_undo`.

use std::sync::Arc;

use rootset_api::{ConflictAnswer, ErrorCode, GcUndo, ListedKind, RunAnswer, UndoAnswer};
use rootset_model::limits::RUNS_SHOWN;
use rootset_model::{PlanId, RunId};
use rootset_store::{RunView, Undone, Workspace};

use super::joint;
use super::plan::trashed_answer;
use super::purge::said;
use super::undoable;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{parse_drain_id, parse_run_id};
use crate::operation::Operation;
use crate::service::Service;

pub fn run_answer(run: RunView) -> RunAnswer {
    RunAnswer {
        run_id: run.id,
        operation: run.operation,
        names: None,
        actor: run.actor,
        at: run.started_at,
        trashed: trashed_answer(&run.counts.taken),
        undo_until: run.undo_until,
        drain_id: run.drain,
    }
}

impl Operation for GcUndo {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<UndoAnswer, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let stamp = service.stamp(caller);
        let is_named = self.run_id.is_some() || self.drain_id.is_some() || self.memory_id.is_some();
        if let Some(query) = self.query.as_deref().filter(|query| !query.trim().is_empty()) {
            if is_named {
                return Err(ServiceError::invalid("give either `query` or what to undo, not both"));
            }
            return Ok(listed(undoable::with_words(query, service, &workspace)?));
        }
        match (&self.run_id, &self.drain_id, &self.memory_id) {
            (Some(run), None, None) => {
                let run = parse_run_id(run)?;
                match service.undo_run(&workspace, run, stamp) {
                    Err(error) if error.code == ErrorCode::NotFound => {
                        match joint::find(service, caller, PlanId(run.0))? {
                            Some(joint) => joint::undo(&joint, service, caller),
                            None => undo_in_personal(service, caller, self.workspace_id.as_deref(), run, error),
                        }
                    }
                    undone => Ok(answer(undone?)),
                }
            }
            (None, Some(drain), None) => {
                let drain = parse_drain_id(drain)?;
                let undone = service.store.undo_drain(&workspace, drain, stamp)?;
                service.note_stopped(&workspace, drain, undone.restored.get("memories"))?;
                Ok(answer(undone))
            }
            (None, None, Some(memory)) => Ok(answer(service.store.undo_memory(&workspace, memory, stamp)?)),
            (None, None, None) => nothing_named(service, caller, &workspace, self.kind),
            _ => Err(ServiceError::invalid("give only one of `run_id`, `drain_id` and `memory_id`")),
        }
    }
}

/// The run may be one of personal memory, where no workspace was named.
fn undo_in_personal(
    service: &Service,
    caller: &Caller,
    workspace_id: Option<&str>,
    run: RunId,
    error: ServiceError,
) -> Result<UndoAnswer, ServiceError> {
    let personal = if workspace_id.is_none_or(str::is_empty) { service.personal(caller)? } else { None };
    let undone = personal.map(|personal| service.undo_run(&personal, run, service.stamp(caller)));
    match undone {
        Some(Err(other)) if other.code != ErrorCode::NotFound => Err(other),
        None | Some(Err(_)) => Err(error),
        Some(Ok(undone)) => Ok(answer(undone)),
    }
}

/// A trashed workspace named by itself is undone: there is nothing else to mean.
fn nothing_named(
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    kind: Option<ListedKind>,
) -> Result<UndoAnswer, ServiceError> {
    if let Some((run, _)) = workspace.trashed {
        return Ok(answer(service.undo_run(workspace, run, service.stamp(caller))?));
    }
    let runs = match kind {
        // A run that took nothing is none that can be undone.
        None => {
            let mut runs = service.store.undoable_runs(workspace, RUNS_SHOWN)?;
            runs.retain(|run| !run.counts.taken.is_nothing());
            runs
        }
        Some(ListedKind::Segment) => service.store.stashing_runs(workspace, RUNS_SHOWN)?,
    };
    Ok(listed(undoable::with_names(runs, service, workspace)?))
}

fn listed(runs: Vec<RunAnswer>) -> UndoAnswer {
    let runs = Some(runs);
    UndoAnswer { restored: None, conflicts: None, runs, parts: None, unfinished: None, warnings: None }
}

fn answer(undone: Undone) -> UndoAnswer {
    UndoAnswer {
        restored: Some(undone.restored.naming(&["memories"])),
        conflicts: Some(
            undone
                .conflicts
                .into_iter()
                .map(|it| ConflictAnswer { id: it.id, reason: it.reason.to_owned(), by: it.by })
                .collect(),
        ),
        runs: None,
        parts: None,
        unfinished: undone.is_unfinished.then_some(true),
        warnings: said(undone.warnings),
    }
}
