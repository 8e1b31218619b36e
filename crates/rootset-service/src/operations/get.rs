//! `get_memory`.

use std::sync::Arc;

use rootset_api::{ErrorCode, GetMemory, MemoryAnswer, MemoryPart, RevisionWriter};
use rootset_model::MemoryId;
use rootset_store::{FullMemory, Workspace, Writer};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{hex, parse_plan_id};
use crate::operation::Operation;
use crate::personal::{memory_of, waits};
use crate::service::Service;

impl Operation for GetMemory {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<MemoryAnswer, ServiceError> {
        let read = |workspace: &Workspace| read(&self, service, workspace);
        service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, read)
    }
}

fn read(request: &GetMemory, service: &Service, workspace: &Workspace) -> Result<MemoryAnswer, ServiceError> {
    let full = service.store.full_memory(workspace, &request.memory_id, request.revision)?;
    match &request.plan_id {
        Some(plan) => {
            let limits = &service.settings.limits;
            service.store.plan(workspace, parse_plan_id(plan)?, limits, 0, 0)?;
        }
        None => service.uses.record(workspace, [full.row.id], service.now()),
    }
    let is_linked = full.successor.is_some() || !full.predecessors.is_empty();
    let chain = is_linked.then(|| service.store.supersede_chain(workspace, full.row.id)).transpose()?;
    let with_ids = request.include.as_deref().unwrap_or_default().contains(&MemoryPart::Ids);
    let waiting = waits(workspace, full.row.trust, full.row.pinned_by);
    let answer = answer(full, request.revision, chain, with_ids)?;
    Ok(MemoryAnswer { memory_of: memory_of(workspace), waiting, ..answer })
}

fn answer(
    full: FullMemory,
    revision: Option<i64>,
    chain: Option<Vec<String>>,
    with_ids: bool,
) -> Result<MemoryAnswer, ServiceError> {
    let named = |(id, name): (MemoryId, Option<String>)| name.unwrap_or_else(|| id.to_string());
    let metadata = full.row.metadata.as_deref().map(serde_json::from_str).transpose();
    let metadata =
        metadata.map_err(|_| ServiceError::new(ErrorCode::Internal, "the stored metadata cannot be read"))?;
    let row = &full.row;
    let is_anothers = |it: &Writer| (&it.actor, it.channel, it.trust) != (&row.written_by, row.channel, row.trust);
    let revision_by = full.writer.filter(is_anothers).map(|it| RevisionWriter {
        written_by: it.actor,
        channel: it.channel,
        trust: it.trust,
    });
    let is_pending = full.row.status == rootset_store::Status::Pending;
    Ok(MemoryAnswer {
        memory_id: full.row.id,
        name: full.row.name,
        topic: full.content.topic,
        context: full.content.context,
        decisions: full.content.decisions,
        rationale: full.content.rationale,
        metadata,
        tags: full.row.tags,
        source: full.row.source,
        repo: full.row.repo,
        file_path: full.row.file_path,
        revision_by,
        written_by: full.row.written_by,
        channel: full.row.channel,
        trust: full.row.trust,
        quarantined: full.row.trust.is_quarantined().then_some(true),
        status: full.row.status.as_str().to_owned(),
        last_error: full.row.last_error,
        attempts: is_pending.then_some(full.row.attempts),
        version: full.row.version,
        revision: revision.unwrap_or(full.row.revision),
        pending_revision: full.row.pending_revision,
        source_version: full.row.source_version,
        doc_hash: full.row.doc_hash.map(|hash| hex(&hash)),
        created_at: full.row.created_at,
        updated_at: full.row.updated_at,
        ingested_at: full.row.ingested_at,
        last_used_at: full.last_used_at,
        use_count: full.use_count,
        shown_count: full.shown_count,
        expires_at: full.row.expires_at,
        pinned: full.row.is_pinned,
        pin_reason: full.row.pin_reason,
        pinned_by: full.row.pinned_by,
        pinned_actor: full.row.pinned_actor,
        superseded: full.row.is_superseded,
        superseded_by: full.successor.map(named),
        supersede_reason: full.row.supersede_reason.filter(|_| full.row.is_superseded),
        supersedes: full.predecessors.into_iter().map(named).collect(),
        chain,
        chunk_count: full.chunks.len(),
        entity_count: full.entities.len(),
        relation_count: full.relations.len(),
        chunk_ids: with_ids.then(|| full.chunks.iter().map(|key| key.external().to_string()).collect()),
        entity_ids: with_ids.then(|| full.entities.iter().map(ToString::to_string).collect()),
        relation_ids: with_ids.then(|| full.relations.iter().map(ToString::to_string).collect()),
        memory_of: None,
        waiting: None,
    })
}
