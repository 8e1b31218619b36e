//! Planning and applying, for the operations and for the scheduler. All of them end in the store's protocol.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use rootset_api::ErrorCode;
use rootset_gc::Strategy;
use rootset_model::plan::PlanItem;
use rootset_model::retention::fields::ShownPolicy;
use rootset_model::{DrainId, PlanId, RunId};
use rootset_store::{
    Applied, ApplyOptions, Author, Choice, Garbage, GarbageRequest, NewPlan, PlanView, Remains, Remnant, Stamp,
    StoreError, Undone, Workspace,
};
use rootset_text::terms::index_terms;
use serde_json::{Value, json};

use crate::error::ServiceError;
use crate::fields::hex;
use crate::service::Service;

/// The operation that the runs of scheduled plans are known by: what a person would have called.
const ROUND_OPERATION: &str = "gc_apply";
/// How long a second applier of one plan waits for the first: longer than a dead one's lease.
const APPLY_WAIT: Duration = Duration::from_secs(20);
/// Between two looks at whether the first has finished.
const APPLY_RETRY: Duration = Duration::from_millis(50);

/// What a reviewer decided about a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Review<'a> {
    /// Ids or names of items to keep.
    pub exclude: &'a [String],
    /// What is wanted of single items, by ids or names.
    pub choices: Vec<(String, Choice)>,
    pub allow_large: bool,
    /// Needed by plans that erase.
    pub confirm: bool,
}

