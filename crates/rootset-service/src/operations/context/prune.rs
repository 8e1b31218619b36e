//! `context_gc_prune`.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootset_api::{ContextGcPrune, ContextPruned, ErrorCode, PruneMode, Request, SegmentError};
use rootset_gc::context::{Author, Population, SegmentIndex, SegmentState};
use rootset_model::limits::SEGMENTS_NAMED_MAX;
use rootset_model::plan::{Action, Reason};
use rootset_store::{Pruning, SegmentItem, StoreError, Workspace};
use rootset_text::terms::index_terms;
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
    reason: Reason,
}

impl Wish {
    fn item(&self, live: &LiveSession) -> SegmentItem {
        let row = live.row(self.segment);
        let action = if self.delete { Action::Trash } else { Action::Stash };
        (row.segment, row.version, action, self.reason)
    }
}

/// How often it is tried again when others change the same session.
const ATTEMPTS_MAX: usize = 16;

impl Operation for ContextGcPrune {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextPruned, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.strategy == Some(PruneMode::Delete) && !self.confirm.unwrap_or(false) {
            return Err(unconfirmed(&self));
        }
        let named = named(&self)?;
        service.back_up_before(self.backup, &workspace, caller)?;
        for _ in 0..ATTEMPTS_MAX {
            if let Some(pruned) = prune(&self, service, caller, &workspace, &named)? {
                return Ok(pruned);
            }
        }
        Err(ServiceError::new(
            ErrorCode::Busy,
            format!("other callers keep changing the session `{}`", self.session_id),
        )
        .with_hint("try again"))
    }
}

/// Through the collector's protocol: a named plan, confirmed, swept and audited in one transaction. `None`: another
/// process changed the session meanwhile.
fn prune(
    request: &ContextGcPrune,
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    named: &Named<'_>,
) -> Result<Option<ContextPruned>, ServiceError> {
    let before = service.read_session(workspace, &request.session_id, |live| {
        let mut errors = Vec::new();
        let wishes = wishes(request, service, workspace, live, named, &mut errors)?;
        // What is in the stash already stays there.
        let is_stashed = |wish: &Wish| live.window().graph().state(wish.segment) == SegmentState::Stashed;
        let (asked, there): (Vec<Wish>, Vec<Wish>) =
            wishes.into_iter().partition(|wish| wish.delete || !is_stashed(wish));
        let items: Vec<SegmentItem> = asked.iter().map(|wish| wish.item(live)).collect();
        let usage = usage_answer(live, &live.settings(&service.settings.context)?);
        let pruned = ContextPruned {
            stashed: there.iter().map(|wish| live.row(wish.segment).segment_id.clone()).collect(),
            deleted: Vec::new(),
            errors,
            tokens_freed: 0,
            usage_before: usage,
            usage_after: usage,
            run_id: None,
            undo_until: None,
        };
        Ok((live.head, items, pruned, live.window().tokens()))
    })?;
    let (head, items, mut pruned, tokens_before) = before;
    let Some(session) = head.filter(|_| !items.is_empty()) else { return Ok(Some(pruned)) };
    let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
    let pruning = Pruning { session, items: &items, terms: &index_terms, ids, grace_ms };
    let done = match service.store.prune_segments(workspace, &pruning, service.stamp(caller)) {
        Ok(done) => done,
        Err(StoreError::SessionChanged { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    service.read_session(workspace, &request.session_id, |live| {
        let id_of = |number: &i64| live.index_of_number(*number).map(|index| live.row(index).segment_id.clone());
        pruned.stashed.extend(done.stashed.iter().filter_map(id_of));
        pruned.deleted = done.deleted.iter().filter_map(id_of).collect();
        for (number, skip) in &done.skipped {
            let error = ServiceError::conflict(format!("skipped: {}", skip.as_str()));
            pruned.errors.extend(id_of(number).map(|id| segment_error(&id, &error)));
        }
        pruned.usage_after = usage_answer(live, &live.settings(&service.settings.context)?);
        pruned.tokens_freed = live.calibrated(tokens_before.saturating_sub(live.window().tokens()));
        Ok(())
    })?;
    pruned.run_id = Some(done.run.id);
    pruned.undo_until = done.run.undo_until;
    Ok(Some(pruned))
}

fn wishes(
    request: &ContextGcPrune,
    service: &Service,
    workspace: &Workspace,
    live: &LiveSession,
    named: &Named<'_>,
    errors: &mut Vec<SegmentError>,
) -> Result<Vec<Wish>, ServiceError> {
    let mode = request.strategy.unwrap_or_default();
    match named {
        Named::Ids(ids) => Ok(wishes_by_id(live, ids, mode == PruneMode::Delete, errors)),
        Named::Plan(plan) => {
            let items = plan_of(service, workspace, live, plan)?;
            Ok(wishes_by_plan(live, &items, mode, request.confirm.unwrap_or(false), errors))
        }
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
            .with_hint("make a plan with `context_gc_analyze`")),
    }
}

fn unconfirmed(request: &ContextGcPrune) -> ServiceError {
    ServiceError::new(ErrorCode::ConfirmationRequired, "deleting segments needs `confirm: true`")
        .with_hint("`stash` needs no confirmation: `context_restore` brings stashed segments back")
        .with_details(json!({"plan_id": request.plan_id, "next": {"operation": ContextGcPrune::NAME, "arguments": {
            "session_id": request.session_id, "segment_ids": request.segment_ids, "plan_id": request.plan_id,
            "strategy": "delete", "confirm": true, "backup": request.backup,
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
    wanted.into_iter().map(|segment| Wish { segment, delete, reason: Reason::NAMED }).collect()
}

fn plan_of(
    service: &Service,
    workspace: &Workspace,
    live: &LiveSession,
    plan: &str,
) -> Result<Vec<SegmentItem>, ServiceError> {
    let (session, items) = service.store.segment_plan(workspace, parse_plan_id(plan)?, service.now())?;
    if live.head.is_none_or(|head| head.session != session) {
        let message = format!("`plan_id`: the plan does not belong to the session `{}`", live.session_id);
        return Err(ServiceError::invalid(message).with_hint("make one with `context_gc_analyze`"));
    }
    Ok(items)
}

/// Exactly the items of the preview, less what changed since.
fn wishes_by_plan(
    live: &LiveSession,
    items: &[SegmentItem],
    mode: PruneMode,
    confirm: bool,
    errors: &mut Vec<SegmentError>,
) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for (number, version, action, reason) in items {
        let Some(segment) = live.index_of_number(*number) else { continue };
        let row = live.row(segment);
        let check = || {
            live.find(&row.segment_id)?;
            may_leave(live, segment)?;
            if row.version == *version {
                Ok(())
            } else {
                Err(ServiceError::conflict("it changed after the plan was made"))
            }
        };
        let proposed = *action == Action::Trash && confirm;
        let delete = match mode {
            PruneMode::Auto => proposed,
            PruneMode::Stash => false,
            PruneMode::Delete => true,
        };
        match check() {
            Ok(()) => wishes.push(Wish { segment, delete, reason: *reason }),
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
        return Err(ServiceError::conflict(format!(
            "the segment `{}` is a rule of the session and always stays",
            row.segment_id
        )));
    }
    Ok(())
}
