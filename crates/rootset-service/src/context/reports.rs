//! What an analysis says, as answered; and the plan behind it, stored so that it can be carried out as previewed.

use rootset_api::WindowPlanAnswer;
use rootset_gc::context::{SegmentIndex, WindowPlan};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{PlanId, SegmentKey};
use rootset_store::{NewPlan, Workspace};

use super::answers::grouped;
use super::live::LiveSession;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// A plan and what it was asked for, in tokens counted here.
#[derive(Debug)]
pub struct Analysed {
    pub plan: WindowPlan,
    pub target_tokens: u64,
}

pub fn segment_ids_of(live: &LiveSession, segments: impl IntoIterator<Item = SegmentIndex>) -> Vec<String> {
    segments.into_iter().map(|segment| live.row(segment).segment_id.clone()).collect()
}

impl Analysed {
    pub fn answer(&self, live: &LiveSession, stored: Option<(PlanId, rootset_model::Timestamp)>) -> WindowPlanAnswer {
        let of = |action| {
            let items = self.plan.items.iter().filter(move |item| item.action == action);
            segment_ids_of(live, items.map(|item| item.segment))
        };
        WindowPlanAnswer {
            plan_id: stored.map(|(plan, _)| plan.to_string()),
            expires_at: stored.map(|(_, expires_at)| expires_at),
            target_tokens: live.calibrated(self.target_tokens),
            tokens_freed: live.calibrated(self.plan.freed_tokens),
            shortfall: live.calibrated(self.plan.shortfall),
            stash_segments: of(Action::Stash),
            delete_segments: of(Action::Trash),
            compress_candidates: segment_ids_of(live, self.plan.compress.iter().copied()),
            cache_tokens_lost: live.calibrated(self.plan.cache_tokens_lost),
            reason: self.reason(live),
        }
    }

    fn reason(&self, live: &LiveSession) -> String {
        if let Some(empty) = self.plan.empty {
            return empty.to_string();
        }
        let stashed = self.plan.items.iter().filter(|item| item.action == Action::Stash);
        let (cold, unreachable): (Vec<_>, Vec<_>) = stashed.partition(|item| item.reason.is_reachable);
        let freed = grouped(live.calibrated(self.plan.freed_tokens));
        let shortfall = match live.calibrated(self.plan.shortfall) {
            0 => String::new(),
            tokens => format!("; roots and pins keep {} tokens of what was asked", grouped(tokens)),
        };
        format!("frees {freed} tokens: {} unreachable, {} cold segments{shortfall}", unreachable.len(), cold.len())
    }
}

impl Service {
    /// Stores a plan of what should leave the window. Whatever else happens, only its items can leave by it.
    pub(crate) fn store_window_plan(
        &self,
        caller: &Caller,
        workspace: &Workspace,
        live: &LiveSession,
        plan: &WindowPlan,
    ) -> Result<Option<(PlanId, rootset_model::Timestamp)>, ServiceError> {
        let Some(head) = live.head else { return Ok(None) };
        let items = plan.items.iter().map(|item| {
            let row = live.row(item.segment);
            let action = item.action;
            let reason = if action == Action::Trash { Reason::STASHED_LONG } else { item.reason.in_plan() };
            let object = SegmentKey(row.segment).external().into_bytes();
            PlanItem { kind: ItemKind::SEGMENT, object, revision: 0, version: row.version, action, reason }
        });
        let new = NewPlan {
            id: self.next_plan_id(),
            policy: format!(r#"{{"operation":"context_gc_analyze","session":{}}}"#, head.session),
            items: items.collect(),
            erases: false,
            include_pinned: false,
            is_named: false,
            marker: None,
        };
        let expires_at = self.store.store_segment_plan(workspace, &new, self.stamp(caller))?;
        Ok(Some((new.id, expires_at)))
    }
}
