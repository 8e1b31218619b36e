//! `get_plan`.

use std::sync::Arc;

use rootset_api::{GetPlan, PlanAnswer, PlanItemAnswer, ReclaimedAnswer, Totals, Trashed};
use rootset_model::Counts;
use rootset_store::{ItemView, PlanTotals, PlanView};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{hex, page, parse_plan_id};
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GetPlan {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PlanAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let plan = parse_plan_id(&self.plan_id)?;
        Ok(plan_answer(service.store.plan(&workspace, plan, &service.settings.limits, offset, limit)?))
    }
}

pub fn plan_answer(view: PlanView) -> PlanAnswer {
    PlanAnswer {
        plan_id: view.id,
        digest: hex(&view.digest),
        expires_at: view.expires_at,
        totals: totals_answer(&view.totals),
        fraction: view.fraction,
        items: view.items.into_iter().map(plan_item_answer).collect(),
        items_total: view.items_total,
        purge: view.erases,
        blocked: view.blocked,
    }
}

pub fn totals_answer(totals: &PlanTotals) -> Totals {
    let counts = &totals.counts;
    Totals {
        memories: counts.get("memories"),
        chunks: counts.get("chunks"),
        entities: counts.get("entities"),
        relations: counts.get("relations"),
        bytes: counts.get("bytes"),
        revisions: some_of(counts, "revisions"),
        segments: some_of(counts, "segments"),
        sessions: some_of(counts, "sessions"),
        reclaim: reclaimed_answer(&totals.reclaim),
    }
}

/// Left out where there is nothing of the kind.
pub fn some_of(counts: &Counts, kind: &str) -> Option<i64> {
    Some(counts.get(kind)).filter(|number| *number > 0)
}

pub fn plan_item_answer(view: ItemView) -> PlanItemAnswer {
    PlanItemAnswer {
        kind: view.item.kind,
        id: view.id,
        name: view.name,
        topic: view.topic,
        file_path: view.file_path,
        created_at: view.created_at,
        lines: view.lines,
        chunk_count: view.chunk_count,
        action: view.item.action.as_str().to_owned(),
        reason: view.item.reason.in_words().to_owned(),
    }
}

pub fn trashed_answer(taken: &Counts) -> Trashed {
    Trashed {
        memories: taken.get("memories"),
        chunks: taken.get("chunks"),
        entities: taken.get("entities"),
        relations: taken.get("relations"),
        revisions: some_of(taken, "revisions"),
        segments: some_of(taken, "segments"),
        sessions: some_of(taken, "sessions"),
        stashed: some_of(taken, "stashed"),
    }
}

/// `None` where there was nothing to reclaim.
pub fn reclaimed_answer(reclaimed: &Counts) -> Option<ReclaimedAnswer> {
    let [chunks, entities, relations] = ["chunks", "entities", "relations"].map(|kind| reclaimed.get(kind));
    (!reclaimed.is_nothing()).then_some(ReclaimedAnswer { chunks, entities, relations })
}
