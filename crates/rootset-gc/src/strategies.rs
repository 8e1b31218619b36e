//! Which objects are garbage: strategies decide on values and answer candidates; the act is elsewhere.
//!
//! A strategy is one file in this folder and one line in [`ALL`]. Whatever else speaks of strategies reads the list: the
//! schemas of requests, help, prompts, `explain`, the scheduler, the re-check, and the store, which reads from the
//! database what the chosen strategies need to see.

mod choice;
mod expired;
mod orphans;
mod stale_code;
mod strategy;
mod superseded;

use rootset_model::Timestamp;
use rootset_model::plan::Reason;

pub use choice::{StrategyChoice, chosen};
pub use expired::{EXPIRED, PERIOD_OVER};
pub use stale_code::STALE_CODE;
pub use strategy::{Example, Needs, Selection, Strategy};

use crate::heap::Heap;

/// Every strategy, in the order in which `all` applies them.
pub static ALL: &[&Strategy] = &[
    &stale_code::STALE_CODE,
    &expired::EXPIRED,
    &superseded::SUPERSEDED,
    &orphans::ORPHANED_CHUNKS,
    &orphans::ORPHANED_ENTITIES,
];

/// What the strategies select together; an object that several select is named once, by the first of them in [`ALL`].
pub fn select(strategies: &[&Strategy], heap: &Heap<'_>, now: Timestamp) -> Selection {
    let mut together = Selection::default();
    let mut is_taken = vec![false; heap.roots.len()];
    let mut is_reclaimed = vec![false; heap.derived.len()];
    for strategy in ALL.iter().filter(|strategy| strategies.contains(strategy)) {
        let selection = (strategy.select)(heap, now);
        let fresh = |taken: &mut Vec<bool>, place: u32| !std::mem::replace(&mut taken[place as usize], true);
        together.roots.extend(selection.roots.into_iter().filter(|(place, _)| fresh(&mut is_taken, *place)));
        together.derived.extend(selection.derived.into_iter().filter(|(place, _)| fresh(&mut is_reclaimed, *place)));
        together.unclassifiable.extend(selection.unclassifiable);
    }
    together.roots.sort_unstable_by_key(|(place, _)| *place);
    together.derived.sort_unstable_by_key(|(place, _)| *place);
    together
}

/// What the strategies need to see, each once.
pub fn needs_of(strategies: &[&Strategy]) -> Vec<Needs> {
    let mut needs: Vec<Needs> = strategies.iter().map(|strategy| strategy.needs).collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// The strategies that a memory can fall to.
pub fn of_memories() -> Vec<&'static Strategy> {
    ALL.iter().copied().filter(|strategy| strategy.needs.are_memories()).collect()
}

/// The strategies of a scheduled round, where nobody chose others.
pub fn by_schedule() -> Vec<&'static Strategy> {
    ALL.iter().copied().filter(|strategy| strategy.runs_by_schedule).collect()
}

/// The strategy that gives a reason: it also knows whether the reason still holds.
pub fn of_reason(reason: Reason) -> Option<&'static Strategy> {
    ALL.iter().copied().find(|strategy| strategy.reasons.contains(&reason))
}

/// The reason, of a strategy or of a caller, that is stored as this word.
pub fn stored_reason(word: &str) -> Option<Reason> {
    let mut reasons = ALL.iter().flat_map(|strategy| strategy.reasons).chain(Reason::WITHOUT_STRATEGY);
    reasons.find(|reason| reason.as_str() == word).copied()
}

#[cfg(test)]
mod tests;
