//! Context windows: sessions, their segments, the stash and the ledger of what left.
//!
//! A change names the version it is based on and is one transaction; reading returns what is newer than the caller's
//! version. Nothing of a window is kept here. What may leave and why is decided elsewhere. What somebody asks to stash or to
//! delete goes through the protocol ([`crate::sweep`]); what leaves because the window is full is a change like any other.

mod change;
mod delete;
pub(crate) mod forget;
mod ledger;
mod load;
mod plans;
pub(crate) mod remove;
pub(crate) mod rows;
mod stash;

pub use change::{NewLedgerEntry, NewSegmentRow, SegmentChange, SessionChange};
pub use delete::{Pruned, Pruning};
pub use ledger::{LedgerAction, LedgerEntry};
pub use load::{LoadedSession, SegmentText, SessionHead, SessionState, SessionView};
pub use plans::SegmentItem;
pub use rows::SegmentRow;
pub use stash::{StashFilters, StashHit};
