//! I1, I2, I3: what a batch is about to sweep.
//!
//! [`crate::recheck`] decides item by item and says why; these say of the result that it is right. They are written
//! from the invariant's side on purpose, so that a mistake has to be made twice.

use std::collections::BTreeSet;

use rootset_model::plan::{Action, PlanItem};

use super::{Broken, I1, I2, I3};
use crate::recheck::{PlanFacts, RootState};

/// Items of a plan that passed every question, with their states read in the transaction that will sweep them.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    pub plan: &'a PlanFacts,
    /// The plan's items of this batch.
    pub planned: &'a [PlanItem],
    pub swept: &'a [(PlanItem, RootState)],
}

impl Swept<'_> {
    /// I1, I2 and I3 together.
    pub fn check(&self) -> Result<(), Broken> {
        nothing_held_is_swept(self)?;
        swept_is_planned_and_garbage(self)?;
        nothing_newer_than_the_plan_is_swept(self)
    }

    fn item_where(&self, breaks: impl Fn(&PlanItem, &RootState) -> bool) -> Option<&PlanItem> {
        self.swept.iter().find(|(item, state)| breaks(item, state)).map(|(item, _)| item)
    }
}

/// I1.
pub fn nothing_held_is_swept(swept: &Swept<'_>) -> Result<(), Broken> {
    let plan = swept.plan;
    I1.holds_without(swept.item_where(|_, state| {
        let is_held_by_pin = state.is_pinned && !plan.include_pinned;
        let is_held_by_work = state.is_in_flight && !plan.is_named;
        is_held_by_pin || is_held_by_work
    }))
}

/// I2.
pub fn swept_is_planned_and_garbage(swept: &Swept<'_>) -> Result<(), Broken> {
    let planned: BTreeSet<&PlanItem> = swept.planned.iter().collect();
    I2.holds_without(swept.item_where(|item, _| !planned.contains(item)))?;
    let distinct: BTreeSet<&PlanItem> = swept.swept.iter().map(|(item, _)| item).collect();
    I2.holds_if(distinct.len() == swept.swept.len(), || "an item that is swept twice".to_owned())?;
    I2.holds_without(swept.item_where(|item, state| state.version != item.version))?;
    I2.holds_without(swept.item_where(|item, state| state.is_trashed && item.action != Action::Erase))?;
    I2.holds_without(swept.item_where(|item, state| match item.reason.as_str() {
        "stale" => !state.is_stale,
        "superseded" => !state.is_superseded,
        "orphaned" => !state.is_orphaned,
        // Whether dates and policies still condemn it, only the whole heap can tell: see `selection`.
        _ => false,
    }))
}

/// I3, as far as a state tells: what was changed has another version, what was created is in no plan.
pub fn nothing_newer_than_the_plan_is_swept(swept: &Swept<'_>) -> Result<(), Broken> {
    let plan = swept.plan;
    I3.holds_without(swept.item_where(|item, state| {
        let is_used_since = state.last_used_at.is_some_and(|used_at| used_at > plan.created_at);
        state.version > item.version || (is_used_since && !plan.is_named)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::STALE_CODE;
    use rootset_model::Timestamp;
    use rootset_model::plan::ItemKind;

    const PLAN: PlanFacts = PlanFacts { created_at: Timestamp(100), include_pinned: false, is_named: false };
    const ITEM: PlanItem = PlanItem {
        kind: ItemKind::MEMORY,
        object: [1; 16],
        revision: 0,
        version: 3,
        action: Action::Trash,
        reason: STALE_CODE.reasons[0],
    };
    const STATE: RootState = RootState { is_stale: true, ..RootState::plain(3) };

    fn broken_by(plan: PlanFacts, swept: &[(PlanItem, RootState)]) -> Option<&'static str> {
        let swept = Swept { plan: &plan, planned: &[ITEM], swept };
        swept.check().err().map(|broken| broken.invariant.id)
    }

    #[test]
    fn a_batch_of_planned_unchanged_garbage_may_go() {
        assert_eq!(broken_by(PLAN, &[(ITEM, STATE)]), None);
        assert_eq!(broken_by(PLAN, &[]), None);
    }

    #[test]
    fn each_invariant_is_broken_by_what_it_forbids() {
        let held = [RootState { is_pinned: true, ..STATE }, RootState { is_in_flight: true, ..STATE }];
        for state in held {
            assert_eq!(broken_by(PLAN, &[(ITEM, state)]), Some("I1"));
        }
        let not_garbage = [
            RootState { version: 2, ..STATE },
            RootState { is_trashed: true, ..STATE },
            RootState { is_stale: false, ..STATE },
        ];
        for state in not_garbage {
            assert_eq!(broken_by(PLAN, &[(ITEM, state)]), Some("I2"));
        }
        assert_eq!(broken_by(PLAN, &[(PlanItem { object: [2; 16], ..ITEM }, STATE)]), Some("I2"));
        assert_eq!(broken_by(PLAN, &[(ITEM, STATE), (ITEM, STATE)]), Some("I2"));
        let used = RootState { last_used_at: Some(Timestamp(101)), ..STATE };
        assert_eq!(broken_by(PLAN, &[(ITEM, used)]), Some("I3"));
    }

    #[test]
    fn a_plan_that_includes_what_is_pinned_or_names_its_items_may_take_more() {
        let pinned = RootState { is_pinned: true, ..STATE };
        assert_eq!(broken_by(PlanFacts { include_pinned: true, ..PLAN }, &[(ITEM, pinned)]), None);
        let used = RootState { last_used_at: Some(Timestamp(101)), is_in_flight: true, ..STATE };
        assert_eq!(broken_by(PlanFacts { is_named: true, ..PLAN }, &[(ITEM, used)]), None);
    }
}
