//! Memories: adding, reading, listing, changing and deleting them.

mod update;

use rootset_model::{MemoryId, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::collector::Trashed;
use crate::parsing;

pub use update::{UpdateMemory, UpdatedMemory};

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! memory_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        AddMemory => AddedMemory {
            name: "add_memory",
            effect: Write,
            is: [idempotent, open_world, in_workspace],
            profiles: [Core],
            example: {"context": "Deploys happen on Fridays.", "topic": "deploys", "tags": ["team"]},
        }
        AddMemories => AddedMemories {
            name: "add_memories",
            effect: Write,
            is: [idempotent, open_world, in_workspace],
            profiles: [],
            example: {"memories": [{"context": "Deploys happen on Fridays."}, {"context": "The API is versioned.", "name": "api"}]},
        }
        GetMemory => MemoryAnswer {
            name: "get_memory",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Core],
            example: {"memory_id": "deploys", "include": ["ids"]},
        }
        ListMemories => MemoryList {
            name: "list_memories",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Admin],
            example: {"tags": ["team"], "order_by": "created_at", "limit": 20},
        }
        UpdateMemory => UpdatedMemory {
            name: "update_memory",
            effect: Write,
            is: [open_world, null_clears, in_workspace],
            profiles: [Core],
            example: {"memory_id": "deploys", "context": "Deploys happen on Mondays.", "tags": null},
        }
        DeleteMemory => DeletedMemory {
            name: "delete_memory",
            effect: Destroy,
            is: [in_workspace],
            profiles: [Core],
            example: {"memory_id": "deploys"},
        }
    } };
}

/// Remember something worth knowing later: a fact, a decision, a preference. The same content again returns the same
/// memory; look at `similar` and give `supersedes` rather than pile up.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AddMemory {
    /// Workspace to add to; absent: the current one.
    pub workspace_id: Option<String>,
    #[serde(flatten)]
    pub memory: MemoryInput,
}

/// By hand, because serde's `flatten` forgets which field was wrong.
impl<'de> Deserialize<'de> for AddMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Place {
            workspace_id: Option<String>,
        }
        let mut fields: Map<String, Value> = Map::deserialize(deserializer)?;
        let place: Map<String, Value> = fields.remove_entry("workspace_id").into_iter().collect();
        let place: Place = parsing::deserialize(Value::Object(place)).map_err(de::Error::custom)?;
        let memory = parsing::deserialize(Value::Object(fields)).map_err(de::Error::custom)?;
        Ok(Self { workspace_id: place.workspace_id, memory })
    }
}

/// A memory as its writer gives it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryInput {
    /// The text to remember (also accepted as `text` or `content`).
    #[serde(alias = "text", alias = "content")]
    pub context: String,
    /// What it is about; absent: the first line of the text.
    pub topic: Option<String>,
    /// Decisions that were taken.
    pub decisions: Option<Vec<String>>,
    /// Reasons for them.
    pub rationale: Option<Vec<String>>,
    /// Anything else, as a JSON object.
    pub metadata: Option<Map<String, Value>>,
    /// Labels to filter by.
    pub tags: Option<Vec<String>>,
    /// Kind of origin: `user`, `agent`, or a word of your own.
    pub source: Option<String>,
    /// Unique name to remember it by; absent: made from the topic.
    pub name: Option<String>,
    /// Never to be removed by a policy or a query.
    pub pinned: Option<bool>,
    /// Why it is pinned.
    pub pin_reason: Option<String>,
    /// When it stops being true.
    pub expires_at: Option<Timestamp>,
    /// Memories (ids or names) that this one replaces.
    pub supersedes: Option<Vec<String>>,
    /// Bring removed content back instead of refusing it.
    pub restore: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedMemory {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// False when the content was there already.
    pub created: bool,
    /// Brought back from the trash.
    pub restored: bool,
    /// `pending` until entities and vectors are there; the text is found by search at once.
    pub status: String,
    pub version: i64,
    pub chunks_created: usize,
    pub entities_created: usize,
    pub relations_created: usize,
    /// Values that looked like secrets and were not stored.
    pub redacted: usize,
    /// Why it is still pending.
    pub errors: Vec<String>,
    /// Memories that say nearly the same.
    pub similar: Vec<Similar>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Similar {
    pub name: String,
    pub topic: String,
    pub updated_at: Timestamp,
}

/// Remember many things in one go; a bad item does not fail the rest.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AddMemories {
    /// Workspace to add to; absent: the current one.
    pub workspace_id: Option<String>,
    /// Up to 1,000 memories, each as for `add_memory`.
    pub memories: Vec<MemoryInput>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedMemories {
    /// One per item, in their order.
    pub results: Vec<BatchResult>,
    pub created: usize,
    pub failed: usize,
}

/// What became of one item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BatchResult {
    Added(Box<AddedMemory>),
    Failed {
        /// As for a single request.
        error: Value,
    },
}

