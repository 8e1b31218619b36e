//! One workspace's part of a round. It reads and writes no other workspace's rows.

use rootset_api::ErrorCode;
use rootset_gc::strategies;
use rootset_model::PlanId;
use rootset_store::{Applied, BucketFindings, BucketTotals, Garbage, PlanView, Work, Workspace};

use super::findings::{Reported, about_bucket, digest_of};
use super::state::{self, WorkspaceNote};
use super::telemetry::{self, BlockedPlan, Event, Tombstone, TombstoneDetail};
use super::{ACTOR, LEASE_MS, Scheduler};
use crate::collecting::Review;
use crate::error::ServiceError;

/// The operation that the runs of scheduled plans are known by: what a person would have called.
const OPERATION: &str = "gc_apply";
/// Under which name the set of a blocked plan is noted; no source is called like this.
const BLOCKED: &str = "\nblocked";

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkspaceRun {
    pub expired: i64,
    pub trashed: i64,
}

impl Scheduler {
    pub(super) fn run_workspace(&self, id: &str, defrag_recommended: bool) -> Result<WorkspaceRun, ServiceError> {
        let service = &self.service;
        let workspace = service.store.workspace(id)?;
        let work = Work::of_workspace(workspace.key, state::ROUNDS.kind);
        let Some(lease) = service.store.acquire_lease(work, service.now(), LEASE_MS)? else {
            return Err(ServiceError::new(ErrorCode::Busy, format!("workspace `{id}` is held by another scheduler")));
        };
        let before: WorkspaceNote = state::read(&service.store, work)?;
        let mut note = before.clone();
        let outcome = self.look(&workspace, &mut note, defrag_recommended);
        // What was reported is noted even when the rest failed, so that it is not reported again.
        if note != before {
            state::write(&service.store, &lease, &note)?;
        }
        service.store.release_lease(&lease)?;
        outcome
    }

    fn look(
        &self,
        workspace: &Workspace,
        note: &mut WorkspaceNote,
        defrag_recommended: bool,
    ) -> Result<WorkspaceRun, ServiceError> {
        let service = &self.service;
        let auto_delete = service.settings.gc.auto_delete_of(&workspace.id);
        let mut run = WorkspaceRun::default();
        if let Some(plan) = note.unfinished.filter(|_| auto_delete) {
            run.trashed += self.resume(workspace, plan, note)?;
            if note.unfinished.is_some() {
                return Ok(run);
            }
        }
        let strategies = strategies::by_schedule();
        let garbage = service.find_garbage(workspace, &strategies)?;
        if garbage.items.is_empty() {
            note.reported = Reported::default();
            return Ok(run);
        }
        let totals = service.store.bucket_totals(workspace)?;
        let plan = service.store_plan_of(workspace, &garbage, &strategies, OPERATION, ACTOR)?;
        let mut reported = Reported::default();
        let taken = if auto_delete { self.apply(workspace, &plan, &garbage, note, &mut reported)? } else { None };
        let by_bucket = match &taken {
            Some(applied) => service.store.expired_taken(workspace, plan.id, applied.run.id)?,
            None => Vec::new(),
        };
        run.trashed += taken.map_or(0, |applied| applied.run.counts.taken.get("memories"));
        for found in garbage.buckets.iter().filter(|found| !found.expired.is_empty()) {
            run.expired += found.expired.len() as i64;
            let about = about_bucket(&found.source, found.repo.as_deref());
            let digest = digest_of(&found.expired);
            let deleted = totals_of(&by_bucket, found);
            if note.reported.is_new(&about, &digest) || deleted.memories > 0 {
                let event = tombstone(workspace, found, totals_of(&totals, found), deleted, |detail| {
                    detail.auto_delete = auto_delete;
                    detail.defrag_recommended = defrag_recommended;
                });
                telemetry::emit(&self.sink, &Event::Tombstone(event));
            }
            reported.note(about, digest);
        }
        note.reported = reported;
        Ok(run)
    }

    /// `None` when a limit refuses the plan, which is then left for a person.
    fn apply(
        &self,
        workspace: &Workspace,
        plan: &PlanView,
        garbage: &Garbage,
        note: &mut WorkspaceNote,
        reported: &mut Reported,
    ) -> Result<Option<Applied>, ServiceError> {
        match self.service.apply_plan(workspace, plan.id, Review::default(), ACTOR) {
            Ok(applied) => {
                note.unfinished = applied.run.finished_at.is_none().then_some(plan.id);
                Ok(Some(applied))
            }
            Err(error) if error.code == ErrorCode::LimitExceeded => {
                let ids: Vec<[u8; 16]> = garbage.items.iter().map(|item| item.object).collect();
                let digest = digest_of(&ids);
                if note.reported.is_new(BLOCKED, &digest) {
                    let (workspace_id, blocked) = (workspace.id.clone(), plan.blocked.clone());
                    let event = Event::Blocked(BlockedPlan { workspace_id, plan_id: plan.id, blocked });
                    telemetry::emit(&self.sink, &event);
                }
                reported.note(BLOCKED.to_owned(), digest);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Goes on with a run that stopped at the time limit; answers how many memories it took in all.
    fn resume(&self, workspace: &Workspace, plan: PlanId, note: &mut WorkspaceNote) -> Result<i64, ServiceError> {
        match self.service.apply_plan(workspace, plan, Review::default(), ACTOR) {
            Ok(applied) => {
                if applied.run.finished_at.is_some() {
                    note.unfinished = None;
                }
                Ok(applied.run.counts.taken.get("memories"))
            }
            // Purged or restored away meanwhile: there is nothing to go on with.
            Err(error) if error.code == ErrorCode::NotFound => {
                note.unfinished = None;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

fn totals_of(totals: &[BucketTotals], found: &BucketFindings) -> BucketTotals {
    let same = totals.iter().find(|it| it.source == found.source && it.repo == found.repo);
    same.cloned().unwrap_or_else(|| BucketTotals {
        source: found.source.clone(),
        repo: found.repo.clone(),
        memories: 0,
        chunks: 0,
    })
}

fn tombstone(
    workspace: &Workspace,
    found: &BucketFindings,
    totals: BucketTotals,
    deleted: BucketTotals,
    with: impl FnOnce(&mut TombstoneDetail),
) -> Tombstone {
    let mut detail = TombstoneDetail {
        expired: found.expired.len() as i64,
        evaluated: found.evaluated,
        unclassifiable: found.unclassifiable,
        deleted: deleted.memories,
        retention: (&found.policy).into(),
        auto_delete: false,
        defrag_recommended: false,
    };
    with(&mut detail);
    Tombstone {
        workspace_id: workspace.id.clone(),
        source: found.source.clone(),
        repo: found.repo.clone(),
        memories_total: totals.memories,
        chunks_total: totals.chunks,
        chunks_deleted: deleted.chunks,
        detail,
    }
}
