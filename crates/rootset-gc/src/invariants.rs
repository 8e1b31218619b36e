//! What must always hold: every invariant once, with its id and its sentence; and I1 to I3, which the store asserts on
//! what a batch is about to sweep ([`sweep`]).
//!
//! The predicates of the others are in `rootset-invariants`, for the tests that check them. `doctor` counts rows that
//! break something and reports them under the same ids.

pub mod sweep;

use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub struct Invariant {
    /// As used in code, tests, documentation and by `doctor`.
    pub id: &'static str,
    pub says: &'static str,
}

/// What breaks an invariant: a bug of ours, or rows that somebody else wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub invariant: &'static Invariant,
    /// Ids and numbers, never text.
    pub found: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is broken: {}; found {}", self.invariant.id, self.invariant.says, self.found)
    }
}

impl std::error::Error for Broken {}

impl Invariant {
    pub fn holds_if(&'static self, holds: bool, found: impl FnOnce() -> String) -> Result<(), Broken> {
        if holds { Ok(()) } else { Err(Broken { invariant: self, found: found() }) }
    }

    /// Holds if there is nothing to show for the contrary.
    pub fn holds_without(&'static self, counterexample: Option<impl fmt::Debug>) -> Result<(), Broken> {
        match counterexample {
            Some(found) => Err(Broken { invariant: self, found: format!("{found:02x?}") }),
            None => Ok(()),
        }
    }
}

macro_rules! invariants {
    ($($id:ident = $says:literal),* $(,)?) => {
        $(pub static $id: Invariant = Invariant { id: stringify!($id), says: $says };)*

        /// All of them, in order.
        pub static INVARIANTS: &[&Invariant] = &[$(&$id),*];
    };
}

invariants! {
    I1 = "nothing pinned or in flight is swept, unless the plan includes what is pinned or names its items",
    I2 = "what is swept was in the plan, has the plan's version and is garbage at that moment",
    I3 = "nothing created, changed or used after the plan is swept by it",
    I4 = "no strategy condemns untracked rows, or rows that a memory vouches for",
    I5 = "without a valid past stamp nothing expires, an empty policy selects nothing, ties break by id",
    I6 = "every row belongs to one workspace, and both ends of an edge to the same one",
    I7 = "a refcount is the number of contributing memories that are not trashed, and no contribution dangles",
    I8 = "get and list serve live ids, searches those of them that are current; indexed ids are live and trashed ones",
    I9 = "trash then undo is the identity",
    I10 = "a run that was cut short and resumed ends like an uninterrupted one",
    I11 = "every destructive step has one audit row, and the chains are unbroken",
    I12 = "what is purged is in no table, no full text, no vector and, once the log is clean, not in the log",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invariants_are_numbered_in_order() {
        let ids: Vec<&str> = INVARIANTS.iter().map(|invariant| invariant.id).collect();
        assert_eq!(ids, ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12"]);
    }
}
