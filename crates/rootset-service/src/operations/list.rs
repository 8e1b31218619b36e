//! `list_memories`.

use std::sync::Arc;

use rootset_model::limits::PREVIEW_CHARS_MAX;
use rootset_model::{MemoryId, Timestamp};
use rootset_store::{Lifecycle, ListFilters, ListOrder, ListedMemory, Status};
use rootset_text::{snippet, tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{check_query, checked_tags, page};

/// List memories page by page, with filters. Indexed files are listed only when their source is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListMemories {
    /// Workspace to list; absent: the current one.
    workspace_id: Option<String>,
    /// How many to skip (0).
    offset: Option<i64>,
    /// How many to show (50, at most 100).
    limit: Option<i64>,
    /// Order (`updated_at`).
    order_by: Option<OrderBy>,
    /// Newest or most used first (true).
    descending: Option<bool>,
    /// Words that all have to occur.
    query: Option<String>,
    /// Tags that all have to be there.
    tags: Option<Vec<String>>,
    source: Option<String>,
    written_by: Option<String>,
    status: Option<StatusFilter>,
    /// `live` (default): neither trashed nor superseded, expired ones included.
    lifecycle: Option<LifecycleFilter>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    UpdatedAt,
    CreatedAt,
    UseCount,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusFilter {
    Pending,
    Complete,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleFilter {
    Live,
    Trashed,
    Superseded,
    All,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryList {
    pub memories: Vec<ListedAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
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

impl From<ListedMemory> for ListedAnswer {
    fn from(memory: ListedMemory) -> Self {
        Self {
            memory_id: memory.id,
            name: memory.name,
            topic: memory.topic,
            preview: snippet::preview(&memory.context, PREVIEW_CHARS_MAX),
            full_length: memory.context.chars().count(),
            decision_count: memory.decisions.len(),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            source: memory.source,
            pinned: memory.is_pinned,
            status: memory.status,
        }
    }
}

impl Operation for ListMemories {
    const NAME: &'static str = "list_memories";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = MemoryList;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<MemoryList, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let query = self.query.unwrap_or_default();
        check_query(&query)?;
        let filters = ListFilters {
            source: self.source,
            written_by: self.written_by,
            status: self.status.map(|status| match status {
                StatusFilter::Pending => Status::Pending,
                StatusFilter::Complete => Status::Complete,
            }),
            lifecycle: match self.lifecycle.unwrap_or(LifecycleFilter::Live) {
                LifecycleFilter::Live => Lifecycle::Live,
                LifecycleFilter::Trashed => Lifecycle::Trashed,
                LifecycleFilter::Superseded => Lifecycle::Superseded,
                LifecycleFilter::All => Lifecycle::All,
            },
            tags: checked_tags(&self.tags.unwrap_or_default())?,
            terms: tokens::query_terms(&query).into_iter().map(|term| term.term).collect(),
            order: match self.order_by.unwrap_or(OrderBy::UpdatedAt) {
                OrderBy::UpdatedAt => ListOrder::UpdatedAt,
                OrderBy::CreatedAt => ListOrder::CreatedAt,
                OrderBy::UseCount => ListOrder::UseCount,
            },
            is_descending: self.descending.unwrap_or(true),
            offset,
            limit,
        };
        let (found, total) = service.store.list_memories(&workspace, &filters)?;
        Ok(MemoryList { memories: found.into_iter().map(Into::into).collect(), total, offset, limit })
    }
}
