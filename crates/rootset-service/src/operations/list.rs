//! `list_memories`.

use std::sync::Arc;

use rootset_api::{LifecycleFilter, ListMemories, ListedAnswer, MemoryList, MemoryOf, MemoryOrder, StatusFilter};
use rootset_model::limits::PREVIEW_CHARS_MAX;
use rootset_store::{Lifecycle, ListFilters, ListOrder, ListedMemory, Status, Workspace};
use rootset_text::{snippet, terms};

use crate::caller::Caller;
use crate::contradictions::Contradictions;
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, page};
use crate::operation::Operation;
use crate::personal::waits;
use crate::service::Service;

fn listed_answer(memory: ListedMemory, workspace: &Workspace, contradictions: &Contradictions) -> ListedAnswer {
    ListedAnswer {
        contradicted_by: contradictions.contradicted_by.get(&memory.id).cloned(),
        contradicts: contradictions.contradicts.get(&memory.id).cloned(),
        memory_id: memory.id,
        name: memory.name,
        topic: memory.topic,
        preview: snippet::preview(&memory.context, PREVIEW_CHARS_MAX),
        full_length: memory.context.chars().count(),
        decision_count: memory.decisions.len(),
        tags: memory.tags,
        created_at: memory.created_at,
        updated_at: memory.updated_at,
        source: memory.source,
        channel: memory.channel,
        trust: memory.trust,
        quarantined: memory.trust.is_quarantined().then_some(true),
        pinned: memory.is_pinned,
        pinned_by: memory.pinned_by,
        status: memory.status,
        waiting: waits(workspace, memory.trust, memory.pinned_by),
    }
}

impl Operation for ListMemories {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<MemoryList, ServiceError> {
        let only_waiting = self.waiting.unwrap_or(false);
        let memory_of = self.memory_of.or(only_waiting.then_some(MemoryOf::Personal));
        let workspace = service.workspace_to_read(caller, self.workspace_id.as_deref(), memory_of)?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let query = self.query.unwrap_or_default();
        check_query(&query)?;
        let only_contradicting = matches!(self.lifecycle, Some(LifecycleFilter::Contradicting));
        let contradictions = match workspace.as_ref().filter(|_| only_contradicting) {
            Some(workspace) => service.contradictions(workspace)?,
            None => Contradictions::default(),
        };
        let filters = ListFilters {
            among: only_contradicting.then(|| contradictions.ids()),
            source: self.source,
            written_by: self.written_by,
            status: self.status.map(|status| match status {
                StatusFilter::Pending => Status::Pending,
                StatusFilter::Complete => Status::Complete,
            }),
            trust: self.trust,
            channel: self.channel,
            only_waiting,
            lifecycle: match self.lifecycle.unwrap_or(LifecycleFilter::Live) {
                LifecycleFilter::Live | LifecycleFilter::Contradicting => Lifecycle::Live,
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
        let Some(workspace) = workspace else {
            return Ok(MemoryList { memories: Vec::new(), total: 0, offset, limit });
        };
        let (found, total) = service.store.list_memories(&workspace, &filters)?;
        let memories = found.into_iter().map(|memory| listed_answer(memory, &workspace, &contradictions)).collect();
        Ok(MemoryList { memories, total, offset, limit })
    }
}
