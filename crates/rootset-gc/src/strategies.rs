//! Which objects are garbage: strategies decide on values and answer candidates; the act is elsewhere.
//!
//! Adding a strategy is one file and one line in [`ALL`]; the safety properties run over all of them.

mod expired;
mod orphans;
mod stale_code;
mod superseded;

use rootset_model::Timestamp;
use rootset_model::plan::Reason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::heap::Heap;

/// A strategy by its name in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    StaleCode,
    Expired,
    Superseded,
    OrphanedChunks,
    OrphanedEntities,
}

/// One way of telling garbage. A pure function of the heap and the time.
pub trait Strategy: Sync + std::fmt::Debug {
    fn name(&self) -> StrategyName;

    fn select(&self, heap: &Heap<'_>, now: Timestamp) -> Selection;
}

/// Candidates of one strategy, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Places in [`Heap::roots`] with the reason, ascending.
    pub roots: Vec<(u32, Reason)>,
    /// Places in [`Heap::derived`] with the reason, ascending.
    pub derived: Vec<(u32, Reason)>,
    /// Places in [`Heap::roots`] of rows that retention could not judge, ascending.
    pub unclassifiable: Vec<u32>,
}

/// Every strategy, in the order in which `all` applies them.
pub const ALL: &[&dyn Strategy] = &[
    &stale_code::StaleCode,
    &expired::Expired,
    &superseded::Superseded,
    &orphans::OrphanedChunks,
    &orphans::OrphanedEntities,
];

/// What the strategies select together; an object that several select is named once, by the first of them in [`ALL`].
pub fn select(names: &[StrategyName], heap: &Heap<'_>, now: Timestamp) -> Selection {
    let mut together = Selection::default();
    let mut is_taken = vec![false; heap.roots.len()];
    let mut is_reclaimed = vec![false; heap.derived.len()];
    for strategy in ALL.iter().filter(|strategy| names.contains(&strategy.name())) {
        let selection = strategy.select(heap, now);
        let fresh = |taken: &mut Vec<bool>, place: u32| !std::mem::replace(&mut taken[place as usize], true);
        together.roots.extend(selection.roots.into_iter().filter(|(place, _)| fresh(&mut is_taken, *place)));
        together.derived.extend(selection.derived.into_iter().filter(|(place, _)| fresh(&mut is_reclaimed, *place)));
        together.unclassifiable.extend(selection.unclassifiable);
    }
    together.roots.sort_unstable_by_key(|(place, _)| *place);
    together.derived.sort_unstable_by_key(|(place, _)| *place);
    together
}

#[cfg(test)]
mod tests;
