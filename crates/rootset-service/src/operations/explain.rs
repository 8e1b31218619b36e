//! `gc_explain`.

use std::sync::Arc;

use rootset_api::{ExplainAnswer, GcExplain};
use rootset_model::MemoryId;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GcExplain {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ExplainAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let configured = service.settings.gc.retention_of(&workspace);
        let found = service.store.explain(&workspace, &self.id, configured, service.now())?;
        let memory = match found.id.parse::<MemoryId>() {
            Ok(id) if found.kind == "memory" => service.store.memory_by_id(&workspace, id)?,
            _ => None,
        };
        Ok(ExplainAnswer {
            channel: memory.as_ref().map(|row| row.channel),
            trust: memory.as_ref().map(|row| row.trust),
            pinned_by: memory.and_then(|row| row.pinned_by),
            kind: found.kind.to_owned(),
            id: found.id,
            alive: found.is_alive,
            reason: found.reason,
            path: found.path,
        })
    }
}
