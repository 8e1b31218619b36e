//! `gc_apply`.

use std::sync::Arc;

use rootset_api::{
    AppliedPlan, Effect, ErrorCode, GcApply, Irreversible, ItemAction, Request, SkippedAnswer, SkippedItem,
};
use rootset_model::PlanId;
use rootset_store::{Applied, Choice, Workspace};
use serde_json::json;

use super::joint;
use super::plan::{reclaimed_answer, trashed_answer};
use super::purge::said;
use crate::caller::Caller;
use crate::collecting::Review;
use crate::error::ServiceError;
use crate::fields::parse_plan_id;
use crate::operation::{Operation, confirmation_of};
use crate::receipts::{ErasedPart, Erasure, Wanted};
use crate::service::Service;

pub(crate) fn applied_plan_answer(
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    applied: Applied,
    wanted: Wanted,
) -> AppliedPlan {
    let mut warnings = applied.warnings;
    let run = applied.run;
    let receipt = match (applied.receipt, run.finished_at) {
        (Some(receipt), Some(at)) => {
            let searched = run.plan.filter(|_| wanted.signature).map(|plan| service.store.searched(workspace, plan));
            let searched = searched.and_then(|searched| {
                searched.unwrap_or_else(|error| {
                    warnings.push(format!("the receipt lacks what was searched for: {error}"));
                    None
                })
            });
            let kept_pinned = searched.as_ref().map_or(0, |it| it.kept_pinned);
            let erasure = Erasure {
                id: receipt.erasure.to_string(),
                operation: "forget",
                at,
                searched: searched.map(|it| (it, vec![workspace.id.clone()])),
                parts: vec![ErasedPart { workspace, run: Some(run.id), kept_pinned, receipt }],
                failed: Vec::new(),
            };
            Some(service.receipt(caller, &erasure, wanted, &mut warnings))
        }
        _ => None,
    };
    AppliedPlan {
        run_id: run.id,
        reclaimed: reclaimed_answer(&run.counts.reclaimed),
        trashed: trashed_answer(&run.counts.taken),
        skipped: SkippedAnswer {
            count: applied.skipped.count,
            first: applied.skipped.first.into_iter().map(|(id, reason)| SkippedItem { id, reason }).collect(),
        },
        undo_until: run.undo_until.filter(|_| !run.counts.taken.is_nothing()),
        undone: run.undone_at.map(|_| true),
        unfinished: run.finished_at.is_none().then_some(true),
        receipt,
        parts: None,
        warnings: said(warnings),
    }
}

impl Operation for GcApply {
    /// Without the person's consent nothing of a plan is applied: neither over the limits, nor for good.
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        let looked_at = || {
            let plan = parse_plan_id(&self.plan_id)?;
            service.where_plan_is(caller, self.workspace_id.as_deref(), plan, |workspace| {
                match service.store.plan(workspace, plan, &service.settings.limits, 0, 0) {
                    Ok(view) if view.erases => {
                        caller.need_scope_for(Irreversible::PLAN_THAT_ERASES, Self::operation())?;
                        Ok(view)
                    }
                    Ok(view) => Ok(view),
                    Err(error) => match joint::find(service, caller, plan)? {
                        Some(_) => Err(joint::refused_to_agents()),
                        None => Err(error.into()),
                    },
                }
            })
        };
        match looked_at() {
            Ok(view) => {
                let how = if view.erases { "erases permanently" } else { "moves to the trash" };
                let message =
                    format!("this plan {how} what it holds, also above the limits on how much may go at once");
                confirmation_of(self, message, json!({"confirm": true}))
            }
            Err(error) => error,
        }
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AppliedPlan, ServiceError> {
        let plan = parse_plan_id(&self.plan_id)?;
        let applied = service.where_plan_is(caller, self.workspace_id.as_deref(), plan, |workspace| {
            match apply(&self, service, caller, workspace, plan) {
                // A plan that is not in the workspace may be a joint one.
                Err(error) if error.code == ErrorCode::NotFound => match joint::find(service, caller, plan)? {
                    Some(joint) => joint::apply(&self, &joint, service, caller),
                    None => Err(error),
                },
                applied => applied,
            }
        });
        let again = || serde_json::to_value(&self).unwrap_or_default();
        applied
            .map_err(|error| unconfirmed(&self, error, caller))
            .map_err(|error| caller.or_ask_person(error, Self::NAME, again))
    }
}

fn apply(
    request: &GcApply,
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    plan: PlanId,
) -> Result<AppliedPlan, ServiceError> {
    let wanted = Wanted::checked(request.rewrite_backups, request.receipt, caller)?;
    let actions = request.actions.iter().flatten();
    let review = Review {
        exclude: request.exclude.as_deref().unwrap_or_default(),
        choices: actions.map(|(reference, action)| (reference.clone(), choice(*action))).collect(),
        allow_large: request.allow_large.unwrap_or(false),
        confirm: caller.confirms_for_good(request.confirm),
    };
    let may_purge = caller.rights.allow_effect(Effect::Purge);
    if !may_purge || request.backup == Some(true) || wanted.is_something() {
        let view = service.store.plan(workspace, plan, &service.settings.limits, 0, 0)?;
        if view.erases {
            caller.need_scope_for(Irreversible::PLAN_THAT_ERASES, GcApply::operation())?;
            if request.backup == Some(true) {
                return Err(no_backup_of_erasures());
            }
        } else if wanted.is_something() {
            return Err(only_for_erasures());
        }
        // A plan that was applied before needs no backup any more.
        service.back_up_before(request.backup.filter(|_| !view.is_applied), workspace, caller)?;
    }
    let applied = service.apply_plan(workspace, plan, review, caller.author())?;
    if request.allow_large == Some(true) {
        // It may be one that waited for a person.
        service.note_applied(workspace, plan, applied.run.counts.taken.get("memories"))?;
    }
    Ok(applied_plan_answer(service, caller, workspace, applied, wanted))
}

pub(super) fn choice(action: ItemAction) -> Choice {
    match action {
        ItemAction::Remove => Choice::Remove,
        ItemAction::Redact => Choice::Redact,
        ItemAction::Keep => Choice::Keep,
    }
}

pub(super) fn no_backup_of_erasures() -> ServiceError {
    ServiceError::invalid("`backup` is not possible: the backup would keep what this plan erases")
}

pub(super) fn only_for_erasures() -> ServiceError {
    ServiceError::invalid("`receipt` and `rewrite_backups` are for plans that erase, and this one moves to the trash")
}

/// Whoever confirms means this very call: what was to be kept is kept then, too.
fn unconfirmed(request: &GcApply, mut error: ServiceError, caller: &Caller) -> ServiceError {
    if error.code != ErrorCode::ConfirmationRequired {
        return error;
    }
    if let Some(arguments) = error.details.as_mut().and_then(|details| details.pointer_mut("/next/arguments")) {
        arguments["exclude"] = json!(request.exclude);
        if let Some(actions) = &request.actions {
            arguments["actions"] = json!(actions);
        }
        arguments["allow_large"] = json!(request.allow_large);
        for (field, given) in [("rewrite_backups", request.rewrite_backups), ("receipt", request.receipt)] {
            if let Some(given) = given {
                arguments[field] = given.into();
            }
        }
    }
    caller.unconfirmed_for_good(error)
}
