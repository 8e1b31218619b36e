//! Changing a memory.

use rootset_model::{Ahead, MemoryId, PinnedBy, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::collector::ReceiptAnswer;

/// Correct a memory: only what is given changes. Earlier texts stay readable.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateMemory {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The name or id of the memory.
    pub memory_id: String,
    /// The new text.
    #[serde(rename = "text", alias = "context", alias = "content")]
    pub context: Option<String>,
    /// A new unique name.
    pub name: Option<String>,
    /// The topic; cleared, it is the first line of the text.
    #[schemars(extend("x-rare" = true))]
    pub topic: Option<String>,
    /// Replace the old.
    #[schemars(extend("x-rare" = true))]
    pub decisions: Option<Vec<String>>,
    /// Replace the old.
    #[schemars(extend("x-rare" = true))]
    pub rationale: Option<Vec<String>>,
    /// Replaces the old.
    #[schemars(extend("x-rare" = true))]
    pub metadata: Option<Map<String, Value>>,
    /// Replace the old.
    pub tags: Option<Vec<String>>,
    /// The version of the source that holds it, from 0.
    #[schemars(extend("x-rare" = true))]
    pub source_version: Option<i64>,
    /// Protect it from clean-ups.
    pub pinned: Option<bool>,
    /// The reason for the pin.
    #[schemars(extend("x-rare" = true))]
    pub pin_reason: Option<String>,
    /// When it stops being true.
    #[schemars(extend("x-rare" = true))]
    pub expires_at: Option<Ahead>,
    /// Fields to empty.
    #[schemars(extend("x-rare" = true))]
    pub clear: Option<Vec<MemoryField>>,
    /// Fail with `conflict` if the memory has another version now.
    #[schemars(extend("x-rare" = true))]
    pub expected_version: Option<i64>,
    /// Erase earlier texts for good, e.g. after pasting a key.
    pub erase_previous: Option<bool>,
    /// `clause`: `text` replaces only the sentence or clause that it disagrees with; the rest stays.
    #[schemars(extend("x-rare" = true))]
    pub replace: Option<Replace>,
    /// Names of memories that seem to contradict it and do not: no longer told until one of the two texts changes.
    #[schemars(extend("x-rare" = true))]
    pub both_hold: Option<Vec<String>>,
}

/// How much of a text is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replace {
    Clause,
}

/// What an update can empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryField {
    Topic,
    Decisions,
    Rationale,
    Metadata,
    Tags,
    SourceVersion,
    PinReason,
    ExpiresAt,
}

impl UpdateMemory {
    pub fn clears(&self, field: MemoryField) -> bool {
        self.clear.as_ref().is_some_and(|fields| fields.contains(&field))
    }

    pub fn changes_content(&self) -> bool {
        let clears =
            [MemoryField::Topic, MemoryField::Decisions, MemoryField::Rationale].iter().any(|it| self.clears(*it));
        let gives =
            self.topic.is_some() || self.context.is_some() || self.decisions.is_some() || self.rationale.is_some();
        gives || clears
    }

    pub fn changes_something(&self) -> bool {
        let changes_attributes = self.name.is_some()
            || self.metadata.is_some()
            || self.tags.is_some()
            || self.source_version.is_some()
            || self.pinned.is_some()
            || self.pin_reason.is_some()
            || self.expires_at.is_some()
            || self.both_hold.as_ref().is_some_and(|names| !names.is_empty())
            || self.clear.as_ref().is_some_and(|fields| !fields.is_empty());
        self.changes_content() || changes_attributes || self.erase_previous == Some(true)
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpdatedMemory {
    pub memory_id: MemoryId,
    pub version: i64,
    /// The current revision; still the old one while extraction is pending.
    pub revision: i64,
    /// Whether the text changed and its graph was replaced.
    pub reextracted: bool,
    pub entities_created: usize,
    pub entities_removed: usize,
    pub relations_created: usize,
    pub relations_removed: usize,
    /// The number of values that looked like secrets and were not stored.
    pub redacted: usize,
    /// The reasons why extraction is still pending.
    pub errors: Vec<String>,
    /// If it is pinned: for whom, `person` or `agent`.
    pub pinned_by: Option<PinnedBy>,
    /// The trust of the memory, if this update lowered it: its text or name is now that of a less trusted writer.
    pub trust: Option<Trust>,
    /// The name of the memory now. A name that was made from the text changes with it.
    pub name: Option<String>,
    /// With `erase_previous`: what was erased, and whether any of it is still in the files.
    pub receipt: Option<ReceiptAnswer>,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}
