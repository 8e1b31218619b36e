//! What answers count, described for their schemas. The answers themselves hold a [`Counts`](rootset_model::Counts): a kind
//! that nobody described here is answered all the same.
#![expect(dead_code, reason = "only the schemas are used")]

use schemars::JsonSchema;
use serde_with::skip_serializing_none;

/// What a run moved to the trash, by kind.
#[skip_serializing_none]
#[derive(JsonSchema)]
pub struct TrashedCounts {
    memories: i64,
    chunks: i64,
    /// The number of entities that lost their last contributor.
    entities: i64,
    /// The number of relations that lost their last contributor.
    relations: i64,
    /// The number of earlier revisions, if any.
    revisions: Option<i64>,
    /// The number of context segments, if any.
    segments: Option<i64>,
    /// The number of whole context sessions, if any.
    sessions: Option<i64>,
    /// The number of context segments stashed, if any.
    stashed: Option<i64>,
}

/// The derived rows that belonged to no memory, by kind.
#[derive(JsonSchema)]
pub struct ReclaimedCounts {
    chunks: i64,
    entities: i64,
    relations: i64,
}

#[skip_serializing_none]
#[derive(JsonSchema)]
pub struct RestoredCounts {
    memories: i64,
    revisions: Option<i64>,
    /// The number of untracked graph rows restored.
    untracked: Option<i64>,
    /// The number of context segments restored.
    segments: Option<i64>,
    /// The number of whole context sessions restored.
    sessions: Option<i64>,
    workspaces: Option<i64>,
    /// The number of untracked graph rows removed by undoing an import.
    removed: Option<i64>,
}

#[skip_serializing_none]
#[derive(JsonSchema)]
pub struct PlannedCounts {
    memories: i64,
    chunks: i64,
    entities: i64,
    relations: i64,
    bytes: i64,
    revisions: Option<i64>,
    segments: Option<i64>,
    sessions: Option<i64>,
}

#[derive(JsonSchema)]
pub struct LivingCounts {
    memories: i64,
    sessions: i64,
    /// The number of segments in those sessions, stashed ones included.
    segments: i64,
}

#[skip_serializing_none]
#[derive(JsonSchema)]
pub struct InTrashCounts {
    memories: i64,
    /// The number of trashed earlier revisions; absent if there are none.
    revisions: Option<i64>,
    sessions: i64,
    /// The number of trashed segments, without those of trashed sessions.
    segments: i64,
}
