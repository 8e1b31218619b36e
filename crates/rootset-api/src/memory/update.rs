//! Changing a memory.

use rootset_model::{MemoryId, PinnedBy, Timestamp, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::rust::double_option;
use serde_with::skip_serializing_none;

use crate::collector::ReceiptAnswer;

/// Change a memory. Only the given fields change; `null` clears a field; tags and metadata are replaced.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateMemory {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id or name of the memory.
    pub memory_id: String,
    /// A new unique name.
    pub name: Option<String>,
    /// The topic; `null` sets the first line of the text.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub topic: Option<Option<String>>,
    /// The new text; earlier revisions stay readable. A topic made from the old text changes with it.
    #[serde(alias = "text", alias = "content")]
    pub context: Option<String>,
    /// The new decisions, replacing the old.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub decisions: Option<Option<Vec<String>>>,
    /// The new reasons, replacing the old.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub rationale: Option<Option<Vec<String>>>,
    /// The new metadata, replacing the old.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub metadata: Option<Option<Map<String, Value>>>,
    /// The new tags, replacing the old.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub tags: Option<Option<Vec<String>>>,
    /// The version of the source that holds it, from 0.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub source_version: Option<Option<i64>>,
    /// Protect it from removal by policies and queries.
    pub pinned: Option<bool>,
    /// The reason for the pin.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub pin_reason: Option<Option<String>>,
    /// When the memory expires.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub expires_at: Option<Option<Timestamp>>,
    /// Fail with `conflict` if the memory has another version now.
    pub expected_version: Option<i64>,
    /// Erase all earlier revisions permanently, e.g. after pasting a key, with a topic and name made from them.
    pub erase_previous: Option<bool>,
}

impl UpdateMemory {
    pub fn changes_content(&self) -> bool {
        self.topic.is_some() || self.context.is_some() || self.decisions.is_some() || self.rationale.is_some()
    }

    pub fn changes_something(&self) -> bool {
        let changes_attributes = self.name.is_some()
            || self.metadata.is_some()
            || self.tags.is_some()
            || self.source_version.is_some()
            || self.pinned.is_some()
            || self.pin_reason.is_some()
            || self.expires_at.is_some();
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
    /// With `erase_previous`: the name of the memory now. A name made from the erased text is replaced.
    pub name: Option<String>,
    /// With `erase_previous`: what was erased, and whether any of it is still in the files.
    pub receipt: Option<ReceiptAnswer>,
    /// What went wrong after this was done; absent if nothing did.
    pub warnings: Option<Vec<String>>,
}
