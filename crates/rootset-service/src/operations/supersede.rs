//! `supersede_memory`.

use std::sync::Arc;

use rootset_api::{Request, SupersedeMemory, SupersededMemory};
use rootset_model::limits::REASON_CHARS_MAX;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for SupersedeMemory {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SupersededMemory, ServiceError> {
        if let Some(reason) = &self.reason {
            check_short_text("reason", reason, REASON_CHARS_MAX)?;
        }
        let superseded = service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, |workspace| {
            let (reason, stamp) = (self.reason.as_deref(), service.stamp(caller));
            Ok(service.store.supersede_memory(workspace, &self.memory_id, &self.by, reason, stamp)?)
        });
        let again = || serde_json::to_value(&self).unwrap_or_default();
        let (memory_id, superseded_by, chain) =
            superseded.map_err(|error| caller.or_ask_person(error, Self::NAME, again))?;
        Ok(SupersededMemory { memory_id, superseded_by, chain })
    }
}
