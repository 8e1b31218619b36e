//! `get_stats`.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// Counts by kind and source, sizes, and what the database runs on.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetStats {
    /// Workspace to count; absent: the current one.
    workspace_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StatsAnswer {
    pub workspace_id: String,
    /// Rows as stored, trash included.
    pub counts: Counts,
    pub by_source: BTreeMap<String, SourceAnswer>,
    pub sizes: SizesAnswer,
    /// `sqlite`.
    pub engine: String,
    pub schema_version: i64,
    pub extractor: String,
    /// `none`: search is lexical and by graph.
    pub embedder: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Counts {
    pub memories: i64,
    pub live: i64,
    pub trashed: i64,
    pub pending: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub vectors: i64,
    pub sessions: i64,
    pub segments: i64,
    /// Living segments that are out of their window.
    pub stashed: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceAnswer {
    pub live: i64,
    pub trashed: i64,
    pub pending: i64,
}

/// Bytes; all but the first are of the whole database, and shown to those who may see all of it.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct SizesAnswer {
    pub content_bytes: i64,
    pub database_bytes: Option<i64>,
    pub wal_bytes: Option<i64>,
    pub free_bytes: Option<i64>,
}

impl Operation for GetStats {
    const NAME: &'static str = "get_stats";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = StatsAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<StatsAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let stats = service.store.stats(&workspace)?;
        let sum = |of: fn(&rootset_store::SourceCounts) -> i64| stats.by_source.iter().map(of).sum::<i64>();
        let seen = |bytes: i64| caller.rights.workspaces.is_none().then_some(bytes);
        let (memories, trashed) = (sum(|it| it.memories), sum(|it| it.trashed));
        Ok(StatsAnswer {
            workspace_id: workspace.id,
            counts: Counts {
                memories,
                live: memories - trashed,
                trashed,
                pending: sum(|it| it.pending),
                chunks: stats.chunks,
                entities: stats.entities,
                relations: stats.relations,
                vectors: stats.vectors,
                sessions: stats.sessions,
                segments: stats.segments,
                stashed: stats.stashed,
            },
            by_source: stats
                .by_source
                .into_iter()
                .map(|it| {
                    let counts =
                        SourceAnswer { live: it.memories - it.trashed, trashed: it.trashed, pending: it.pending };
                    (it.source, counts)
                })
                .collect(),
            sizes: SizesAnswer {
                content_bytes: stats.content_bytes,
                database_bytes: seen(stats.sizes.database_bytes),
                wal_bytes: seen(stats.sizes.log_bytes),
                free_bytes: seen(stats.sizes.free_bytes),
            },
            engine: service.store.engine_name().to_owned(),
            schema_version: rootset_store::SCHEMA_VERSION,
            extractor: service.extractor.id().to_owned(),
            embedder: service.embedder.as_ref().map_or("none", |embedder| embedder.id()).to_owned(),
        })
    }
}
