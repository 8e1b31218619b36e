//! `list_memories`.

use std::sync::Arc;

use rootset_api::{LifecycleFilter, ListMemories, ListedAnswer, MemoryList, MemoryOrder, StatusFilter};
use rootset_model::limits::PREVIEW_CHARS_MAX;
use rootset_store::{Lifecycle, ListFilters, ListOrder, ListedMemory, Status};
use rootset_text::{snippet, terms};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, page};
use crate::operation::Operation;
use crate::service::Service;

fn listed_answer(memory: ListedMemory) -> ListedAnswer {
    ListedAnswer {
        memory_id: memory.id,
        name: memory.name,
        topic: memory.topic,
        preview: snippet::preview(&memory.context, PREVIEW_CHARS_MAX),
        full_length: memory.context.chars().count(),
        decision_count: memory.decisions.len(),
        created_at: memory.created_at,
        updated_at: memory.updated_at,
        source: memory.source,
        channel: memory.channel,
        trust: memory.trust,
        quarantined: memory.trust.is_quarantined().then_some(true),
        pinned: memory.is_pinned,
        pinned_by: memory.pinned_by,
        status: memory.status,
    }
}

impl Operation for ListMemories {
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
            trust: self.trust,
            channel: self.channel,
            lifecycle: match self.lifecycle.unwrap_or(LifecycleFilter::Live) {
                LifecycleFilter::Live => Lifecycle::Live,
                LifecycleFilter::Trashed => Lifecycle::Trashed,
                LifecycleFilter::Superseded => Lifecycle::Superseded,
                LifecycleFilter::All => Lifecycle::All,
            },
            tags: checked_tags(&self.tags.unwrap_or_default())?,
            terms: terms::query_terms(&query).into_iter().map(|term| term.term).collect(),
            order: match self.order_by.unwrap_or(MemoryOrder::UpdatedAt) {
                MemoryOrder::UpdatedAt => ListOrder::UpdatedAt,
                MemoryOrder::CreatedAt => ListOrder::CreatedAt,
                MemoryOrder::UseCount => ListOrder::UseCount,
            },
            is_descending: self.descending.unwrap_or(true),
            offset,
            limit,
        };
        let (found, total) = service.store.list_memories(&workspace, &filters)?;
        Ok(MemoryList { memories: found.into_iter().map(listed_answer).collect(), total, offset, limit })
    }
}
