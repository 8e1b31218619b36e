//! The question asked again inside the sweep's transaction: does this item still qualify? (I1, I2, I3)

use rootset_model::Timestamp;
use rootset_model::plan::{Action, PlanItem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strategies;

/// What the store knows about a root at the moment of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootState {
    pub version: i64,
    pub is_trashed: bool,
    pub is_pinned: bool,
    /// As far as recorded; reading an item to review a plan is not a use.
    pub last_used_at: Option<Timestamp>,
    /// Its graph is being worked on right now.
    pub is_in_flight: bool,
    /// The last completed scan of its repository does not contain it.
    pub is_stale: bool,
    /// A living memory supersedes it.
    pub is_superseded: bool,
    /// A derived row that nothing vouches for.
    pub is_orphaned: bool,
}

impl RootState {
    /// A root that only just exists: neither held by anything nor condemned by anything.
    pub const fn plain(version: i64) -> Self {
        Self {
            version,
            is_trashed: false,
            is_pinned: false,
            last_used_at: None,
            is_in_flight: false,
            is_stale: false,
            is_superseded: false,
            is_orphaned: false,
        }
    }
}

/// What the plan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanFacts {
    pub created_at: Timestamp,
    pub include_pinned: bool,
    /// The caller named the items themselves: a use since then is no objection.
    pub is_named: bool,
}

/// Why an item of a confirmed plan was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// The reviewer asked for it to be kept.
    Excluded,
    /// It was purged, or never existed.
    Gone,
    /// It is in the trash already.
    Trashed,
    /// It was changed after the plan was made.
    Changed,
    Pinned,
    /// It was served to somebody after the plan was made.
    Used,
    /// Its graph was being worked on.
    InFlight,
    /// What made it garbage no longer holds: a scan saw the file again, its successor went, the policy changed.
    NotGarbage,
}

impl Skip {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Excluded, "excluded"),
        (Self::Gone, "gone"),
        (Self::Trashed, "trashed"),
        (Self::Changed, "changed"),
        (Self::Pinned, "pinned"),
        (Self::Used, "used"),
        (Self::InFlight, "in_flight"),
        (Self::NotGarbage, "not_garbage"),
    ];

    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(skip, _)| *skip == self).map(|(_, text)| *text).expect("every skip has its word")
    }

    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, word)| *word == text).map(|(skip, _)| *skip)
    }
}

/// `None` when the item may go. Every doubt keeps it.
pub fn recheck(plan: &PlanFacts, item: &PlanItem, state: Option<&RootState>) -> Option<Skip> {
    let Some(state) = state else { return Some(Skip::Gone) };
    // The trash is no refuge from an erasure.
    if state.is_trashed && item.action != Action::Erase {
        Some(Skip::Trashed)
    } else if state.is_pinned && !plan.include_pinned {
        // Asked before the version, which pinning raises: the reviewer wants to know of the pin.
        Some(Skip::Pinned)
    } else if state.version != item.version {
        Some(Skip::Changed)
    } else if !plan.is_named && state.last_used_at.is_some_and(|used_at| used_at > plan.created_at) {
        Some(Skip::Used)
    } else if !plan.is_named && state.is_in_flight {
        Some(Skip::InFlight)
    } else if strategies::of_reason(item.reason).is_some_and(|strategy| !(strategy.still_holds)(state)) {
        Some(Skip::NotGarbage)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootset_model::plan::{ItemKind, Reason};

    const PLAN: PlanFacts = PlanFacts { created_at: Timestamp(100), include_pinned: false, is_named: false };
    const STATE: RootState = RootState { last_used_at: Some(Timestamp(100)), ..RootState::plain(3) };
    const ITEM: PlanItem = PlanItem {
        kind: ItemKind::MEMORY,
        object: [1; 16],
        revision: 0,
        version: 3,
        action: Action::Trash,
        reason: Reason::MATCHED,
    };

    #[test]
    fn only_an_untouched_item_may_go() {
        assert_eq!(recheck(&PLAN, &ITEM, Some(&STATE)), None);
        assert_eq!(recheck(&PLAN, &ITEM, None), Some(Skip::Gone));
        assert_eq!(recheck(&PLAN, &ITEM, Some(&RootState { version: 4, ..STATE })), Some(Skip::Changed));
        assert_eq!(recheck(&PLAN, &ITEM, Some(&RootState { is_trashed: true, ..STATE })), Some(Skip::Trashed));
        assert_eq!(recheck(&PLAN, &ITEM, Some(&RootState { is_pinned: true, ..STATE })), Some(Skip::Pinned));
        let used = RootState { last_used_at: Some(Timestamp(101)), ..STATE };
        assert_eq!(recheck(&PLAN, &ITEM, Some(&used)), Some(Skip::Used));
        assert_eq!(recheck(&PLAN, &ITEM, Some(&RootState { is_in_flight: true, ..STATE })), Some(Skip::InFlight));
    }

    #[test]
    fn what_is_no_longer_garbage_stays() {
        let reason = |word| strategies::stored_reason(word).expect("a strategy gives it");
        let stale = PlanItem { reason: reason("stale"), ..ITEM };
        assert_eq!(recheck(&PLAN, &stale, Some(&STATE)), Some(Skip::NotGarbage));
        assert_eq!(recheck(&PLAN, &stale, Some(&RootState { is_stale: true, ..STATE })), None);
        let superseded = PlanItem { reason: reason("superseded"), ..ITEM };
        assert_eq!(recheck(&PLAN, &superseded, Some(&STATE)), Some(Skip::NotGarbage));
        assert_eq!(recheck(&PLAN, &superseded, Some(&RootState { is_superseded: true, ..STATE })), None);
        let orphan = PlanItem { reason: reason("orphaned"), action: Action::Reclaim, ..ITEM };
        assert_eq!(recheck(&PLAN, &orphan, Some(&STATE)), Some(Skip::NotGarbage));
    }

    #[test]
    fn an_erasure_takes_what_is_in_the_trash_unless_it_changed() {
        let erase = PlanItem { action: Action::Erase, ..ITEM };
        let trashed = RootState { is_trashed: true, ..STATE };
        assert_eq!(recheck(&PLAN, &erase, Some(&trashed)), None);
        assert_eq!(recheck(&PLAN, &erase, Some(&RootState { version: 4, ..trashed })), Some(Skip::Changed));
    }

    #[test]
    fn a_named_item_goes_although_it_was_used_and_a_pin_yields_to_include_pinned() {
        let used = RootState { last_used_at: Some(Timestamp(101)), ..STATE };
        assert_eq!(recheck(&PlanFacts { is_named: true, ..PLAN }, &ITEM, Some(&used)), None);
        let pinned = RootState { is_pinned: true, ..STATE };
        assert_eq!(recheck(&PlanFacts { include_pinned: true, ..PLAN }, &ITEM, Some(&pinned)), None);
    }
}
