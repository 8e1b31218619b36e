//! `gc_apply`.

use std::sync::Arc;

use rootset_gc::Skip;
use rootset_model::{PlanId, RunId, Timestamp};
use rootset_store::{Applied, BackupKind, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::collecting::Review;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{ReceiptAnswer, ReclaimedAnswer, Trashed, parse_plan_id};

/// Apply a reviewed plan: exactly its items, less what changed since. Applying it again returns the first outcome.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcApply {
    /// Workspace the plan belongs to; absent: the current one.
    workspace_id: Option<String>,
    plan_id: String,
    /// Ids of items to keep.
    exclude: Option<Vec<String>>,
    /// Apply although a limit is exceeded.
    allow_large: Option<bool>,
    /// Take a verified backup first (false); not before an erasure.
    backup: Option<bool>,
    /// Needed for a plan that erases for good.
    confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct AppliedPlan {
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub trashed: Trashed,
    /// Rows that nothing vouched for, removed physically.
    pub reclaimed: Option<ReclaimedAnswer>,
    pub skipped: SkippedAnswer,
    /// Until when it can be undone; absent when nothing can be.
    pub undo_until: Option<Timestamp>,
    /// Set when the run was undone since.
    pub undone: Option<bool>,
    /// Set when the time limit stopped the run: applying the plan again goes on.
    pub unfinished: Option<bool>,
    /// Proof of an erasure.
    pub receipt: Option<ReceiptAnswer>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedAnswer {
    pub count: i64,
    /// The first twenty.
    pub first: Vec<SkippedItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedItem {
    pub id: String,
    pub reason: Skip,
}

impl AppliedPlan {
    pub(crate) fn new(service: &Service, workspace: &Workspace, applied: Applied) -> Result<Self, ServiceError> {
        let receipt = match (&applied.receipt, applied.run.finished_at) {
            (Some(receipt), Some(at)) => Some(ReceiptAnswer::new(
                receipt,
                service.backups_that_may_hold(&workspace.id, at)?,
                service.store.has_file(),
            )),
            _ => None,
        };
        Ok(Self {
            run_id: applied.run.id,
            reclaimed: ReclaimedAnswer::of(applied.run.counts.reclaimed),
            trashed: applied.run.counts.into(),
            skipped: SkippedAnswer {
                count: applied.skipped.count,
                first: applied.skipped.first.into_iter().map(|(id, reason)| SkippedItem { id, reason }).collect(),
            },
            undo_until: applied.run.undo_until,
            undone: applied.run.undone_at.map(|_| true),
            unfinished: applied.run.finished_at.is_none().then_some(true),
            receipt,
        })
    }
}

impl Operation for GcApply {
    const NAME: &'static str = "gc_apply";
    const EFFECT: Effect = Effect::Destroy;
    const IS_IDEMPOTENT: bool = true;
    type Response = AppliedPlan;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AppliedPlan, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let review = Review {
            exclude: self.exclude.as_deref().unwrap_or_default(),
            allow_large: self.allow_large.unwrap_or(false),
            confirm: caller.confirms_for_good(self.confirm),
        };
        let plan = parse_plan_id(&self.plan_id)?;
        if !caller.rights.allow_effect(Effect::Purge)
            && service.store.plan(&workspace, plan, &service.settings.limits, 0, 0)?.erases
        {
            caller.need_scope(Effect::Purge, || "a plan that erases for good")?;
        }
        if self.backup == Some(true) {
            back_up(service, &workspace, plan, caller)?;
        }
        let applied = service.apply_plan(&workspace, plan, review, &caller.actor);
        AppliedPlan::new(service, &workspace, applied.map_err(|error| self.unconfirmed(error, caller))?)
    }
}

impl GcApply {
    /// Whoever confirms means this very call: what was to be kept is kept then, too.
    fn unconfirmed(&self, mut error: ServiceError, caller: &Caller) -> ServiceError {
        if error.code != ErrorCode::ConfirmationRequired {
            return error;
        }
        if let Some(arguments) = error.details.as_mut().and_then(|details| details.pointer_mut("/next/arguments")) {
            arguments["exclude"] = json!(self.exclude);
            arguments["allow_large"] = json!(self.allow_large);
        }
        caller.unconfirmed_for_good(error)
    }
}

/// A plan that was applied before needs no backup any more, and one that erases must not have one.
fn back_up(service: &Service, workspace: &Workspace, plan: PlanId, caller: &Caller) -> Result<(), ServiceError> {
    let view = service.store.plan(workspace, plan, &service.settings.limits, 0, 0)?;
    if view.erases {
        return Err(ServiceError::invalid("`backup`: a backup would keep what this plan erases"));
    }
    if !view.is_applied {
        // Of the whole database, where the caller may have one: it restores fastest.
        match caller.rights.workspaces {
            None => service.create_whole_backup(&caller.actor)?,
            Some(_) => service.create_backup(BackupKind::Jsonl, Some(workspace), &caller.actor)?,
        };
    }
    Ok(())
}
