//! One workspace's part of a round. It reads and writes no other workspace's rows.

use std::collections::{BTreeMap, HashSet};

use rootset_api::ErrorCode;
use rootset_model::PlanId;
use rootset_store::{BucketTotals, Garbage, Work, Workspace};

use super::draining::Sorted;
use super::findings::digest_of;
use super::reporting::Reporting;
use super::state::{self, SourceState, WaitingSource, WorkspaceNote};
use super::telemetry::{BlockedPlan, Event};
use super::{ACTOR, LEASE_MS, Scheduler};
use crate::collecting::Review;
use crate::error::ServiceError;

/// Under which name the set of a blocked plan is noted; no source is called like this.
pub(super) const BLOCKED: &str = "\nblocked";

#[derive(Clone, Debug, Default)]
pub(super) struct WorkspaceRun {
    pub expired: i64,
    pub trashed: i64,
    pub waiting: Vec<WaitingSource>,
}

impl Scheduler {
    pub(super) fn run_workspace(
        &self,
        workspace: &Workspace,
        defrag_recommended: bool,
    ) -> Result<WorkspaceRun, ServiceError> {
        let service = &self.service;
        let work = Work::of_workspace(workspace.key, state::ROUNDS.kind);
        let Some(lease) = service.store.acquire_lease(work, service.now(), LEASE_MS)? else {
            let message = format!("workspace `{}` is held by another scheduler", workspace.id);
            return Err(ServiceError::new(ErrorCode::Busy, message));
        };
        let before: WorkspaceNote = state::read(&service.store, work)?;
        let mut note = before.clone();
        let outcome = self.look(workspace, &mut note, defrag_recommended);
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
        let gc = &service.settings.gc;
        let auto_delete = gc.auto_delete_of(workspace);
        let mut run = WorkspaceRun::default();
        let next_notice = self.tell_of_removals(workspace, note)?;
        if auto_delete {
            for plan in std::mem::take(&mut note.unfinished_plans) {
                run.trashed += self.resume(workspace, plan, note)?;
            }
            if !note.unfinished_plans.is_empty() {
                return Ok(run);
            }
        }
        let garbage = service.find_garbage(workspace, &gc.strategies, service.settings.code.stale_kept_ms)?;
        let was_waiting = std::mem::take(&mut note.waiting);
        let has_garbage = !garbage.items.is_empty();
        let totals = if has_garbage { service.store.bucket_totals(workspace)? } else { Vec::new() };
        let taken = if auto_delete {
            // Also without garbage: what was announced may be over.
            self.take(workspace, &garbage, &totals, note)?
        } else {
            Taken { left: garbage.items.len() as i64, is_done: !has_garbage, ..Taken::default() }
        };
        if has_garbage && !auto_delete {
            let items: HashSet<[u8; 16]> = garbage.items.iter().map(|item| item.object).collect();
            service.store_round_plan(workspace, &garbage, &items, None, ACTOR.into())?;
        }
        run.trashed += taken.memories;
        note.garbage = taken.left;
        let context = Reporting { auto_delete, defrag_recommended, totals: &totals, taken: &taken.buckets };
        run.expired = self.report(workspace, &garbage, note, &context)?;
        // A plan that waits for a person is the same plan as long as nothing changes.
        keep_plans(&mut note.waiting, &was_waiting);
        run.waiting.clone_from(&note.waiting);
        if let Some(mut look) = garbage.next_look.filter(|_| taken.is_done) {
            look.at = next_notice.map_or(look.at, |at| at.min(look.at));
            service.store.note_looked(workspace, &look)?;
        }
        Ok(run)
    }

    /// Takes what may go: within the limits at once, over them slice by slice, or not without a person.
    fn take(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        totals: &[BucketTotals],
        note: &mut WorkspaceNote,
    ) -> Result<Taken, ServiceError> {
        let mut by_source: BTreeMap<&str, i64> = BTreeMap::new();
        for total in totals {
            *by_source.entry(&total.source).or_default() += total.memories;
        }
        let total_of = |source: &str| by_source.get(source).copied().unwrap_or_default();
        let sorted = self.sort_sources(workspace, garbage, total_of, note)?;
        let mut taken = Taken::default();
        self.take_at_once(workspace, garbage, &sorted, note, &mut taken)?;
        for slice in &sorted.slices {
            taken.memories += self.drain(workspace, garbage, slice, note)?;
        }
        self.block(workspace, garbage, &sorted, note)?;
        let memories: i64 = garbage.sources.iter().map(|source| source.memories.len() as i64).sum();
        taken.left = memories.saturating_sub(taken.memories).max(0);
        taken.is_done = note.waiting.is_empty() && note.unfinished_plans.is_empty() && !sorted.leaves_garbage;
        Ok(taken)
    }

