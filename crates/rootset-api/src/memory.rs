//! Memories: adding, reading, listing, changing and deleting them.

mod trust;
mod update;

use rootset_model::{Ahead, Channel, Counts, MemoryId, PinnedBy, RunId, Timestamp, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::counts::TrashedCounts;
use crate::memory_of::MemoryOf;
use crate::parsing;

pub use trust::{SetTrust, TrustAnswer};
pub use update::{MemoryField, Replace, UpdateMemory, UpdatedMemory};

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! memory_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        AddMemory => AddedMemory {
            name: "add_memory",
            effect: Write,
            is: [idempotent, open_world, in_workspace],
            brief: BriefAdded,
            profiles: [Core],
            example: {"text": "Deploys happen on Fridays.", "topic": "deploys", "tags": ["team"]},
        }
        AddMemories => AddedMemories {
            name: "add_memories",
            effect: Write,
            is: [idempotent, open_world, in_workspace, bulky],
            profiles: [],
            example: {"memories": [{"text": "Deploys happen on Fridays."}, {"text": "The API is versioned.", "name": "api"}]},
        }
        GetMemory => MemoryAnswer {
            name: "get_memory",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefOneMemory,
            profiles: [Core],
            example: {"memory_id": "deploys", "include": ["ids"]},
        }
        ListMemories => MemoryList {
            name: "list_memories",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefList,
            profiles: [Admin],
            example: {"tags": ["team"], "order_by": "created_at", "limit": 20},
        }
        UpdateMemory => UpdatedMemory {
            name: "update_memory",
            effect: Write,
            is: [open_world, in_workspace],
            needs_person: [|it| erase_previous Permanent if it.erase_previous == Some(true)],
            brief: BriefUpdated,
            profiles: [Core],
            example: {"memory_id": "deploys", "text": "Deploys happen on Mondays.", "clear": ["tags"]},
        }
        SetTrust => TrustAnswer {
            name: "set_trust",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [],
            example: {"memory_id": "deploys", "trust": "person"},
        }
        DeleteMemory => DeletedMemory {
            name: "delete_memory",
            effect: Destroy,
            is: [in_workspace],
            brief: BriefDeleted,
            profiles: [],
            example: {"memory_id": "deploys"},
        }
    } };
}

/// Remember a fact, decision or preference. Check `similar` in the answer; replace an old memory with `supersedes`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AddMemory {
    /// The workspace to add to; default: the current one.
    pub workspace_id: Option<String>,
    /// `personal`: true of the person in every project; default: `project`.
    pub memory_of: Option<MemoryOf>,
    #[serde(flatten)]
    pub memory: MemoryInput,
}

/// By hand, because serde's `flatten` forgets which field was wrong.
impl<'de> Deserialize<'de> for AddMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, JsonSchema)]
        struct Addressed {
            workspace_id: Option<String>,
            memory_of: Option<MemoryOf>,
        }
        let mut fields: Map<String, Value> = Map::deserialize(deserializer)?;
        let address = ["workspace_id", "memory_of"].map(|field| fields.remove_entry(field));
        let addressed: Map<String, Value> = address.into_iter().flatten().collect();
        let addressed: Addressed = parsing::read(&Value::Object(addressed)).map_err(de::Error::custom)?;
        let memory = parsing::read(&Value::Object(fields)).map_err(de::Error::custom)?;
        Ok(Self { workspace_id: addressed.workspace_id, memory_of: addressed.memory_of, memory })
    }
}

