//! Finding memories, replacing one by another, and forgetting what a query finds.

use rootset_model::{MemoryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::collector::PlanAnswer;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! search_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        SearchMemory => SearchAnswer {
            name: "search_memory",
            effect: Read,
            is: [idempotent, open_world, in_workspace],
            profiles: [Core],
            example: {"query": "when are deploys?", "limit": 5},
        }
        SupersedeMemory => SupersededMemory {
            name: "supersede_memory",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [],
            example: {"memory_id": "deploys", "by": "deploys-2", "reason": "the team moved"},
        }
        Forget => ForgetAnswer {
            name: "forget",
            effect: Write,
            is: [in_workspace],
            profiles: [Core],
            example: {"query": "project apollo", "kinds": ["memories", "entities"]},
        }
    } };
}

/// Find memories, or the entities they speak of, before asking or guessing. Any text is a valid query; without one:
/// pinned first, then newest.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchMemory {
    /// Workspace to search; absent: the current one.
    pub workspace_id: Option<String>,
    /// What to look for, in plain words.
    pub query: Option<String>,
    /// How many results (10, at most 100).
    pub limit: Option<i64>,
    /// `memories` (default) or `entities`.
    pub mode: Option<SearchMode>,
    /// Tags that all have to be there.
    pub tags: Option<Vec<String>>,
    /// Only memories of this source.
    pub source: Option<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// Entities come with the ids of their memories (true).
    pub include_memory_ids: Option<bool>,
    /// Add scores and reasons.
    pub explain: Option<bool>,
    /// Tokens the answer may take (1,500); it is cut from the end.
    pub max_tokens: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    Memories,
    Entities,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// Best first.
    pub results: Vec<SearchResult>,
    /// What the order is based on: `lexical`, `graph`, `vectors`.
    pub signals: Vec<String>,
    /// Set when results were cut to fit `max_tokens`.
    pub truncated: Option<bool>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SearchResult {
    Memory(MemoryResult),
    Entity(EntityResult),
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MemoryResult {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    pub topic: String,
    /// The part of the text that matches best, at most 300 characters.
    pub snippet: String,
    /// Characters of the whole text.
    pub full_length: usize,
    pub updated_at: Timestamp,
    pub source: String,
    pub score: Option<f64>,
    pub why: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityResult {
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    pub description: String,
    /// `derived` or `untracked`.
    pub origin: String,
    pub refcount: i64,
    /// Current memories that contribute, newest update first.
    pub memory_ids: Option<Vec<MemoryId>>,
    pub score: Option<f64>,
}

/// Say that one memory is replaced by another: the old one keeps its text and history and leaves ordinary search.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SupersedeMemory {
    /// Workspace they are in; absent: the current one.
    pub workspace_id: Option<String>,
    /// The old memory, by id or name.
    pub memory_id: String,
    /// The new memory, by id or name.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SupersededMemory {
    pub memory_id: MemoryId,
    pub superseded_by: MemoryId,
    /// Names, oldest first.
    pub chain: Vec<String>,
}

/// Find everything that matches words or filters and return a plan to review. Nothing is removed before `gc_apply`.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Forget {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Words, e.g. `everything about project Falcon` or `alice@acme.io`. Identifiers match exactly.
    pub query: Option<String>,
    pub source: Option<String>,
    pub written_by: Option<String>,
    pub tags: Option<Vec<String>>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// What to look among (memories, revisions, entities, segments of context sessions, active or stashed; `code` on
    /// request). A tool call goes with its result.
    pub kinds: Option<Vec<ForgetKind>>,
    /// Take pinned memories and segments too.
    pub include_pinned: Option<bool>,
    /// Erase for good when applied, instead of moving to the trash.
    pub purge: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForgetKind {
    Memories,
    Revisions,
    Entities,
    Code,
    Segments,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ForgetAnswer {
    #[serde(flatten)]
    pub plan: PlanAnswer,
    /// Everything that matched.
    pub matched: usize,
    /// What the plan holds of it.
    pub in_plan: usize,
    /// Ids that matched and stay because they are pinned.
    pub kept_pinned: Vec<String>,
}
