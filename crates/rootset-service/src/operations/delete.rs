//! `delete_memory`.

use std::sync::Arc;

use rootset_api::{DeleteMemory, DeletedMemory};

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
            let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
            let stamp = service.stamp(caller);
            let (_, run) = service.store.delete_memory(workspace, &self.memory_id, ids, grace_ms, stamp)?;
            Ok(DeletedMemory { run_id: run.id, trashed: trashed_answer(&run.counts.taken), undo_until: run.undo_until })
        })
    }
}
