//! `prune_memory` and `gc_plan`: a look at what is garbage, and for the first also its removal.

use std::sync::Arc;

use rootset_api::{AppliedPlan, ErrorCode, GcPlan, PlanAnswer, PruneAnswer, PruneMemory, Request};
use rootset_gc::strategies::chosen;
use rootset_model::Counts;
use rootset_model::names::HOME_WORKSPACE;
use rootset_store::{PlanView, Workspace};
use serde_json::json;

use super::apply::applied_plan_answer;
use super::plan::{plan_answer, totals_answer};
use crate::caller::Caller;
use crate::collecting::Review;
use crate::error::ServiceError;
use crate::fields::parse_plan_id;
use crate::operation::Operation;
use crate::receipts::Wanted;
use crate::service::Service;

impl Operation for GcPlan {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PlanAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.strategies.is_empty() {
            return Err(ServiceError::invalid("`strategies` is empty; use `all` for every strategy"));
        }
        Ok(plan_answer(service.plan_garbage(&workspace, &chosen(&self.strategies), "gc_apply", caller.author())?.0))
    }
}

/// The plan in question: the one that is named, or one of what is garbage now.
fn planned(
    request: &PruneMemory,
    service: &Service,
    workspace: &Workspace,
    caller: &Caller,
) -> Result<PlanView, ServiceError> {
    match (&request.plan_id, request.strategy) {
        (Some(_), Some(_)) => Err(ServiceError::invalid("give either `plan_id` or `strategy`, not both")),
        (Some(plan), None) => {
            let shown = rootset_model::limits::PLAN_ITEMS_SHOWN as i64;
            Ok(service.store.plan(workspace, parse_plan_id(plan)?, &service.settings.limits, 0, shown)?)
        }
        (None, strategy) => {
            let strategies = chosen(&[strategy.unwrap_or_default()]);
            Ok(service.plan_garbage(workspace, &strategies, PruneMemory::NAME, caller.author())?.0)
        }
    }
}

impl Operation for PruneMemory {
    /// A person agrees to a plan that they can look at, not to whatever may be garbage when they answer.
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        let workspace = service.workspace(caller, self.workspace_id.as_deref());
        match workspace.and_then(|workspace| planned(self, service, &workspace, caller)) {
            Ok(plan) => unconfirmed(self, "removing without the limits needs a person", plan),
            Err(error) => error,
        }
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PruneAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let plan = planned(&self, service, &workspace, caller)?;
        if self.dry_run.unwrap_or(true) {
            let message = preview_message(&plan);
            return Ok(PruneAnswer { plan: Some(plan_answer(plan)), applied: None, message });
        }
        if self.confirm != Some(true) {
            return Err(unconfirmed(&self, "removing needs `confirm: true`", plan));
        }
        if plan.erases {
            return Err(ServiceError::invalid("`plan_id`: this plan erases permanently; apply it with `gc_apply`"));
        }
        if workspace.id == HOME_WORKSPACE && self.plan_id.is_none() && plan.items_total > 0 {
            let why = "the workspace `home` can only be pruned with a previewed plan";
            return Err(unconfirmed(&self, why, plan));
        }
        let review = Review {
            exclude: self.exclude.as_deref().unwrap_or_default(),
            allow_large: self.allow_large.unwrap_or(false),
            confirm: false,
            ..Review::default()
        };
        let plan_id = plan.id;
        // A plan that was applied before needs no backup any more.
        service.back_up_before(self.backup.filter(|_| !plan.is_applied), &workspace, caller)?;
        let applied = service.apply_plan(&workspace, plan_id, review, caller.author()).map_err(|mut error| {
            // The plan that was refused can be looked at.
            if let Some(details) = error.details.as_mut().and_then(serde_json::Value::as_object_mut) {
                details.insert("plan_id".into(), json!(plan_id));
            }
            error
        })?;
        let applied = applied_plan_answer(service, caller, &workspace, applied, Wanted::default());
        let message = applied_message(&applied);
        Ok(PruneAnswer { plan: None, applied: Some(applied), message })
    }
}

/// Whoever confirms means this very call: what was to be kept is kept then, too.
fn unconfirmed(request: &PruneMemory, why: &str, plan: PlanView) -> ServiceError {
    let message = format!("{why}: {}", preview_message(&plan));
    let totals = totals_answer(&plan.totals);
    ServiceError::new(ErrorCode::ConfirmationRequired, message).with_details(json!({
        "plan_id": plan.id,
        "totals": totals,
        "next": {
            "operation": PruneMemory::NAME,
            "arguments": {
                "plan_id": plan.id, "dry_run": false, "confirm": true,
                "exclude": request.exclude, "allow_large": request.allow_large, "backup": request.backup,
            },
        },
    }))
}

fn preview_message(plan: &PlanView) -> String {
    if plan.items_total == 0 {
        return "nothing is garbage".to_owned();
    }
    let (totals, reclaim) = (&plan.totals.counts, &plan.totals.reclaim);
    let mut parts = vec![format!("would trash {}", totals.without(&["bytes"]).in_words())];
    if !reclaim.is_nothing() {
        parts.push(format!("reclaim {}", reclaim.in_words()));
    }
    if !plan.blocked.is_empty() {
        parts.push("it exceeds a limit and needs `allow_large: true`".to_owned());
    }
    parts.join("; ")
}

fn applied_message(applied: &AppliedPlan) -> String {
    let trashed = &applied.trashed;
    let mut message = format!("trashed {}", trashed.in_words());
    if let Some(reclaimed) = &applied.reclaimed {
        message.push_str(&format!("; reclaimed {}", reclaimed.in_words()));
    }
    if applied.skipped.count > 0 {
        message.push_str(&format!("; skipped {}", Counts::of("items", applied.skipped.count).in_words()));
    }
    if applied.undo_until.is_some() && !trashed.is_nothing() {
        message.push_str(&format!("; `gc_undo` with run_id {} restores them", applied.run_id));
    }
    message
}
