//! `list_trash`.

use std::sync::Arc;

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::page;

/// List what is in the trash, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListTrash {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    workspace_id: Option<String>,
    /// How many to skip (0).
    offset: Option<i64>,
    /// How many to show (50, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TrashList {
    pub items: Vec<TrashItem>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrashItem {
    /// `memory`, `revision`, `entity`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    /// Of a segment its segment_id, of a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, the type of an entity, the session_id of a segment.
    pub topic: Option<String>,
    pub trashed_at: Timestamp,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

impl Operation for ListTrash {
    const NAME: &'static str = "list_trash";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = TrashList;

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
