//! A plan: which roots a policy or a caller wants gone, with the versions it saw. Data only: nothing here deletes.
//!
//! Plans hold ids, versions and codes, never names or words: a stored plan must not keep deleted text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of a plan's item: the word under which it is stored and shown, as `memory`. Which kinds there are is the
/// store's list; those that other crates name have constants here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKind {
    /// Filled up with zeroes.
    word: [u8; KIND_BYTES_MAX],
}

/// Long enough for a plain word, and short enough to be copied with every item of a plan.
const KIND_BYTES_MAX: usize = 16;

impl ItemKind {
    pub const MEMORY: Self = Self::new("memory");
    pub const REVISION: Self = Self::new("revision");
    pub const ENTITY: Self = Self::new("entity");
    pub const RELATION: Self = Self::new("relation");
    pub const WORKSPACE: Self = Self::new("workspace");
    /// Only ever to be reclaimed.
    pub const CHUNK: Self = Self::new("chunk");
    /// A part of an agent's context.
    pub const SEGMENT: Self = Self::new("segment");
    /// A whole context.
    pub const SESSION: Self = Self::new("session");

    /// A word of at most 16 bytes.
    pub const fn new(word: &str) -> Self {
        let mut filled = [0; KIND_BYTES_MAX];
        let bytes = word.as_bytes();
        let mut place = 0;
        while place < bytes.len() {
            filled[place] = bytes[place];
            place += 1;
        }
        Self { word: filled }
    }

    pub fn as_str(&self) -> &str {
        let length = self.word.iter().position(|byte| *byte == 0).unwrap_or(KIND_BYTES_MAX);
        std::str::from_utf8(&self.word[..length]).expect("it was made from a word")
    }
}

impl std::fmt::Debug for ItemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ItemKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word.len() > KIND_BYTES_MAX {
            return Err(serde::de::Error::custom(format!("`{word}` is too long for a kind")));
        }
        Ok(Self::new(&word))
    }
}

impl Serialize for ItemKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
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
    /// Out of the context window and into the stash: nothing is removed, and no limit or grace applies.
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
    /// Some of its sentences matched, and the others say something else: the text goes that holds both.
    REDACTED = "redacted", "some sentences match what was asked to be forgotten; the others stay";
    /// Near what was asked for, and so left to the reviewer: these are never in a plan by themselves.
    NEAR_OTHER_WORDS = "near_other_words", "has the name, but not what was asked about it";
    NEAR_SEVERAL = "near_several", "several in this workspace have this name";
    NEAR_FIRST_NAME = "near_first_name", "has only the first name";
    NEAR_LAST_NAME = "near_last_name", "has only the last name";
    NEAR_ADDRESS = "near_address", "has an address or handle that looks like the name";
    NEAR_LONGER_NAME = "near_longer_name", "has a longer name that contains this one";
    NEAR_OTHER_CASE = "near_other_case", "has the name as an ordinary word";
    NEAR_OTHER_DAY = "near_other_day", "has a date that can also be read as another day";
    NEAR_SCATTERED = "near_scattered", "has the words, but in different sentences";
    NEAR_SOME_WORDS = "near_some_words", "has some of the words";
    NEAR_KEPT = "near_kept", "also says what was asked to be kept";
    NEAR_TANGLED = "near_tangled", "also says something else, in words that cannot be cut apart";
    NEAR_REDACTED = "near_redacted", "holds a value that was not stored, so that it reads as others do";
    NEAR_CHAIN = "near_chain", "is about something that another memory ties to what was named";
    /// Asked for when the content was replaced.
    ERASE_PREVIOUS = "erase_previous", "an earlier revision that was asked to be erased";
    /// The memory has more earlier revisions than are kept.
    PAST_HISTORY = "past_history", "an earlier revision beyond those that are kept";
    /// No root of the context leads to the segment.
    UNREACHABLE = "unreachable", "no root of the context leads to it";
    /// Reachable, but the coldest when the context is full.
    COLD = "cold", "among the coldest of a full context";
    /// Unreachable, and in the stash for longer than that is kept.
    STASHED_LONG = "stashed_long", "unreachable, and in the stash for longer than the stash is kept";
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

stored_as_text!(Action { Trash = "trash", Erase = "erase", Reclaim = "reclaim", Stash = "stash" });