/// A memory as its writer gives it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryInput {
    /// What to remember.
    #[serde(rename = "text", alias = "context", alias = "content")]
    pub context: String,
    /// The topic; default: the first line of the text.
    #[schemars(extend("x-rare" = true))]
    pub topic: Option<String>,
    /// Decisions made.
    #[schemars(extend("x-rare" = true))]
    pub decisions: Option<Vec<String>>,
    /// Reasons for them.
    #[schemars(extend("x-rare" = true))]
    pub rationale: Option<Vec<String>>,
    /// Anything else, as a JSON object.
    #[schemars(extend("x-rare" = true))]
    pub metadata: Option<Map<String, Value>>,
    pub tags: Option<Vec<String>>,
    /// The origin: `user` (people only), `agent`, or a word of your own.
    #[schemars(extend("x-rare" = true))]
    pub source: Option<String>,
    /// The version of the source, from 0, for `max_version_gap`; repeated content keeps the higher one.
    #[schemars(extend("x-rare" = true))]
    pub source_version: Option<i64>,
    /// Default: made from the text.
    pub name: Option<String>,
    /// Your own id for it: adding with the same key again updates it.
    #[schemars(extend("x-rare" = true))]
    pub key: Option<String>,
    /// Protect it from clean-ups.
    #[schemars(extend("x-rare" = true))]
    pub pinned: Option<bool>,
    /// The reason for the pin.
    #[schemars(extend("x-rare" = true))]
    pub pin_reason: Option<String>,
    /// When it stops being true.
    pub expires_at: Option<Ahead>,
    /// The conversation, session or document it is part of: search reads it together with the memories before and after it
    /// there. Default: what you write from one source.
    #[schemars(extend("x-rare" = true))]
    pub thread: Option<String>,
    /// When what it tells of happened: `2026-05-07`, `2026-05`, RFC 3339, or a range with a slash between; default: read
    /// from the text (`yesterday`, `last Friday`, `7 May 2026`).
    #[schemars(extend("x-rare" = true))]
    pub occurred_at: Option<String>,
    /// Names of memories that it replaces.
    pub supersedes: Option<Vec<String>>,
    /// Restore removed content instead of refusing it.
    #[schemars(extend("x-rare" = true))]
    pub restore: Option<bool>,
    /// For text from a web page, a tool or a stranger.
    pub untrusted: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedMemory {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// Whether the memory is new; false if the content was already stored.
    pub created: bool,
    /// Whether the memory was restored from the trash.
    pub restored: bool,
    /// The status: `pending` until entities are stored. Search finds the text at once.
    pub status: String,
    pub version: i64,
    pub chunks_created: usize,
    pub entities_created: usize,
    pub relations_created: usize,
    /// The number of values that looked like secrets and were not stored.
    pub redacted: usize,
    /// The reasons why it is still pending.
    pub errors: Vec<String>,
    /// The memories that say nearly the same.
    pub similar: Vec<Similar>,
    /// Older memories that say something else of the same thing, at most three. Nothing is replaced unless you make the call.
    pub updates: Option<Vec<UpdateCandidate>>,
    /// If it is pinned: for whom, `person` or `agent`.
    pub pinned_by: Option<PinnedBy>,
    /// True if it is `untrusted`: found by search, marked, and never shown to a model that did not ask.
    pub quarantined: Option<bool>,
    /// `personal` if it is in personal memory.
    pub memory_of: Option<MemoryOf>,
    /// True if it waits for a person before other projects are shown it; search finds it at once.
    pub waiting: Option<bool>,
}

/// An older memory that the new one may replace.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpdateCandidate {
    pub memory_id: MemoryId,
    pub name: String,
    /// The sentence of the older memory.
    pub says: String,
    /// The sentence of the new memory that disagrees.
    pub now: String,
    /// The operation that replaces it, and its arguments.
    pub next: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Similar {
    pub name: String,
    pub topic: String,
    pub updated_at: Timestamp,
}

/// Add many memories in one call. An invalid item does not affect the others.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AddMemories {
    /// The workspace to add to; default: the current one.
    pub workspace_id: Option<String>,
    /// `project` (default), or `personal` for what is true of the person in every project.
    pub memory_of: Option<MemoryOf>,
    /// The memories to add, at most 1,000, each as for `add_memory`.
    pub memories: Vec<MemoryInput>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedMemories {
    /// The results, one per item, in the same order.
    pub results: Vec<BatchResult>,
    pub created: usize,
    pub failed: usize,
}

/// The outcome for one item.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BatchResult {
    Added(Box<AddedMemory>),
    Failed {
        /// The error, as for a single request.
        error: Value,
    },
}

