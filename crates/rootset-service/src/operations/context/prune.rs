//! `context_gc_prune`.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootset_api::{ContextGcPrune, ContextPruned, ErrorCode, PruneStrategy, Request, SegmentError};
use rootset_gc::context::{Author, Population, SegmentIndex, SegmentState};
use rootset_model::limits::SEGMENTS_NAMED_MAX;
use rootset_model::plan::{Action, Reason};
use rootset_store::{LedgerAction, Workspace};
use serde_json::json;

use crate::caller::Caller;
use crate::context::{LiveSession, segment_error, usage_answer};
use crate::error::ServiceError;
use crate::fields::parse_plan_id;
use crate::operation::Operation;
use crate::service::Service;

/// What is asked of one segment.
#[derive(Clone, Copy)]
struct Wish {
    segment: SegmentIndex,
    delete: bool,
    /// Why it leaves, as the ledger tells it.
    reason: &'static str,
}

impl Operation for ContextGcPrune {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextPruned, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let strategy = self.strategy.unwrap_or_default();
        let confirm = self.confirm.unwrap_or(false);
        if strategy == PruneStrategy::Delete && !confirm {
            return Err(unconfirmed(&self));
        }
        let named = named(&self)?;
        let (mut pruned, deletions) = service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let settings = edit.live.settings(&service.settings.context)?;
            let mut errors = Vec::new();
            let wishes = match named {
                Named::Ids(ids) => wishes_by_id(edit.live, ids, strategy == PruneStrategy::Delete, &mut errors),
                Named::Plan(plan) => {
                    let items = plan_of(service, &workspace, edit.live, plan)?;
                    wishes_by_plan(edit.live, &items, strategy, confirm, &mut errors)
                }
            };
            let usage_before = usage_answer(edit.live, &settings);
            let tokens_before = edit.live.window().tokens();
            let mut stashed = Vec::new();
            for wish in wishes.iter().filter(|wish| !wish.delete) {
                if edit.live.window().graph().state(wish.segment) == SegmentState::Active {
                    edit.stash(wish.segment, wish.reason, LedgerAction::Stash);
                }
                stashed.push(edit.live.row(wish.segment).segment_id.clone());
            }
            let freed = tokens_before - edit.live.window().tokens();
            let deletions = wishes.iter().filter(|wish| wish.delete).map(|wish| wish.segment);
            let deletions: Vec<i64> = deletions.map(|segment| edit.live.row(segment).segment).collect();
            let usage_after = usage_answer(edit.live, &settings);
            let pruned = ContextPruned {
                stashed,
                deleted: Vec::new(),
                errors,
                tokens_freed: edit.live.calibrated(freed),
                usage_before,
                usage_after,
                run_id: None,
                undo_until: None,
            };
            Ok((pruned, deletions))
        })?;
        if !deletions.is_empty() {
            delete(service, caller, &workspace, &self.session_id, &deletions, &mut pruned)?;
        }
        Ok(pruned)
    }
}

enum Named<'a> {
    Ids(&'a [String]),
    Plan(&'a str),
}

fn named(request: &ContextGcPrune) -> Result<Named<'_>, ServiceError> {
    match (&request.segment_ids, &request.plan_id) {
        (Some(ids), None) if ids.is_empty() => Err(ServiceError::invalid("`segment_ids` is empty")),
        (Some(ids), None) if ids.len() > SEGMENTS_NAMED_MAX => {
            Err(ServiceError::invalid(format!("`segment_ids` has {} items, more than {SEGMENTS_NAMED_MAX}", ids.len())))
        }
        (Some(ids), None) => Ok(Named::Ids(ids)),
        (None, Some(plan)) => Ok(Named::Plan(plan)),
        _ => Err(ServiceError::invalid("either `segment_ids` or `plan_id` is required")
            .with_hint("`context_gc_analyze` makes a plan")),
    }
}

fn unconfirmed(request: &ContextGcPrune) -> ServiceError {
    ServiceError::new(ErrorCode::ConfirmationRequired, "deleting segments needs `confirm: true`")
        .with_hint("`stash` needs none: what is stashed comes back with `context_restore`")
        .with_details(json!({"plan_id": request.plan_id, "next": {"operation": ContextGcPrune::NAME, "arguments": {
            "session_id": request.session_id, "segment_ids": request.segment_ids, "plan_id": request.plan_id,
            "strategy": "delete", "confirm": true,
        }}}))
}

