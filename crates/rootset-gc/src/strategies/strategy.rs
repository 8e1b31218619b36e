//! What a strategy says about itself, what it is shown, and what it answers.

use std::fmt;

use rootset_model::plan::Reason;
use rootset_model::{RetentionPolicy, Timestamp};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

use super::ALL;
use crate::heap::{DerivedKind, Heap, Root};
use crate::recheck::RootState;

/// One way of telling garbage. It decides and never deletes.
pub struct Strategy {
    /// As requests and stored plans name it.
    pub name: &'static str,
    /// One sentence for schemas and help.
    pub about: &'static str,
    /// Decides what is read before it is asked.
    pub needs: Needs,
    /// A pure function of the heap and the time. It takes nothing that is held, and goes by no date but a past one.
    pub select: fn(&Heap<'_>, Timestamp) -> Selection,
    /// Every reason that it gives.
    pub reasons: &'static [Reason],
    /// Asked again inside the sweep's transaction, for what can change without a new version of the item. Dates and
    /// policies are asked when a run starts.
    pub still_holds: fn(&RootState) -> bool,
    /// Part of the scheduler's rounds, where `gc.strategies` does not say otherwise.
    pub runs_by_schedule: bool,
    pub example: fn(Timestamp) -> Example,
}

/// What a strategy has to be shown. The reader of the heap matches on this and on no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Living memories with a date that may condemn them: stale, superseded, or past `expires_at`.
    DatedMemories,
    /// All living memories where any policy of retention has rules; otherwise the dated ones.
    MemoriesUnderPolicies,
    /// All living memories, however many.
    EveryMemory,
    /// Chunks that have no memory.
    OrphanedChunks,
    /// Entities and relations that neither a memory nor an import vouches for.
    OrphanedGraph,
}

impl Needs {
    pub fn are_memories(self) -> bool {
        match self {
            Self::DatedMemories | Self::MemoriesUnderPolicies | Self::EveryMemory => true,
            Self::OrphanedChunks | Self::OrphanedGraph => false,
        }
    }
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

/// Garbage to the last row: the least that a strategy must select. Tests show it to the strategy, and store it on every
/// engine and look for it in a plan.
#[derive(Clone, Debug, Default)]
pub struct Example {
    /// In one bucket, under `policy`.
    pub memories: Vec<Root>,
    pub policy: RetentionPolicy,
    /// Rows that nothing vouches for.
    pub orphans: Vec<DerivedKind>,
}

impl Strategy {
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|strategy| strategy.name == name)
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Strategy {}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Strategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for &'static Strategy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Strategy::find(&name).ok_or_else(|| D::Error::custom(format!("unknown strategy `{name}`")))
    }
}