/// Read a whole memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetMemory {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The name or id of the memory.
    pub memory_id: String,
    /// An earlier revision.
    #[schemars(extend("x-rare" = true))]
    pub revision: Option<i64>,
    /// The plan under review: reading then does not count as a use.
    #[schemars(extend("x-rare" = true))]
    pub plan_id: Option<String>,
    /// `ids` adds the ids of chunks, entities and relations.
    #[schemars(extend("x-rare" = true))]
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
    /// How it came in: `cli`, `mcp`, `http`, `hook`, `index` or `import`.
    pub channel: Channel,
    /// Who answers for its text: a `person`, an `agent`, the file it was `imported` from, or nobody (`untrusted`).
    pub trust: Trust,
    /// True if it is `untrusted`: found by search, and never shown to a model that did not ask.
    pub quarantined: Option<bool>,
    /// The writer of the revision shown, if the memory as a whole is somebody else's.
    pub revision_by: Option<RevisionWriter>,
    /// The status: `pending` or `complete`.
    pub status: String,
    pub last_error: Option<String>,
    pub attempts: Option<i64>,
    /// The version, which grows by one with every update; give it as `expected_version`.
    pub version: i64,
    /// The revision of the content shown.
    pub revision: i64,
    /// The newest revision, while its extraction is pending.
    pub pending_revision: Option<i64>,
    /// The newest version of the source that is known to hold it.
    pub source_version: Option<i64>,
    pub doc_hash: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub ingested_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub use_count: i64,
    /// How often it was shown to a model that did not ask for it: no use.
    pub shown_count: i64,
    pub expires_at: Option<Timestamp>,
    pub pinned: bool,
    pub pin_reason: Option<String>,
    /// For whom it is pinned: `person` or `agent`. Agents can neither unpin nor change what a person pinned.
    pub pinned_by: Option<PinnedBy>,
    /// Who pinned it.
    pub pinned_actor: Option<String>,
    /// Whether a living successor replaces it.
    pub superseded: bool,
    /// The name of the successor.
    pub superseded_by: Option<String>,
    pub supersede_reason: Option<String>,
    /// The names of the memories it replaces.
    pub supersedes: Vec<String>,
    /// The names in its chain of replacements, oldest first.
    pub chain: Option<Vec<String>>,
    pub chunk_count: usize,
    pub entity_count: usize,
    pub relation_count: usize,
    pub chunk_ids: Option<Vec<String>>,
    pub entity_ids: Option<Vec<String>>,
    pub relation_ids: Option<Vec<String>>,
    /// `personal` if it is in personal memory.
    pub memory_of: Option<MemoryOf>,
    /// True if it waits for a person before other projects are shown it.
    pub waiting: Option<bool>,
}

/// Who wrote a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionWriter {
    pub written_by: String,
    pub channel: Channel,
    pub trust: Trust,
}

/// List memories page by page, with filters. Indexed files are listed only if `source` asks for them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListMemories {
    /// The workspace to list; default: the current one.
    pub workspace_id: Option<String>,
    /// `project` (default) or `personal`.
    pub memory_of: Option<MemoryOf>,
    /// True: only personal memories that wait for a person before other projects are shown them.
    pub waiting: Option<bool>,
    /// The number to skip (0).
    pub offset: Option<i64>,
    /// The number to show (50, at most 100).
    pub limit: Option<i64>,
    /// The field to sort by (`updated_at`).
    pub order_by: Option<MemoryOrder>,
    /// List the newest or most used first (true).
    pub descending: Option<bool>,
    /// Words that must all occur.
    pub query: Option<String>,
    /// Tags that must all be present.
    pub tags: Option<Vec<String>>,
    /// The source of the memories.
    pub source: Option<String>,
    /// The writer of the memories.
    pub written_by: Option<String>,
    /// The trust of the memories: `person`, `agent`, `imported` or `untrusted`.
    pub trust: Option<Trust>,
    /// The channel they came by: `cli`, `mcp`, `http`, `hook`, `index` or `import`.
    pub channel: Option<Channel>,
    /// The status: `pending` or `complete`; default: both.
    pub status: Option<StatusFilter>,
    /// The lifecycle: `live` (default) is neither trashed nor superseded, and includes expired memories; `contradicting` is
    /// what says something else than another of the same thing.
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
    Contradicting,
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
    /// The first 200 characters of the text.
    pub preview: String,
    /// The number of characters of the whole text.
    pub full_length: usize,
    pub decision_count: usize,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub source: String,
    pub channel: Channel,
    pub trust: Trust,
    /// True if it is `untrusted`.
    pub quarantined: Option<bool>,
    pub pinned: bool,
    /// For whom it is pinned: `person` or `agent`.
    pub pinned_by: Option<PinnedBy>,
    pub status: String,
    /// True if it waits for a person before other projects are shown it.
    pub waiting: Option<bool>,
    /// With `lifecycle: "contradicting"`: the newer memories that say something else of the same thing.
    pub contradicted_by: Option<Vec<String>>,
    /// With `lifecycle: "contradicting"`: the older memories that it disagrees with.
    pub contradicts: Option<Vec<String>>,
}

/// Move one memory to the trash with all entities and relations that only it supports. `gc_undo` restores it. Use `forget` for many.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeleteMemory {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id or name of the memory.
    pub memory_id: String,
    /// Create a verified backup first (false).
    pub backup: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeletedMemory {
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    #[schemars(with = "TrashedCounts")]
    pub trashed: Counts,
    /// When undo stops being possible and the memory may be purged.
    pub undo_until: Option<Timestamp>,
}
