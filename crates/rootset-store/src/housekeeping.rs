//! Upkeep that nobody asks for: finding trash whose grace is over, and removing plans that have expired.

use std::collections::BTreeMap;

use rootset_gc::strategies::EXPIRED;
use rootset_model::limits::SWEEP_BATCH_MEMORIES;
use rootset_model::{PlanId, RunId, Timestamp, WorkspaceKey};

use crate::driver::Tenant;
use crate::error::StoreError;
use crate::garbage::BucketTotals;
use crate::statements::housekeeping as sql;
use crate::{Store, Workspace, plans, workspaces};

/// A run whose trash can no longer be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastGrace {
    pub workspace: Workspace,
    pub run: RunId,
}

/// Which plans are of no use any more.
#[derive(Clone, Copy, Debug)]
pub struct OldPlans {
    /// Never applied, and expired before this.
    pub expired_before: Timestamp,
    /// Carried out to the end before this.
    pub finished_before: Timestamp,
}

impl Store {
    /// Runs of all workspaces whose promise of undo is over and whose trash is at least `grace_ms` old: the longer of
    /// the grace that was promised and the one that is set now, by the wall clock and by the time that the database has
    /// seen pass. None while the clock is in doubt. A trashed workspace comes as its own run.
    pub fn trash_past_grace(&self, grace_ms: i64, now: Timestamp) -> Result<Vec<PastGrace>, StoreError> {
        let trashed_before = now.saturating_add_ms(grace_ms.saturating_neg());
        self.read(Tenant::Database, |tx| {
            let mut found: Vec<PastGrace> = Vec::new();
            let clock = tx.observed_time()?;
            if clock.is_in_doubt() {
                return Ok(found);
            }
            let grace = [trashed_before.into(), now.into(), clock.observed_ms.into(), grace_ms.into()];
            // What is in a trashed workspace goes with it, and comes back with it.
            let (living, trashed): (Vec<_>, Vec<_>) =
                workspaces::all(tx)?.into_iter().partition(|it| it.trashed.is_none());
            for workspace in trashed {
                let Some((run, _)) = workspace.trashed else { continue };
                tx.enter(workspace.key.into())?;
                let parameters = [&[workspace.key.into()], grace.as_slice(), &[(&run).into()]].concat();
                if tx.row(&sql::IS_RUN_PAST_GRACE, &parameters, |_| Ok(()))?.is_some() {
                    found.push(PastGrace { workspace, run });
                }
            }
            let living: BTreeMap<WorkspaceKey, Workspace> = living.into_iter().map(|it| (it.key, it)).collect();
            let keys: Vec<WorkspaceKey> = living.keys().copied().collect();
            tx.query_each(&keys, &sql::RUNS_PAST_GRACE, &grace, &mut |key, row| {
                found.push(PastGrace { workspace: living[&key].clone(), run: row.get(0)? });
                Ok(())
            })?;
            Ok(found)
        })
    }

    /// Removes plans of no use in one workspace, or of the database itself, in batches; answers how many.
    pub fn delete_old_plans(&self, workspace: WorkspaceKey, old: OldPlans) -> Result<i64, StoreError> {
        let mut removed = 0;
        loop {
            let limit = SWEEP_BATCH_MEMORIES as i64;
            let parameters = [workspace.into(), old.expired_before.into(), old.finished_before.into(), limit.into()];
            // Looking first spares the write lock when there is nothing to do.
            let found: Vec<[u8; 16]> =
                self.read(workspace, |tx| tx.rows(&sql::OLD_PLANS, &parameters, |row| row.get(0)))?;
            if found.is_empty() {
                return Ok(removed);
            }
            self.write(workspace, |tx| {
                // Asked again: somebody may have applied one in between.
                let plans: Vec<[u8; 16]> = tx.rows(&sql::OLD_PLANS, &parameters, |row| row.get(0))?;
                plans::delete(tx, workspace, &plans)
            })?;
            removed += found.len() as i64;
        }
    }

    /// Deletes notes about commits that nobody can ask for any more; answers how many.
    pub fn delete_old_commits(&self) -> Result<i64, StoreError> {
        self.engine.delete_old_commits()
    }

    /// Of the memories that a plan called expired, those that its run took.
    pub fn expired_taken(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        run: RunId,
    ) -> Result<Vec<BucketTotals>, StoreError> {
        let reasons: Vec<String> = EXPIRED.reasons.iter().map(|reason| reason.as_str().to_owned()).collect();
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), (&plan).into(), (&run).into(), reasons.as_slice().into()];
            tx.rows(&sql::EXPIRED_TAKEN, &parameters, |row| {
                let (source, repo) = (row.get(0)?, row.get(1)?);
                Ok(BucketTotals { source, repo, memories: row.get(2)?, chunks: row.get(3)? })
            })
        })
    }

    /// The size of the database without its log.
    pub fn database_bytes(&self) -> Result<i64, StoreError> {
        Ok(self.engine.sizes()?.database_bytes)
    }
}
