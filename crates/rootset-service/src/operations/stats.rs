//! `get_stats`.

use std::sync::Arc;

use rootset_api::{GetStats, ObjectCounts, SizesAnswer, SourceAnswer, StatsAnswer, StatsBy, TagCount};
use rootset_model::limits::LIST_LIMIT_MAX;
use rootset_store::Workspace;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GetStats {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<StatsAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let stats = service.store.stats(&workspace)?;
        let by_tag = self.by.map(|StatsBy::Tags| tags(service, &workspace)).transpose()?;
        let sum = |of: fn(&rootset_store::SourceCounts) -> i64| stats.by_source.iter().map(of).sum::<i64>();
        let seen = |bytes: i64| caller.rights.workspaces.is_none().then_some(bytes);
        let (memories, trashed) = (sum(|it| it.memories), sum(|it| it.trashed));
        Ok(StatsAnswer {
            workspace_id: workspace.id,
            counts: ObjectCounts {
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
            by_tag,
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

fn tags(service: &Service, workspace: &Workspace) -> Result<Vec<TagCount>, ServiceError> {
    let counted = service.store.tag_counts(workspace, LIST_LIMIT_MAX)?;
    Ok(counted.into_iter().map(|(tag, memories)| TagCount { tag, memories }).collect())
}
