//! `forget`, `get_plan`, `gc_apply` and `gc_undo` over several workspaces at once. Every part is an ordinary plan in its
//! workspace and goes through the ordinary protocol; here they are looked for, gone through and told together.

use std::collections::HashSet;

use rootset_api::{
    AppliedPart, AppliedPlan, ConflictAnswer, Effect, ErrorCode, Forget, ForgetAnswer, GcApply, Irreversible,
    PlanAnswer, PlanItemAnswer, PlanPart, Request, SkippedAnswer, SkippedItem, UndoAnswer, UndonePart,
};
use rootset_model::limits::{FORGET_WORKSPACES_MAX, PLAN_ITEMS_SHOWN, SKIPPED_SHOWN};
use rootset_model::{Counts, PlanId, RunId, WorkspaceKey};
use rootset_store::{
    Applied, JointPart, JointPlan, NewJointPlan, PlanTotals, PlanView, Searched, StoreError, Workspace,
};

use super::apply::choice;
use super::forget::{Search, Shown};
use super::plan::{plan_answer, reclaimed_answer, totals_answer, trashed_answer};
use super::purge::said;
use crate::caller::{Caller, FrontEnd};
use crate::collecting::Review;
use crate::error::ServiceError;
use crate::fields::hex;
use crate::receipts::{ErasedPart, Erasure, FailedPart, Wanted};
use crate::service::Service;

/// In place of workspaces: all of them.
const EVERYWHERE: &str = "*";

/// Whoever changes every workspace at once has to be allowed to, and is a person.
fn need_everywhere(caller: &Caller) -> Result<(), ServiceError> {
    let what = || "a request over several workspaces";
    caller.need_scope(Effect::Admin, what)?;
    caller.need_whole_database(what)?;
    if caller.front_end == FrontEnd::Mcp {
        return Err(refused_to_agents());
    }
    Ok(())
}

pub(super) fn refused_to_agents() -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, "agents cannot forget in several workspaces at once")
        .with_hint("a person can run `rootset forget --everywhere` in a terminal")
}

pub(super) fn forget(mut request: Forget, service: &Service, caller: &Caller) -> Result<ForgetAnswer, ServiceError> {
    need_everywhere(caller)?;
    if request.workspace_id.as_deref().is_some_and(|id| !id.is_empty()) {
        return Err(ServiceError::invalid("give either `workspace_id` or `workspaces`, not both"));
    }
    let named = request.workspaces.take().unwrap_or_default();
    let search = Search::checked(request, service)?;
    let workspaces = wanted_workspaces(service, caller, &named, search.erases)?;
    service.flush_uses()?;
    let (mut parts, mut views, mut kept_pinned) = (Vec::new(), Vec::new(), Vec::new());
    let mut shown = Shown::default();
    for workspace in &workspaces {
        let (selection, found) = search.select(service, workspace)?;
        if selection.matched == 0 && selection.maybe.is_empty() {
            continue;
        }
        let view = match selection.items.is_empty() {
            true if selection.maybe.is_empty() => None,
            _ => Some(search.store_plan(service, workspace, &selection, &found, caller)?),
        };
        parts.push(JointPart {
            workspace: workspace.key.0,
            plan: view.as_ref().map(|view| view.id),
            digest: view.as_ref().map(|view| hex(&view.digest)),
            matched: selection.matched,
            in_plan: selection.items.len(),
            kept_pinned: selection.kept_pinned.len(),
        });
        kept_pinned.extend(selection.kept_pinned);
        views.push(view);
        shown.add(found);
    }
    let new = NewJointPlan {
        id: service.next_plan_id(),
        searched: search.searched.clone().unwrap_or_default(),
        workspaces: workspaces.iter().map(|it| it.key).collect(),
        parts,
        erases: search.erases,
        include_pinned: search.include_pinned,
    };
    let joint = service.store.store_joint_plan(new, service.stamp(caller))?;
    let mut plan = joint_answer(&joint, views, PLAN_ITEMS_SHOWN);
    shown.show(&mut plan);
    Ok(ForgetAnswer {
        matched: joint.parts.iter().map(|part| part.matched).sum(),
        in_plan: joint.parts.iter().map(|part| part.in_plan).sum(),
        kept_pinned,
        plan: Some(plan),
        deleted: None,
        matched_personal: None,
    })
}

