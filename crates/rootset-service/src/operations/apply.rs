//! `gc_apply`.

use std::sync::Arc;

use rootset_api::{AppliedPlan, Effect, ErrorCode, GcApply, SkippedAnswer, SkippedItem};
use rootset_model::PlanId;
use rootset_store::{Applied, BackupKind, Workspace};
use serde_json::json;

use super::plan::{reclaimed_answer, trashed_answer};
use super::purge::{receipt_answer, said};
use crate::caller::Caller;
use crate::collecting::Review;
use crate::error::ServiceError;
use crate::fields::parse_plan_id;
use crate::operation::Operation;
use crate::service::Service;

pub(crate) fn applied_plan_answer(service: &Service, workspace: &Workspace, applied: Applied) -> AppliedPlan {
    let mut warnings = applied.warnings;
    let receipt = match (&applied.receipt, applied.run.finished_at) {
        (Some(receipt), Some(at)) => {
            let backups = service.holding_backups(&workspace.id, at, &mut warnings);
            Some(receipt_answer(receipt, backups, service.store.has_file()))
        }
        _ => None,
    };
    AppliedPlan {
        run_id: applied.run.id,
        reclaimed: reclaimed_answer(&applied.run.counts.reclaimed),
        trashed: trashed_answer(&applied.run.counts.taken),
        skipped: SkippedAnswer {
            count: applied.skipped.count,
            first: applied.skipped.first.into_iter().map(|(id, reason)| SkippedItem { id, reason }).collect(),
        },
        undo_until: applied.run.undo_until,
        undone: applied.run.undone_at.map(|_| true),
        unfinished: applied.run.finished_at.is_none().then_some(true),
        receipt,
        warnings: said(warnings),
    }
}

impl Operation for GcApply {
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
        let applied = applied.map_err(|error| unconfirmed(&self, error, caller))?;
        if review.allow_large {
            // It may be one that waited for a person.
            service.note_applied(&workspace, plan, applied.run.counts.taken.get("memories"))?;
        }
        Ok(applied_plan_answer(service, &workspace, applied))
    }
}

/// Whoever confirms means this very call: what was to be kept is kept then, too.
fn unconfirmed(request: &GcApply, mut error: ServiceError, caller: &Caller) -> ServiceError {
    if error.code != ErrorCode::ConfirmationRequired {
        return error;
    }
    if let Some(arguments) = error.details.as_mut().and_then(|details| details.pointer_mut("/next/arguments")) {
        arguments["exclude"] = json!(request.exclude);
        arguments["allow_large"] = json!(request.allow_large);
    }
    caller.unconfirmed_for_good(error)
}

/// A plan that was applied before needs no backup any more, and one that erases must not have one.
fn back_up(service: &Service, workspace: &Workspace, plan: PlanId, caller: &Caller) -> Result<(), ServiceError> {
    let view = service.store.plan(workspace, plan, &service.settings.limits, 0, 0)?;
    if view.erases {
        return Err(ServiceError::invalid("`backup` is not possible: the backup would keep what this plan erases"));
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
