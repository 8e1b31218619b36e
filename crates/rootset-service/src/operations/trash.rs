//! `list_trash`.

use std::sync::Arc;

use rootset_api::{ListTrash, TrashItem, TrashList};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::page;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ListTrash {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<TrashList, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let (items, total) = service.store.list_trash(&workspace, offset, limit)?;
        let items = items
            .into_iter()
            .map(|it| TrashItem {
                kind: it.kind,
                id: it.id,
                name: it.name,
                topic: it.topic,
                trashed_at: it.trashed_at,
                run_id: it.run,
                undo_until: it.undo_until,
            })
            .collect();
        Ok(TrashList { items, total, offset, limit })
    }
}
