//! A plan: which roots a policy or a caller wants gone, with the versions it saw. Data only: nothing here deletes.
//!
//! Plans hold ids, versions and codes, never names or words: a stored plan must not keep deleted text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of object that a plan may name: roots, and derived rows that have none any more. Derived rows that follow
/// their roots are only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Memory,
    Revision,
    Entity,
    Relation,
    Workspace,
    /// Only ever to be reclaimed.
    Chunk,
    /// A part of an agent's context.
    Segment,
    /// A whole context.
    Session,
}

/// What applying the plan does to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Out of every read at once, reversible until purged.
    Trash,
    /// Trashed and physically removed in one go; the plan needs a confirmation of its own.
    Erase,
    /// A derived row that nothing vouches for and nothing serves: removed physically, there is nothing to undo.
    Reclaim,
    /// Out of the context window and into the stash: nothing is removed, and `gc_apply` does not do it.
    Stash,
}

/// Why an item is in a plan, in a form that holds no words of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The caller named this very item.
    Named,
    /// The caller's words or filters matched it.
    Matched,
    /// Asked for when the content was replaced.
    ErasePrevious,
    /// The last completed scan of its repository no longer contains the file.
    Stale,
    /// Its own `expires_at` has passed.
    ExpiresAt,
    /// Older than the policy's `max_age`.
    TooOld,
    /// Beyond the policy's `max_count` newest.
    TooMany,
    /// Behind the newest version by the policy's `max_version_gap` or more.
    TooFarBehind,
    /// A living memory superseded it long ago.
    Superseded,
    /// No memory, living or in the trash, vouches for the row.
    Orphaned,
    /// No root of the context leads to the segment.
    Unreachable,
    /// Reachable, but the coldest when the context is full.
    Cold,
    /// Unreachable, and in the stash for longer than that is kept.
    StashedLong,
}

impl Reason {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Named => "named by the caller",
            Self::Matched => "matches what was asked to be forgotten",
            Self::ErasePrevious => "an earlier revision that was asked to be erased",
            Self::Stale => "the last completed scan no longer contains the file",
            Self::ExpiresAt => "its expires_at has passed",
            Self::TooOld => "older than the retention policy's max_age",
            Self::TooMany => "beyond the retention policy's max_count newest",
            Self::TooFarBehind => "behind the newest version by the retention policy's max_version_gap",
            Self::Superseded => "superseded for more than 30 days",
            Self::Orphaned => "nothing vouches for it any more",
            Self::Unreachable => "no root of the context leads to it",
            Self::Cold => "among the coldest of a full context",
            Self::StashedLong => "unreachable, and in the stash for longer than that is kept",
        }
    }
}

/// One root in a plan. `object` is the sixteen bytes of its id; `revision` is 0 unless the item is a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanItem {
    pub kind: ItemKind,
    pub object: [u8; 16],
    pub revision: i64,
    /// The compare-and-set version of the root when the plan was made.
    pub version: i64,
    pub action: Action,
    pub reason: Reason,
}

macro_rules! stored_as_text {
    ($type:ty { $($variant:ident = $text:literal),* $(,)? }) => {
        impl $type {
            /// The word under which the value is stored and shown.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            pub fn from_stored(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

stored_as_text!(ItemKind {
    Memory = "memory", Revision = "revision", Entity = "entity", Relation = "relation", Workspace = "workspace",
    Chunk = "chunk", Segment = "segment", Session = "session",
});
stored_as_text!(Action { Trash = "trash", Erase = "erase", Reclaim = "reclaim", Stash = "stash" });
stored_as_text!(Reason {
    Named = "named", Matched = "matched", ErasePrevious = "erase_previous", Stale = "stale", ExpiresAt = "expires_at",
    TooOld = "too_old", TooMany = "too_many", TooFarBehind = "too_far_behind", Superseded = "superseded",
    Orphaned = "orphaned", Unreachable = "unreachable", Cold = "cold", StashedLong = "stashed_long",
});
