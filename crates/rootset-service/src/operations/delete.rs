//! `delete_memory`.

use std::sync::Arc;

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::Trashed;

/// Move one memory to the trash with everything only it vouches for. `gc_undo` brings it back; for many at once: `forget`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeleteMemory {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Id or name.
    memory_id: String,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedMemory {
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub trashed: Trashed,
    /// Until when it can be undone; purging comes after.
    pub undo_until: Option<Timestamp>,
}

impl Operation for DeleteMemory {
    const NAME: &'static str = "delete_memory";
    const EFFECT: Effect = Effect::Destroy;
    const IS_IDEMPOTENT: bool = false;
    type Response = DeletedMemory;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DeletedMemory, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let stamp = service.stamp(caller);
        let (_, run) = service.store.delete_memory(&workspace, &self.memory_id, ids, grace_ms, stamp)?;
        Ok(DeletedMemory { run_id: run.id, trashed: run.counts.into(), undo_until: run.undo_until })
    }
}
