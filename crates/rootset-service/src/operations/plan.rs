//! `get_plan`.

use std::sync::Arc;

use rootset_api::{GetPlan, PlanAnswer, PlanItemAnswer, ReclaimedAnswer, Totals, Trashed};
use rootset_store::{ItemView, PlanTotals, PlanView, Reclaimed, RunCounts};

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
        totals: totals_answer(view.totals),
        fraction: view.fraction,
        items: view.items.into_iter().map(plan_item_answer).collect(),
        items_total: view.items_total,
        purge: view.erases,
        blocked: view.blocked,
    }
}

pub fn totals_answer(totals: PlanTotals) -> Totals {
    Totals {
        memories: totals.memories,
        chunks: totals.chunks,
        entities: totals.entities,
        relations: totals.relations,
        bytes: totals.bytes,
        revisions: (totals.revisions > 0).then_some(totals.revisions),
        segments: (totals.segments > 0).then_some(totals.segments),
        sessions: (totals.sessions > 0).then_some(totals.sessions),
        reclaim: reclaimed_answer(totals.reclaim),
    }
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

pub fn trashed_answer(counts: RunCounts) -> Trashed {
    Trashed {
        memories: counts.memories,
        chunks: counts.chunks,
        entities: counts.entities,
        relations: counts.relations,
        revisions: (counts.revisions > 0).then_some(counts.revisions),
        segments: (counts.segments > 0).then_some(counts.segments),
        sessions: (counts.sessions > 0).then_some(counts.sessions),
    }
}

/// `None` where there was nothing to reclaim.
pub fn reclaimed_answer(reclaimed: Reclaimed) -> Option<ReclaimedAnswer> {
    let Reclaimed { chunks, entities, relations } = reclaimed;
    (!reclaimed.is_nothing()).then_some(ReclaimedAnswer { chunks, entities, relations })
}
