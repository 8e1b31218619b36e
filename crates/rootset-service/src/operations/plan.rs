//! `get_plan`.

use std::sync::Arc;

use rootset_api::{GetPlan, PlanAnswer, PlanItemAnswer, Totals};
use rootset_model::plan::{ItemKind, Reason};
use rootset_model::{Counts, MemoryId};
use rootset_store::{ItemView, PlanTotals, PlanView, StoreError};

use super::joint;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{hex, page, parse_plan_id};
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GetPlan {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PlanAnswer, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        let plan = parse_plan_id(&self.plan_id)?;
        service.where_plan_is(caller, self.workspace_id.as_deref(), plan, |workspace| {
            match service.store.plan(workspace, plan, &service.settings.limits, offset, limit) {
                Err(error @ StoreError::PlanNotFound(_)) => match joint::find(service, caller, plan)? {
                    Some(joint) => joint::page(service, &joint, offset, limit),
                    None => Err(error.into()),
                },
                found => Ok(plan_answer(found?)),
            }
        })
    }
}

pub fn plan_answer(view: PlanView) -> PlanAnswer {
    let can_be_cut = view.can_be_cut;
    let shown = |item: ItemView| {
        let can_redact = can_be_cut.contains(&MemoryId(item.item.object)).then_some(true);
        PlanItemAnswer { can_redact, ..plan_item_answer(item) }
    };
    PlanAnswer {
        plan_id: view.id,
        digest: hex(&view.digest),
        expires_at: view.expires_at,
        totals: totals_answer(&view.totals),
        fraction: view.fraction,
        maybe: (!view.maybe.is_empty()).then(|| view.maybe.into_iter().map(shown).collect()),
        items: view.items.into_iter().map(shown).collect(),
        items_total: view.items_total,
        purge: view.erases,
        blocked: view.blocked,
        parts: None,
    }
}

pub fn totals_answer(totals: &PlanTotals) -> Totals {
    let counts = totals.counts.naming(&["memories", "chunks", "entities", "relations", "bytes"]);
    Totals { counts, reclaim: reclaimed_answer(&totals.reclaim) }
}

pub fn plan_item_answer(view: ItemView) -> PlanItemAnswer {
    // Of a memory that is cut, the plan holds the text that goes.
    let is_cut = view.item.reason == Reason::REDACTED;
    PlanItemAnswer {
        kind: if is_cut { ItemKind::MEMORY } else { view.item.kind },
        workspace_id: None,
        id: if is_cut { MemoryId(view.item.object).to_string() } else { view.id },
        name: view.name,
        topic: view.topic,
        file_path: view.file_path,
        created_at: view.created_at,
        lines: view.lines,
        chunk_count: view.chunk_count,
        action: if is_cut { "redact".to_owned() } else { view.item.action.as_str().to_owned() },
        reason: view.item.reason.in_words().to_owned(),
        matched_words: None,
        rest: None,
        can_redact: None,
    }
}

pub fn trashed_answer(taken: &Counts) -> Counts {
    taken.naming(&["memories", "chunks", "entities", "relations"])
}

/// `None` where there was nothing to reclaim.
pub fn reclaimed_answer(reclaimed: &Counts) -> Option<Counts> {
    (!reclaimed.is_nothing()).then(|| reclaimed.naming(&["chunks", "entities", "relations"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What no operation here has ever heard of.
    fn parcels() -> Counts {
        let mut counts = Counts::zero(&["memories", "revisions"]);
        counts.add("parcels", 3);
        counts
    }

    #[test]
    fn a_kind_that_nobody_here_knows_is_answered() {
        let trashed = json!({"memories": 0, "chunks": 0, "entities": 0, "relations": 0, "parcels": 3});
        assert_eq!(json!(trashed_answer(&parcels())), trashed);
        let totals = totals_answer(&PlanTotals { counts: parcels(), reclaim: Counts::of("shards", 1) });
        let shown = json!({
            "memories": 0, "chunks": 0, "entities": 0, "relations": 0, "bytes": 0, "parcels": 3,
            "reclaim": {"chunks": 0, "entities": 0, "relations": 0, "shards": 1},
        });
        assert_eq!(json!(totals), shown);
        let read: Totals = serde_json::from_value(shown).unwrap();
        assert_eq!((read.counts.get("parcels"), read.reclaim.unwrap().get("shards")), (3, 1));
    }
}
