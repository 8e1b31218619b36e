//! `gc_status`.

use std::sync::Arc;

use rootset_api::{DiskAnswer, GcStatus, LiveCounts, RemovedByAgents, StatusAnswer, TrashCounts, VectorsAnswer};
use rootset_model::limits::RUNS_SHOWN;
use rootset_store::{Removals, Workspace};

use super::undo::run_answer;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::scheduler::Waiting;
use crate::service::Service;

/// Kinds that are counted even where there are none.
const ALWAYS_NAMED: [&str; 3] = ["memories", "sessions", "segments"];

impl Operation for GcStatus {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<StatusAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let status = service.store.status(&workspace, RUNS_SHOWN, service.now())?;
        let sees_all = caller.rights.workspaces.is_none();
        let dead_fraction = status.dead.fraction();
        let threshold = service.settings.gc.defrag_threshold;
        Ok(StatusAnswer {
            workspace_id: workspace.id.clone(),
            live: LiveCounts {
                counts: status.live.naming(&ALWAYS_NAMED),
                pinned: status.pinned,
                out_of_search: status.out_of_search,
            },
            trash: TrashCounts { counts: status.trashed.naming(&ALWAYS_NAMED), oldest_at: status.oldest_trash_at },
            last_runs: status.last_runs.into_iter().map(run_answer).collect(),
            dead_fraction: sees_all.then_some(dead_fraction),
            defrag_recommended: sees_all.then(|| rootset_gc::is_defrag_recommended(dead_fraction, threshold)),
            unclassifiable: status.unclassifiable,
            waiting: Waiting::of_database(&status.clock).map(|waiting| waiting.in_words()),
            rounds: service.rounds_of(&workspace)?,
            undo_ends_soon: Some(status.undo_ends_soon.into_iter().map(run_answer).collect::<Vec<_>>())
                .filter(|runs| !runs.is_empty()),
            removed_by_agents: removed_answer(status.removed_by_agents),
            vectors: vectors_answer(service, &workspace, sees_all)?,
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

fn vectors_answer(
    service: &Service,
    workspace: &Workspace,
    sees_all: bool,
) -> Result<Option<VectorsAnswer>, ServiceError> {
    let Some(embedder) = &service.embedder else { return Ok(None) };
    let progress = service.store.vector_progress(workspace, embedder.id())?;
    Ok(Some(VectorsAnswer {
        embedder: embedder.id().to_owned(),
        chunks: progress.chunks,
        embedded: progress.embedded,
        // It may name a folder or a host, which is nothing for tenants.
        last_error: progress.last_error.filter(|_| sees_all),
    }))
}

fn removed_answer(removals: Removals) -> Option<RemovedByAgents> {
    let (undo_until, _) = removals.first?;
    Some(RemovedByAgents { count: removals.count, names: removals.names, undo_until })
}