/// The workspaces that were named, or all of them. What is in a workspace in the trash is in the trash already: only an
/// erasure looks there.
fn wanted_workspaces(
    service: &Service,
    caller: &Caller,
    named: &[String],
    erases: bool,
) -> Result<Vec<Workspace>, ServiceError> {
    if named.is_empty() || named.len() > FORGET_WORKSPACES_MAX {
        let count = named.len();
        return Err(ServiceError::invalid(format!(
            "`workspaces` has {count} items; give 1 to {FORGET_WORKSPACES_MAX} ids, or `*` for all"
        )));
    }
    if named.iter().any(|id| id == EVERYWHERE) {
        return match named.len() {
            // Of other people's personal memory, only the command line knows.
            1 => {
                let mut all = service.store.workspaces_and_trashed(erases)?;
                all.retain(|workspace| caller.may_see(workspace));
                Ok(all)
            }
            _ => Err(ServiceError::invalid("`workspaces`: `*` means all of them, so nothing can be named beside it")),
        };
    }
    let mut seen = HashSet::new();
    let once = named.iter().filter(|id| seen.insert(id.as_str()));
    once.map(|id| match erases {
        true => service.workspace_or_trashed(caller, Some(id)),
        false => service.workspace(caller, Some(id)),
    })
    .collect()
}

/// The joint plan of this id, for those who may know of it.
pub(super) fn find(service: &Service, caller: &Caller, id: PlanId) -> Result<Option<JointPlan>, ServiceError> {
    if caller.rights.workspaces.is_some() {
        return Ok(None);
    }
    let found = service.store.joint_plan(id)?;
    let of = |part: &JointPart, joint: &JointPlan| joint.workspace(WorkspaceKey(part.workspace)).cloned();
    let may_see =
        |joint: &JointPlan| joint.parts.iter().filter_map(|part| of(part, joint)).all(|it| caller.may_see(&it));
    Ok(found.filter(may_see))
}

