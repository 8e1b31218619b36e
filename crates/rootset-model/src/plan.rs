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

/// Why an item is in a plan: the word that is stored and the sentence that is shown. It holds no words of the item.
///
/// Here are the reasons of callers and of context windows. A strategy brings its own: see `strategies` of `rootset-gc`,
/// which also finds a reason by its stored word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(&'static ReasonText);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReasonText {
    /// Stored with every item: never change the word of a reason that has been released.
    pub word: &'static str,
    pub in_words: &'static str,
}

macro_rules! reasons {
    ($($(#[$about:meta])* $name:ident = $word:literal, $in_words:literal;)*) => {
        impl Reason {
            $($(#[$about])* pub const $name: Self = Self(&ReasonText { word: $word, in_words: $in_words });)*

            /// Every reason that no strategy gives.
            pub const WITHOUT_STRATEGY: &[Self] = &[$(Self::$name),*];
        }
    };
}

reasons! {
    /// The caller named this very item.
    NAMED = "named", "named by the caller";
    /// The caller's words or filters matched it.
    MATCHED = "matched", "matches what was asked to be forgotten";
    /// Asked for when the content was replaced.
    ERASE_PREVIOUS = "erase_previous", "an earlier revision that was asked to be erased";
    /// No root of the context leads to the segment.
    UNREACHABLE = "unreachable", "no root of the context leads to it";
    /// Reachable, but the coldest when the context is full.
    COLD = "cold", "among the coldest of a full context";
    /// Unreachable, and in the stash for longer than that is kept.
    STASHED_LONG = "stashed_long", "unreachable, and in the stash for longer than that is kept";
}

impl Reason {
    /// For a strategy's own reasons.
    pub const fn new(text: &'static ReasonText) -> Self {
        Self(text)
    }

    /// The word under which the reason is stored.
    pub fn as_str(self) -> &'static str {
        self.0.word
    }

    pub fn in_words(self) -> &'static str {
        self.0.in_words
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