    fn take_at_once(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        sorted: &Sorted<'_>,
        note: &mut WorkspaceNote,
        taken: &mut Taken,
    ) -> Result<(), ServiceError> {
        let service = &self.service;
        // Rows that nothing vouches for belong to no source.
        let derived = garbage.items.iter().filter(|item| item.action == rootset_model::plan::Action::Reclaim);
        let wanted: HashSet<[u8; 16]> = derived.map(|item| item.object).chain(sorted.taken.iter().copied()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let plan = service.store_round_plan(workspace, garbage, &wanted, None, ACTOR.into())?;
        // Each source was held against its limit above; the one that keeps a last memory is kept there, too.
        let review = Review { allow_large: true, ..Review::default() };
        let applied = service.apply_plan(workspace, plan.id, review, ACTOR.into())?;
        if applied.run.finished_at.is_none() {
            note.unfinished_plans.push(plan.id);
        }
        taken.memories += applied.run.counts.taken.get("memories");
        taken.buckets = service.store.expired_taken(workspace, plan.id, applied.run.id)?;
        Ok(())
    }

    /// A plan for a person, told of once.
    fn block(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        sorted: &Sorted<'_>,
        note: &mut WorkspaceNote,
    ) -> Result<(), ServiceError> {
        if sorted.blocked.is_empty() {
            note.reported.forget(BLOCKED);
            return Ok(());
        }
        let mut ids: Vec<[u8; 16]> = sorted.blocked.iter().copied().collect();
        ids.sort_unstable();
        let digest = digest_of(&ids);
        if !note.reported.is_new(BLOCKED, &digest) {
            return Ok(());
        }
        let plan = self.service.store_round_plan(workspace, garbage, &sorted.blocked, None, ACTOR.into())?;
        let is_blocked = |it: &&mut WaitingSource| it.state == SourceState::Blocked;
        note.waiting.iter_mut().filter(is_blocked).for_each(|it| it.plan_id = Some(plan.id));
        let (workspace_id, blocked) = (workspace.id.clone(), plan.blocked.clone());
        let event = Event::Blocked(BlockedPlan { workspace_id, plan_id: plan.id, blocked });
        self.tell(Some(workspace), &event)?;
        note.reported.note(BLOCKED.to_owned(), digest);
        Ok(())
    }

    /// Goes on with a run that stopped at the time limit; answers how many memories it took in all.
    fn resume(&self, workspace: &Workspace, plan: PlanId, note: &mut WorkspaceNote) -> Result<i64, ServiceError> {
        match self.service.apply_plan(workspace, plan, Review::default(), ACTOR.into()) {
            Ok(applied) => {
                if applied.run.finished_at.is_none() {
                    note.unfinished_plans.push(plan);
                }
                Ok(applied.run.counts.taken.get("memories"))
            }
            // Purged or restored away meanwhile: there is nothing to go on with.
            Err(error) if error.code == ErrorCode::NotFound => Ok(0),
            Err(error) => {
                note.unfinished_plans.push(plan);
                Err(error)
            }
        }
    }
}

/// What a round took of one workspace.
#[derive(Debug, Default)]
struct Taken {
    memories: i64,
    /// Of the expired, by source and repository.
    buckets: Vec<BucketTotals>,
    /// Garbage that is still there.
    left: i64,
    /// Whether nothing waits for a later round or a person.
    is_done: bool,
}

fn keep_plans(waiting: &mut [WaitingSource], before: &[WaitingSource]) {
    for it in waiting.iter_mut().filter(|it| it.state == SourceState::Blocked && it.plan_id.is_none()) {
        it.plan_id = before.iter().find(|old| old.source == it.source).and_then(|old| old.plan_id);
    }
}
