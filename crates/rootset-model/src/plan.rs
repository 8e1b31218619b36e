//! A plan: which roots a policy or a caller wants gone, with the versions it saw. Data only: nothing here deletes.
//!
//! Plans hold ids, versions and codes, never names or words: a stored plan must not keep deleted text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of root that a plan may name. Derived rows follow their roots and are only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Memory,
    Revision,
    Entity,
    Relation,
    Workspace,
}

/// What applying the plan does to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Out of every read at once, reversible until purged.
    Trash,
    /// Trashed and physically removed in one go; the plan needs a confirmation of its own.
    Erase,
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
}

impl Reason {
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Named => "named by the caller",
            Self::Matched => "matches what was asked to be forgotten",
            Self::ErasePrevious => "an earlier revision that was asked to be erased",
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
});
stored_as_text!(Action { Trash = "trash", Erase = "erase" });
stored_as_text!(Reason { Named = "named", Matched = "matched", ErasePrevious = "erase_previous" });
