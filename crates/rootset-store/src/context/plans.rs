//! Plans of an analysis: which segments to stash or to delete. Kept like every other plan, applied by the window's owner.

use rootset_model::limits::PLAN_LIFETIME_MS;
use rootset_model::plan::{Action, ItemKind, Reason};
use rootset_model::{PlanId, SegmentKey, Timestamp};
use serde::Deserialize;

use crate::error::StoreError;
use crate::plans::{self, NewPlan};
use crate::{Stamp, Store, Workspace};

/// What the policy of such a plan says.
#[derive(Deserialize)]
struct SegmentPolicy {
    session: i64,
}

/// Segment, version, action and reason of a plan's item.
pub type SegmentItem = (i64, i64, Action, Reason);

impl Store {
    /// Stores the plan; its policy names the session: `{"operation": …, "session": 7}`. Answers when it expires.
    pub fn store_segment_plan(
        &self,
        workspace: &Workspace,
        plan: &NewPlan,
        stamp: Stamp<'_>,
    ) -> Result<Timestamp, StoreError> {
        self.write(workspace, |tx| plans::insert(tx, workspace.key, plan, stamp))?;
        Ok(stamp.now.saturating_add_ms(PLAN_LIFETIME_MS))
    }

    /// The session of a stored plan, and its items.
    pub fn segment_plan(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        now: Timestamp,
    ) -> Result<(i64, Vec<SegmentItem>), StoreError> {
        self.read(workspace, |tx| {
            let stored = plans::find(tx, workspace.key, plan)?;
            let policy: Option<SegmentPolicy> = serde_json::from_str(&stored.policy).ok();
            let Some(policy) = policy else { return Err(StoreError::PlanNotFound(plan.to_string())) };
            if now > stored.expires_at {
                return Err(StoreError::PlanExpired { plan, at: stored.expires_at });
            }
            let items = plans::items(tx, workspace.key, plan, 0, i64::MAX)?;
            let items = items.into_iter().filter(|(_, item)| item.kind == ItemKind::SEGMENT).filter_map(|(_, item)| {
                let key = SegmentKey::from_object(item.object)?;
                Some((key.0, item.version, item.action, item.reason))
            });
            Ok((policy.session, items.collect()))
        })
    }
}