/// A page of a joint plan: the items of one workspace after those of another.
pub(super) fn page(service: &Service, joint: &JointPlan, offset: i64, limit: i64) -> Result<PlanAnswer, ServiceError> {
    let (mut before, mut left, mut views) = (0, limit, Vec::new());
    for part in &joint.parts {
        let (Some(plan), Some(workspace)) = (part.plan, joint.workspace(WorkspaceKey(part.workspace))) else {
            views.push(None);
            continue;
        };
        let skipped = (offset - before).clamp(0, part.in_plan as i64);
        let taken = if before + (part.in_plan as i64) > offset { left } else { 0 };
        before += part.in_plan as i64;
        match service.store.plan(workspace, plan, &service.settings.limits, skipped, taken) {
            Ok(view) => {
                left -= view.items.len() as i64;
                views.push(Some(view));
            }
            // A restore of the workspace has made its plans invalid.
            Err(StoreError::PlanNotFound(_)) => views.push(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(joint_answer(joint, views, usize::try_from(limit).unwrap_or(0)))
}

/// `views` are those of the parts, in the same order.
fn joint_answer(joint: &JointPlan, views: Vec<Option<PlanView>>, shown: usize) -> PlanAnswer {
    let mut totals = PlanTotals::default();
    let (mut fraction, mut items, mut blocked, mut parts) = (0.0, Vec::new(), Vec::new(), Vec::new());
    let mut maybe: Vec<PlanItemAnswer> = Vec::new();
    for (part, view) in joint.parts.iter().zip(views) {
        let workspace_id = joint.workspace_name(WorkspaceKey(part.workspace));
        let part_blocked = view.as_ref().map(|view| view.blocked.clone()).unwrap_or_default();
        if let Some(view) = view {
            totals.counts.add_all(&view.totals.counts);
            totals.reclaim.add_all(&view.totals.reclaim);
            fraction = f64::max(fraction, view.fraction);
            let part = plan_answer(view);
            let in_workspace = |mut answer: PlanItemAnswer| {
                answer.workspace_id = Some(workspace_id.clone());
                answer
            };
            items.extend(part.items.into_iter().map(in_workspace));
            maybe.extend(part.maybe.into_iter().flatten().map(in_workspace));
        }
        blocked.extend(part_blocked.iter().cloned());
        parts.push(PlanPart {
            workspace_id,
            plan_id: part.plan,
            matched: part.matched,
            in_plan: part.in_plan,
            kept_pinned: part.kept_pinned,
            blocked: part_blocked,
        });
    }
    PlanAnswer {
        plan_id: joint.id,
        digest: hex(&joint.digest),
        expires_at: joint.expires_at,
        totals: totals_answer(&totals),
        fraction,
        maybe: (!maybe.is_empty()).then_some(maybe),
        items: items.into_iter().take(shown).collect(),
        items_total: joint.parts.iter().map(|part| part.in_plan as i64).sum(),
        purge: joint.erases,
        blocked,
        parts: Some(parts),
    }
}

/// What became of one part.
struct Outcome<'a> {
    workspace_id: String,
    part: &'a JointPart,
    workspace: Option<&'a Workspace>,
    applied: Result<Applied, ServiceError>,
}

/// Applies every part. One that fails does not stop the others, and applying the joint plan again tries it again.
pub(super) fn apply(
    request: &GcApply,
    joint: &JointPlan,
    service: &Service,
    caller: &Caller,
) -> Result<AppliedPlan, ServiceError> {
    need_everywhere(caller)?;
    let wanted = Wanted::checked(request.rewrite_backups, request.receipt, caller)?;
    let confirm = caller.confirms_for_good(request.confirm);
    if joint.erases {
        caller.need_scope_for(Irreversible::PLAN_THAT_ERASES, GcApply::operation())?;
        if request.backup == Some(true) {
            return Err(super::apply::no_backup_of_erasures());
        }
        if !confirm {
            return Err(StoreError::ConfirmationRequired { plan: joint.id }.into());
        }
    } else if wanted.is_something() {
        return Err(super::apply::only_for_erasures());
    }
    let kept = kept_by_part(service, joint, request.exclude.as_deref().unwrap_or_default())?;
    let actions = request.actions.clone().unwrap_or_default();
    let named: Vec<String> = actions.keys().cloned().collect();
    let chosen = kept_by_part(service, joint, &named)?;
    back_up(service, joint, request.backup, caller)?;
    let mut outcomes = Vec::new();
    for (part, (exclude, chosen)) in joint.parts.iter().zip(kept.iter().zip(chosen)) {
        let Some(plan) = part.plan else { continue };
        let number = WorkspaceKey(part.workspace);
        let workspace = joint.workspace(number);
        let allow_large = request.allow_large.unwrap_or(false);
        let choices = chosen.into_iter().map(|(given, id)| (id, choice(actions[&given]))).collect();
        let exclude: Vec<String> = exclude.iter().map(|(_, id)| id.clone()).collect();
        let review = Review { exclude: &exclude, choices, allow_large, confirm };
        let applied = match workspace {
            Some(workspace) => service.apply_plan(workspace, plan, review, caller.author()),
            None => Err(ServiceError::new(ErrorCode::NotFound, "the workspace was purged since the plan was made")),
        };
        outcomes.push(Outcome { workspace_id: joint.workspace_name(number), part, workspace, applied });
    }
    look_again(service, &mut outcomes);
    Ok(applied_answer(service, caller, joint, outcomes, wanted))
}

/// One backup for all parts, unless all of them were applied before.
fn back_up(service: &Service, joint: &JointPlan, wanted: Option<bool>, caller: &Caller) -> Result<(), ServiceError> {
    if wanted != Some(true) {
        return Ok(());
    }
    for part in &joint.parts {
        if let (Some(plan), Some(workspace)) = (part.plan, joint.workspace(WorkspaceKey(part.workspace)))
            && !service.store.plan(workspace, plan, &service.settings.limits, 0, 0)?.is_applied
        {
            return service.back_up_before(wanted, workspace, caller);
        }
    }
    Ok(())
}

/// Which of the items to keep, or to decide on, are in which part: as they were given, and by their ids. A name may mean an item in each of them; what is in none is refused
/// before anything is removed.
fn kept_by_part(
    service: &Service,
    joint: &JointPlan,
    exclude: &[String],
) -> Result<Vec<Vec<(String, String)>>, ServiceError> {
    let mut unknown: HashSet<usize> = (0..exclude.len()).collect();
    let mut kept = Vec::new();
    for part in &joint.parts {
        let mut of_part = Vec::new();
        if let (false, Some(plan), Some(workspace)) =
            (exclude.is_empty(), part.plan, joint.workspace(WorkspaceKey(part.workspace)))
        {
            let resolved = service.resolved(workspace, exclude);
            let planned = service.store.planned_among(workspace, plan, &resolved)?;
            for (place, reference) in resolved.into_iter().enumerate().filter(|(_, it)| planned.contains(it)) {
                unknown.remove(&place);
                of_part.push((exclude[place].clone(), reference));
            }
        }
        kept.push(of_part);
    }
    match unknown.into_iter().min() {
        Some(place) => Err(StoreError::NotInPlan { reference: exclude[place].clone() }.into()),
        None => Ok(kept),
    }
}

/// The same text may have been in several workspaces: what one part's scan found may have gone with a later part.
fn look_again(service: &Service, outcomes: &mut [Outcome<'_>]) {
    for outcome in outcomes {
        if let (Some(workspace), Ok(applied)) = (outcome.workspace, &mut outcome.applied)
            && let Some(receipt) = &mut applied.receipt
        {
            service.store.look_again(workspace, applied.run.id, receipt);
        }
    }
}

fn applied_answer(
    service: &Service,
    caller: &Caller,
    joint: &JointPlan,
    outcomes: Vec<Outcome<'_>>,
    wanted: Wanted,
) -> AppliedPlan {
    let (mut trashed, mut reclaimed) = (Counts::default(), Counts::default());
    let mut skipped = SkippedAnswer { count: 0, first: Vec::new() };
    let (mut undo_until, mut is_unfinished, mut undone) = (None, false, Vec::new());
    let (mut parts, mut erased, mut failed, mut warnings) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for Outcome { workspace_id, part, workspace, applied } in outcomes {
        let applied = match applied {
            Ok(applied) => applied,
            Err(error) => {
                is_unfinished = true;
                let (problem, is_limit) = (error.message.clone(), error.code == ErrorCode::LimitExceeded);
                parts.push(failed_part(workspace_id.clone(), problem.clone()));
                failed.push(FailedPart { workspace_id, problem, is_limit });
                continue;
            }
        };
        let run = &applied.run;
        trashed.add_all(&run.counts.taken);
        reclaimed.add_all(&run.counts.reclaimed);
        skipped.count += applied.skipped.count;
        skipped.first.extend(applied.skipped.first.into_iter().map(|(id, reason)| SkippedItem { id, reason }));
        undo_until = [undo_until, run.undo_until].into_iter().flatten().min();
        undone.push(run.undone_at.is_some());
        is_unfinished |= run.finished_at.is_none();
        warnings.extend(applied.warnings.into_iter().map(|warning| format!("{workspace_id}: {warning}")));
        parts.push(AppliedPart {
            workspace_id,
            run_id: Some(run.id),
            trashed: Some(trashed_answer(&run.counts.taken)),
            skipped: Some(applied.skipped.count),
            unfinished: run.finished_at.is_none().then_some(true),
            problem: None,
        });
        if let (Some(workspace), Some(receipt)) = (workspace, applied.receipt) {
            erased.push(ErasedPart { workspace, run: Some(run.id), kept_pinned: part.kept_pinned, receipt });
        }
    }
    skipped.first.truncate(SKIPPED_SHOWN);
    let names = joint.workspaces.iter().map(|number| joint.workspace_name(*number)).collect();
    let searched: Searched = joint.searched.clone();
    let erasure = Erasure {
        id: joint.id.to_string(),
        operation: "forget",
        at: service.now(),
        searched: Some((searched, names)),
        parts: erased,
        failed,
    };
    let receipt = (!erasure.parts.is_empty()).then(|| service.receipt(caller, &erasure, wanted, &mut warnings));
    AppliedPlan {
        // Undo takes the joint plan's id in the place of a run's.
        run_id: RunId(joint.id.0),
        trashed: trashed_answer(&trashed),
        reclaimed: reclaimed_answer(&reclaimed),
        skipped,
        undo_until,
        undone: (!undone.is_empty() && undone.iter().all(|it| *it)).then_some(true),
        unfinished: is_unfinished.then_some(true),
        receipt,
        parts: Some(parts),
        warnings: said(warnings),
    }
}

fn failed_part(workspace_id: String, problem: String) -> AppliedPart {
    AppliedPart { workspace_id, run_id: None, trashed: None, skipped: None, unfinished: None, problem: Some(problem) }
}

/// Takes every part back that was applied and not undone yet.
pub(super) fn undo(joint: &JointPlan, service: &Service, caller: &Caller) -> Result<UndoAnswer, ServiceError> {
    need_everywhere(caller)?;
    let mut restored = Counts::default();
    let (mut parts, mut conflicts, mut warnings, mut is_unfinished) = (Vec::new(), Vec::new(), Vec::new(), false);
    for part in &joint.parts {
        let number = WorkspaceKey(part.workspace);
        let (Some(plan), Some(workspace)) = (part.plan, joint.workspace(number)) else { continue };
        let Some(run) = service.store.run_of_plan(workspace, plan)? else { continue };
        let workspace_id = joint.workspace_name(number);
        match service.undo_run(workspace, run, service.stamp(caller)) {
            Ok(undone) => {
                restored.add_all(&undone.restored);
                is_unfinished |= undone.is_unfinished;
                conflicts.extend(undone.conflicts.into_iter().map(|it| ConflictAnswer {
                    id: it.id,
                    reason: it.reason.to_owned(),
                    by: it.by,
                }));
                warnings.extend(undone.warnings.into_iter().map(|warning| format!("{workspace_id}: {warning}")));
                let restored = Some(undone.restored.naming(&["memories"]));
                parts.push(UndonePart { workspace_id, restored, problem: None });
            }
            Err(error) => {
                let problem = Some(error.message.clone());
                parts.push(UndonePart { workspace_id, restored: None, problem });
            }
        }
    }
    if parts.iter().all(|part| part.restored.is_none()) {
        let problem = parts.into_iter().find_map(|part| part.problem);
        let problem = problem.unwrap_or_else(|| "no part of the joint plan was applied".to_owned());
        return Err(ServiceError::conflict(problem));
    }
    Ok(UndoAnswer {
        restored: Some(restored.naming(&["memories"])),
        conflicts: Some(conflicts),
        runs: None,
        parts: Some(parts),
        unfinished: is_unfinished.then_some(true),
        warnings: said(warnings),
    })
}
