//! Changing a memory.

use rootset_model::{MemoryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::rust::double_option;
use serde_with::skip_serializing_none;

/// Change a memory: only the given fields change, `null` clears, tags and metadata are replaced.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateMemory {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Id or name.
    pub memory_id: String,
    /// A new unique name.
    pub name: Option<String>,
    /// `null`: the first line of the text.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub topic: Option<Option<String>>,
    /// The new text; earlier revisions stay readable.
    #[serde(alias = "text", alias = "content")]
    pub context: Option<String>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub decisions: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub rationale: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub metadata: Option<Option<Map<String, Value>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub tags: Option<Option<Vec<String>>>,
    /// Never to be removed by a policy or a query.
    pub pinned: Option<bool>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub pin_reason: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    #[schemars(extend("default" = null))]
    pub expires_at: Option<Option<Timestamp>>,
    /// Refuse with `conflict` when the memory has another version by now.
    pub expected_version: Option<i64>,
    /// Erase all earlier revisions for good, for a pasted key.
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
            || self.pinned.is_some()
            || self.pin_reason.is_some()
            || self.expires_at.is_some();
        self.changes_content() || changes_attributes || self.erase_previous == Some(true)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpdatedMemory {
    pub memory_id: MemoryId,
    pub version: i64,
    /// The current revision; the old one while extraction is pending.
    pub revision: i64,
    /// Whether the text changed and its graph was replaced.
    pub reextracted: bool,
    pub entities_created: usize,
    pub entities_removed: usize,
    pub relations_created: usize,
    pub relations_removed: usize,
    /// Values that looked like secrets and were not stored.
    pub redacted: usize,
    /// Why the extraction is still pending.
    pub errors: Vec<String>,
}
