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
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        service.back_up_before(self.backup, &workspace, caller)?;
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let stamp = service.stamp(caller);
        let (_, run) = service.store.delete_memory(&workspace, &self.memory_id, ids, grace_ms, stamp)?;
        Ok(DeletedMemory { run_id: run.id, trashed: trashed_answer(&run.counts.taken), undo_until: run.undo_until })
    }
}
