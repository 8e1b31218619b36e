//! `delete_memory`.

use std::sync::Arc;

use rootset_api::{DeleteMemory, DeletedMemory};
use rootset_store::Workspace;

use super::plan::trashed_answer;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for DeleteMemory {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DeletedMemory, ServiceError> {
        service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, |workspace| {
            if self.backup == Some(true) {
                // No backup for what is not here.
                service.store.memory(workspace, &self.memory_id)?;
            }
            service.back_up_before(self.backup, workspace, caller)?;
            delete(std::slice::from_ref(&self.memory_id), service, workspace, caller)
        })
    }
}

/// All of them in one run, or none.
pub(super) fn delete(
    memories: &[String],
    service: &Service,
    workspace: &Workspace,
    caller: &Caller,
) -> Result<DeletedMemory, ServiceError> {
    let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
    let run = service.store.delete_memories(workspace, memories, ids, grace_ms, service.stamp(caller))?;
    Ok(DeletedMemory { run_id: run.id, trashed: trashed_answer(&run.counts.taken), undo_until: run.undo_until })
}
