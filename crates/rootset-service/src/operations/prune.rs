//! `prune_memory` and `gc_plan`: a look at what is garbage, and for the first also its removal.

use std::sync::Arc;

use rootset_gc::strategies::{StrategyChoice, chosen};
use rootset_store::PlanView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::apply::AppliedPlan;
use crate::caller::Caller;
use crate::collecting::Review;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::{DEFAULT_WORKSPACE, Service};
use crate::shared::{PlanAnswer, Totals, parse_plan_id};

/// Compute what is garbage under the chosen strategies and return a plan to review. Nothing is removed before `gc_apply`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcPlan {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    strategies: Vec<StrategyChoice>,
}

impl Operation for GcPlan {
    const NAME: &'static str = "gc_plan";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = false;
    type Response = PlanAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PlanAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.strategies.is_empty() {
            return Err(ServiceError::invalid("`strategies` is empty; `all` stands for every one"));
        }
        Ok(service.plan_garbage(&workspace, &chosen(&self.strategies), "gc_apply", &caller.actor)?.0.into())
    }
}

/// Preview garbage, or with `dry_run: false` and `confirm: true` move it to the trash. Undo with `gc_undo`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PruneMemory {
    /// Workspace to prune; absent: the current one.
    workspace_id: Option<String>,
    /// Only show what would go (true).
    dry_run: Option<bool>,
    /// Needed to remove anything.
    confirm: Option<bool>,
    /// What to look for (stale_code).
    strategy: Option<StrategyChoice>,
    /// A plan from an earlier preview, instead of a new one.
    plan_id: Option<String>,
    /// Ids of items to keep.
    exclude: Option<Vec<String>>,
    /// Apply although a limit is exceeded.
    allow_large: Option<bool>,
}

/// The plan when it was a preview, the outcome when it was applied.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct PruneAnswer {
    #[serde(flatten)]
    pub plan: Option<PlanAnswer>,
    #[serde(flatten)]
    pub applied: Option<AppliedPlan>,
    pub message: String,
}

impl Operation for PruneMemory {
    const NAME: &'static str = "prune_memory";
    const EFFECT: Effect = Effect::Destroy;
    const IS_IDEMPOTENT: bool = false;
    type Response = PruneAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PruneAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.plan_id.is_some() && self.strategy.is_some() {
            return Err(ServiceError::invalid("`plan_id` and `strategy` are given; one is enough"));
        }
        let plan = match &self.plan_id {
            Some(plan) => {
                let shown = rootset_model::limits::PLAN_ITEMS_SHOWN as i64;
                service.store.plan(&workspace, parse_plan_id(plan)?, &service.settings.limits, 0, shown)?
            }
            None => {
                let strategies = chosen(&[self.strategy.unwrap_or_default()]);
                service.plan_garbage(&workspace, &strategies, Self::NAME, &caller.actor)?.0
            }
        };
        if self.dry_run.unwrap_or(true) {
            let message = preview_message(&plan);
            return Ok(PruneAnswer { plan: Some(plan.into()), applied: None, message });
        }
        if self.confirm != Some(true) {
            return Err(self.unconfirmed("removing needs `confirm: true`", plan));
        }
        if plan.erases {
            return Err(ServiceError::invalid("`plan_id`: this plan erases for good, which only `gc_apply` does"));
        }
        if workspace.id == DEFAULT_WORKSPACE && self.plan_id.is_none() && plan.items_total > 0 {
            let why = "the workspace `default` is pruned only by a plan that was previewed";
            return Err(self.unconfirmed(why, plan));
        }
        let review = Review {
            exclude: self.exclude.as_deref().unwrap_or_default(),
            allow_large: self.allow_large.unwrap_or(false),
            confirm: false,
        };
        let plan_id = plan.id;
        let applied = service.apply_plan(&workspace, plan_id, review, &caller.actor).map_err(|mut error| {
            // The plan that was refused can be looked at.
            if let Some(details) = error.details.as_mut().and_then(serde_json::Value::as_object_mut) {
                details.insert("plan_id".into(), json!(plan_id));
            }
            error
        })?;
        let applied = AppliedPlan::new(service, &workspace, applied)?;
        let message = applied_message(&applied);
        Ok(PruneAnswer { plan: None, applied: Some(applied), message })
    }
}

impl PruneMemory {
    /// Whoever confirms means this very call: what was to be kept is kept then, too.
    fn unconfirmed(&self, why: &str, plan: PlanView) -> ServiceError {
        let message = format!("{why}: {}", preview_message(&plan));
        let totals: Totals = plan.totals.into();
        ServiceError::new(ErrorCode::ConfirmationRequired, message).with_details(json!({
            "plan_id": plan.id,
            "totals": totals,
            "next": {
                "operation": Self::NAME,
                "arguments": {
                    "plan_id": plan.id, "dry_run": false, "confirm": true,
                    "exclude": self.exclude, "allow_large": self.allow_large,
                },
            },
        }))
    }
}

fn preview_message(plan: &PlanView) -> String {
    if plan.items_total == 0 {
        return "nothing is garbage".to_owned();
    }
    let totals = plan.totals;
    let mut parts = vec![format!(
        "would trash {} memories with {} chunks, {} entities and {} relations",
        totals.memories, totals.chunks, totals.entities, totals.relations
    )];
    if !totals.reclaim.is_nothing() {
        let it = totals.reclaim;
        parts.push(format!("reclaim {} chunks, {} entities and {} relations", it.chunks, it.entities, it.relations));
    }
    if !plan.blocked.is_empty() {
        parts.push("a limit refuses it without `allow_large: true`".to_owned());
    }
    parts.join("; ")
}

fn applied_message(applied: &AppliedPlan) -> String {
    let trashed = &applied.trashed;
    let mut message = format!(
        "trashed {} memories with {} chunks, {} entities and {} relations",
        trashed.memories, trashed.chunks, trashed.entities, trashed.relations
    );
    if let Some(it) = &applied.reclaimed {
        let reclaimed =
            format!("; reclaimed {} chunks, {} entities and {} relations", it.chunks, it.entities, it.relations);
        message.push_str(&reclaimed);
    }
    if applied.skipped.count > 0 {
        message.push_str(&format!("; left {} alone", applied.skipped.count));
    }
    if applied.undo_until.is_some() && trashed.memories > 0 {
        message.push_str(&format!("; `gc_undo` with run_id {} brings them back", applied.run_id));
    }
    message
}