/// The named segments with the other halves of their pairs; what holds one half holds the other.
fn wishes_by_id(live: &LiveSession, ids: &[String], delete: bool, errors: &mut Vec<SegmentError>) -> Vec<Wish> {
    let mut wanted: BTreeSet<SegmentIndex> = BTreeSet::new();
    for id in ids {
        let checked = live.find(id).and_then(|segment| {
            let group = live.with_pairs(segment, Population::ActiveAndStashed);
            group.iter().try_for_each(|member| may_leave(live, *member)).map(|()| group)
        });
        match checked {
            Ok(group) => wanted.extend(group),
            Err(error) => errors.push(segment_error(id, &error)),
        }
    }
    let reason = Reason::NAMED.in_words();
    wanted.into_iter().map(|segment| Wish { segment, delete, reason }).collect()
}

type PlannedItems = Vec<(i64, i64, Action, Reason)>;

fn plan_of(
    service: &Service,
    workspace: &Workspace,
    live: &LiveSession,
    plan: &str,
) -> Result<PlannedItems, ServiceError> {
    let (session, items) = service.store.segment_plan(workspace, parse_plan_id(plan)?, service.now())?;
    match live.head.is_some_and(|head| head.session == session) {
        true => Ok(items),
        false => {
            Err(ServiceError::invalid(format!("`plan_id`: the plan is not one of the session `{}`", live.session_id))
                .with_hint("make one with `context_gc_analyze`"))
        }
    }
}

/// Exactly the items of the preview, less what changed since.
fn wishes_by_plan(
    live: &LiveSession,
    items: &PlannedItems,
    strategy: PruneStrategy,
    confirm: bool,
    errors: &mut Vec<SegmentError>,
) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for (number, version, action, reason) in items {
        let Some(segment) = live.index_of_number(*number) else { continue };
        let row = live.row(segment);
        let checked = live.find(&row.segment_id).and_then(|_| may_leave(live, segment)).and_then(|()| {
            match row.version == *version {
                true => Ok(()),
                false => Err(ServiceError::conflict("it changed after the plan was made")),
            }
        });
        let proposed = *action == Action::Trash && confirm;
        let delete = match strategy {
            PruneStrategy::Auto => proposed,
            PruneStrategy::Stash => false,
            PruneStrategy::Delete => true,
        };
        match checked {
            Ok(()) => wishes.push(Wish { segment, delete, reason: reason.in_words() }),
            Err(error) => errors.push(segment_error(&row.segment_id, &error)),
        }
    }
    wishes
}

fn may_leave(live: &LiveSession, segment: SegmentIndex) -> Result<(), ServiceError> {
    let (row, facts) = (live.row(segment), live.window().facts(segment));
    if row.is_pinned {
        let because = row.pin_reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        return Err(ServiceError::conflict(format!("the segment `{}` is pinned{because}", row.segment_id)));
    }
    if facts.is_invariant || facts.author == Author::System {
        return Err(ServiceError::conflict(format!("the segment `{}` always stays: it is a rule", row.segment_id)));
    }
    Ok(())
}

/// Through the collector's protocol: a named plan, confirmed, swept and audited in one transaction.
fn delete(
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    session_id: &str,
    numbers: &[i64],
    pruned: &mut ContextPruned,
) -> Result<(), ServiceError> {
    let tokens_before = pruned.usage_after.tokens;
    let deletion = service.read_session(workspace, session_id, |live| {
        let head = live.head.ok_or_else(|| ServiceError::new(ErrorCode::NotFound, "the session is gone"))?;
        let items: Vec<(i64, i64)> = numbers
            .iter()
            .filter_map(|number| live.index_of_number(*number).map(|index| (*number, live.row(index).version)))
            .collect();
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        Ok(service.store.delete_segments(workspace, head, &items, ids, grace_ms, service.stamp(caller))?)
    })?;
    service.read_session(workspace, session_id, |live| {
        let id_of = |number: &i64| live.index_of_number(*number).map(|index| live.row(index).segment_id.clone());
        pruned.deleted = deletion.deleted.iter().filter_map(id_of).collect();
        for (number, skip) in &deletion.skipped {
            let error = ServiceError::conflict(format!("left alone: {}", skip.as_str()));
            pruned.errors.extend(id_of(number).map(|id| segment_error(&id, &error)));
        }
        pruned.usage_after = usage_answer(live, &live.settings(&service.settings.context)?);
        pruned.tokens_freed += tokens_before.saturating_sub(pruned.usage_after.tokens);
        Ok(())
    })?;
    pruned.run_id = Some(deletion.run.id);
    pruned.undo_until = deletion.run.undo_until;
    Ok(())
}