impl Service {
    /// Stores a plan of what the strategies call garbage now. `operation` names the run, should the plan be applied.
    pub(crate) fn plan_garbage(
        &self,
        workspace: &Workspace,
        strategies: &[&'static Strategy],
        operation: &str,
        author: Author<'_>,
    ) -> Result<(PlanView, Garbage), ServiceError> {
        let garbage = self.find_garbage(workspace, strategies, 0)?;
        let view = self.store_plan_of(workspace, &garbage, strategies, operation, author)?;
        Ok((view, garbage))
    }

    /// What the strategies call garbage now, indexed files only when they were stale for so long; nothing is stored.
    pub(crate) fn find_garbage(
        &self,
        workspace: &Workspace,
        strategies: &[&'static Strategy],
        stale_kept_ms: i64,
    ) -> Result<Garbage, ServiceError> {
        // A use that was served but not yet written counts where a policy goes by uses.
        self.flush_uses()?;
        let configured = self.settings.gc.retention_of(workspace);
        let request = GarbageRequest { strategies, configured, stale_kept_ms, now: self.now() };
        Ok(self.store.find_garbage(workspace, &request)?)
    }

    pub(crate) fn store_plan_of(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        strategies: &[&'static Strategy],
        operation: &str,
        author: Author<'_>,
    ) -> Result<PlanView, ServiceError> {
        let policy = json!({"operation": operation, "strategies": strategies});
        self.store_plan_by(workspace, &policy, garbage.items.clone(), garbage, author)
    }

    /// Stores a plan of those objects among the garbage that a round of the scheduler may take, of a drain or not.
    pub(crate) fn store_round_plan(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        wanted: &HashSet<[u8; 16]>,
        drain: Option<DrainId>,
        author: Author<'_>,
    ) -> Result<PlanView, ServiceError> {
        let strategies = &self.settings.gc.strategies;
        // A source may have several: repositories and tags have policies of their own.
        let mut policies: BTreeMap<&str, Vec<ShownPolicy>> = BTreeMap::new();
        for bucket in garbage.buckets.iter().filter(|bucket| !bucket.expired.is_empty()) {
            let (of_source, shown) = (policies.entry(&bucket.source).or_default(), (&bucket.policy).into());
            if !of_source.contains(&shown) {
                of_source.push(shown);
            }
        }
        let mut policy = json!({"operation": ROUND_OPERATION, "strategies": strategies, "policies": policies});
        if let Some(drain) = drain {
            policy["drain"] = json!(drain);
        }
        let items = garbage.items.iter().filter(|item| wanted.contains(&item.object)).copied().collect();
        self.store_plan_by(workspace, &policy, items, garbage, author)
    }

    fn store_plan_by(
        &self,
        workspace: &Workspace,
        policy: &Value,
        items: Vec<PlanItem>,
        garbage: &Garbage,
        author: Author<'_>,
    ) -> Result<PlanView, ServiceError> {
        let plan = NewPlan {
            id: self.next_plan_id(),
            policy: policy.to_string(),
            items,
            erases: false,
            include_pinned: false,
            is_named: false,
            marker: garbage.marker.clone(),
        };
        let stamp = Stamp::new(self.now(), author);
        Ok(self.store.store_plan(workspace, &plan, &self.settings.limits, stamp)?)
    }

    /// Applies a stored plan. While another process carries the same plan out, waits for it and answers its outcome.
    pub(crate) fn apply_plan(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        review: Review<'_>,
        author: Author<'_>,
    ) -> Result<Applied, ServiceError> {
        // A use that was served but not yet written must save its memory too.
        self.flush_uses()?;
        let exclude = self.resolved(workspace, review.exclude);
        let (references, wanted): (Vec<String>, Vec<Choice>) = review.choices.into_iter().unzip();
        let choices: Vec<_> = self.resolved(workspace, &references).into_iter().zip(wanted).collect();
        let remains = self.remains_of(workspace, plan)?;
        let clock = || self.now();
        let options = ApplyOptions {
            exclude: &exclude,
            allow_large: review.allow_large,
            confirm: review.confirm,
            limits: &self.settings.limits,
            grace_ms: self.settings.grace_ms,
            run: self.next_run_id(),
            erasure: self.next_erasure_id(),
            configured: self.settings.gc.retention_of(workspace),
            time_limit_ms: self.settings.gc.time_limit_ms,
            clock: &clock,
            terms: &index_terms,
            choices: &choices,
            remains: &remains,
        };
        let deadline = Instant::now() + APPLY_WAIT;
        loop {
            match self.store.apply_plan(workspace, plan, &options, author) {
                Err(StoreError::RunHeld { .. } | StoreError::LeaseLost) if Instant::now() < deadline => {
                    std::thread::sleep(APPLY_RETRY);
                }
                Err(error @ StoreError::LeaseLost) => {
                    return Err(ServiceError::new(ErrorCode::Busy, error.to_string()));
                }
                outcome => return Ok(outcome?),
            }
        }
    }

    /// What stays of the memories that a plan cuts, ready to become their text.
    fn remains_of(&self, workspace: &Workspace, plan: PlanId) -> Result<Remains, ServiceError> {
        let cuts = match self.store.cuts_of(workspace, plan) {
            // A joint plan has no items of its own.
            Err(StoreError::PlanNotFound(_)) => Vec::new(),
            cuts => cuts?,
        };
        let mut remains = HashMap::new();
        for (offered, content) in cuts.into_iter().filter(|(offered, content)| offered.hash == hex(&content.doc_hash()))
        {
            if let Some(left) = offered.cut.apply(&content) {
                let prepared = self.prepare_with_graph(left)?;
                remains.insert((offered.memory, offered.revision), Remnant { prepared });
            }
        }
        Ok(remains.into())
    }

    /// Takes a run back, with the texts that it cut.
    pub(crate) fn undo_run(&self, workspace: &Workspace, run: RunId, stamp: Stamp<'_>) -> Result<Undone, ServiceError> {
        let mut wholes = HashMap::new();
        for (memory, revision, content) in self.store.wholes_of(workspace, run)? {
            wholes.insert((memory, revision), Remnant { prepared: self.prepare_with_graph(content)? });
        }
        Ok(self.store.undo_run_with(workspace, run, &wholes.into(), stamp)?)
    }

    /// A name can be used wherever an id can.
    pub(crate) fn resolved(&self, workspace: &Workspace, references: &[String]) -> Vec<String> {
        let resolve = |reference: &String| match self.store.memory(workspace, reference) {
            Ok(row) => row.id.to_string(),
            Err(_) => reference.clone(),
        };
        references.iter().map(resolve).collect()
    }
}