/// Read one memory whole, by id or name, when the snippet of a search is not enough.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetMemory {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Id or name.
    pub memory_id: String,
    /// An earlier revision instead of the current one.
    pub revision: Option<i64>,
    /// Set while reviewing a plan: reading then does not count as a use.
    pub plan_id: Option<String>,
    /// `ids` adds the ids of chunks, entities and relations.
    pub include: Option<Vec<MemoryPart>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    Ids,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAnswer {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    pub topic: String,
    pub context: String,
    pub decisions: Vec<String>,
    pub rationale: Vec<String>,
    pub metadata: Option<Map<String, Value>>,
    pub tags: Vec<String>,
    pub source: String,
    pub repo: Option<String>,
    pub file_path: Option<String>,
    pub written_by: String,
    /// `pending` or `complete`.
    pub status: String,
    pub last_error: Option<String>,
    pub attempts: Option<i64>,
    /// Grows by one with every accepted update; give it as `expected_version`.
    pub version: i64,
    /// The revision of the content shown.
    pub revision: i64,
    /// The newest revision, while its extraction is pending.
    pub pending_revision: Option<i64>,
    pub source_version: Option<i64>,
    pub doc_hash: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub ingested_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub use_count: i64,
    pub expires_at: Option<Timestamp>,
    pub pinned: bool,
    pub pin_reason: Option<String>,
    /// Whether a living successor replaces it.
    pub superseded: bool,
    /// The successor's name.
    pub superseded_by: Option<String>,
    pub supersede_reason: Option<String>,
    /// Names of what it replaces.
    pub supersedes: Vec<String>,
    /// Names from the oldest to the newest, when it is part of a chain.
    pub chain: Option<Vec<String>>,
    pub chunk_count: usize,
    pub entity_count: usize,
    pub relation_count: usize,
    pub chunk_ids: Option<Vec<String>>,
    pub entity_ids: Option<Vec<String>>,
    pub relation_ids: Option<Vec<String>>,
}

/// List memories page by page, with filters. Indexed files are listed only when their source is asked for.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListMemories {
    /// Workspace to list; absent: the current one.
    pub workspace_id: Option<String>,
    /// How many to skip (0).
    pub offset: Option<i64>,
    /// How many to show (50, at most 100).
    pub limit: Option<i64>,
    /// Order (`updated_at`).
    pub order_by: Option<MemoryOrder>,
    /// Newest or most used first (true).
    pub descending: Option<bool>,
    /// Words that all have to occur.
    pub query: Option<String>,
    /// Tags that all have to be there.
    pub tags: Option<Vec<String>>,
    pub source: Option<String>,
    pub written_by: Option<String>,
    pub status: Option<StatusFilter>,
    /// `live` (default): neither trashed nor superseded, expired ones included.
    pub lifecycle: Option<LifecycleFilter>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryOrder {
    UpdatedAt,
    CreatedAt,
    UseCount,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusFilter {
    Pending,
    Complete,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleFilter {
    Live,
    Trashed,
    Superseded,
    All,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MemoryList {
    pub memories: Vec<ListedAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedAnswer {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    pub topic: String,
    /// The first 200 characters.
    pub preview: String,
    /// Characters of the whole text.
    pub full_length: usize,
    pub decision_count: usize,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub source: String,
    pub pinned: bool,
    pub status: String,
}

/// Move one memory to the trash with everything only it vouches for. `gc_undo` brings it back; for many at once: `forget`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeleteMemory {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Id or name.
    pub memory_id: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedMemory {
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub trashed: Trashed,
    /// Until when it can be undone; purging comes after.
    pub undo_until: Option<Timestamp>,
}
