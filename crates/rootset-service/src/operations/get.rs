//! `get_memory`.

use std::sync::Arc;

use rootset_model::{MemoryId, Timestamp};
use rootset_store::FullMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{hex, parse_plan_id};

/// Read one memory whole, by id or name, when the snippet of a search is not enough.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetMemory {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Id or name.
    memory_id: String,
    /// An earlier revision instead of the current one.
    revision: Option<i64>,
    /// Set while reviewing a plan: reading then does not count as a use.
    plan_id: Option<String>,
    /// `ids` adds the ids of chunks, entities and relations.
    include: Option<Vec<Include>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Include {
    Ids,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
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

impl Operation for GetMemory {
    const NAME: &'static str = "get_memory";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = MemoryAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<MemoryAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let full = service.store.full_memory(&workspace, &self.memory_id, self.revision)?;
        match &self.plan_id {
            Some(plan) => {
                let limits = &service.settings.limits;
                service.store.plan(&workspace, parse_plan_id(plan)?, limits, 0, 0)?;
            }
            None => service.uses.record(&workspace, [full.row.id], service.now()),
        }
        let is_linked = full.successor.is_some() || !full.predecessors.is_empty();
        let chain = is_linked.then(|| service.store.supersede_chain(&workspace, full.row.id)).transpose()?;
        let with_ids = self.include.unwrap_or_default().contains(&Include::Ids);
        answer(full, self.revision, chain, with_ids)
    }
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
        written_by: full.row.written_by,
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
        expires_at: full.row.expires_at,
        pinned: full.row.is_pinned,
        pin_reason: full.row.pin_reason,
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
    })
}
