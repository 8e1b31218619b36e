//! The collector's decisions: what is garbage, what a plan's digest is, whether an item still qualifies, which limit a
//! plan breaks; in [`context`], what may leave an agent's context window.
//!
//! Pure functions over values. Nothing here reads a clock or a database, and nothing here can delete: the store carries
//! decisions out, and only for a plan that was stored and confirmed.

mod backups;
pub mod brief;
pub mod context;
mod defrag;
mod digest;
pub mod drains;
pub mod heap;
pub mod invariants;
mod next_change;
mod observed;
mod policies;
mod pushing;
pub mod recalling;
mod recheck;
pub mod retention;
mod safety;
pub mod strategies;
pub mod survival;

pub use backups::{BackupFacts, BackupPolicy, backups_to_remove};
pub use defrag::is_defrag_recommended;
pub use digest::digest;
pub use next_change::{goes_by_uses, next_change};
pub use observed::{
    BEHIND_MS_MAX, DOUBT_MS, Doubt, OBSERVED_AGE_MS_MIN, OBSERVED_AT_ONCE_MS_MAX, OBSERVED_STEP_MS, ObservedTime,
    jump_in_words,
};
pub use policies::{Policies, PolicyOrigin, StoredPolicy};
pub use pushing::{Pushed, may_be_pushed, waits_for_a_person};
pub use recheck::{PlanFacts, RootState, Skip, recheck};
pub use safety::{Blocked, SourceShare, blocked};
pub use strategies::{Selection, Strategy, StrategyChoice};
