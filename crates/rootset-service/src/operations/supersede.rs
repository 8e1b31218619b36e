//! `supersede_memory`.

use std::sync::Arc;

use rootset_api::{Request, SupersedeMemory, SupersededMemory, UpdateMemory};
use rootset_model::limits::REASON_CHARS_MAX;
use rootset_store::Workspace;

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
        if self.replace.is_some() {
            return replace_clause(&self, service, caller);
        }
        let superseded = service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, |workspace| {
            let (reason, stamp) = (self.reason.as_deref(), service.stamp(caller));
            Ok(service.store.supersede_memory(workspace, &self.memory_id, &self.by, reason, stamp)?)
        });
        let again = || serde_json::to_value(&self).unwrap_or_default();
        let (memory_id, superseded_by, chain) =
            superseded.map_err(|error| caller.or_ask_person(error, Self::NAME, again))?;
        Ok(SupersededMemory { memory_id, superseded_by, chain, text: None })
    }
}

/// The old memory takes the words of the new one for the clause that disagrees, and keeps the rest.
fn replace_clause(
    request: &SupersedeMemory,
    service: &Arc<Service>,
    caller: &Caller,
) -> Result<SupersededMemory, ServiceError> {
    let place = request.workspace_id.as_deref();
    let read = |workspace: &Workspace| {
        let new = service.store.full_memory(workspace, &request.by, None)?;
        let old = service.store.memory(workspace, &request.memory_id)?;
        Ok((old.id, new.row.id, new.content.context))
    };
    let (old, by, context) = service.where_memory_is(caller, place, &request.memory_id, read)?;
    let update = UpdateMemory {
        workspace_id: request.workspace_id.clone(),
        memory_id: old.to_string(),
        context: Some(context),
        replace: request.replace,
        ..UpdateMemory::default()
    };
    let updated = update.run(service, caller)?;
    let now = |workspace: &Workspace| Ok(service.store.full_memory(workspace, &old.to_string(), None)?.content.context);
    let text = service.where_memory_is(caller, place, &old.to_string(), now)?;
    let name = updated.name.unwrap_or_else(|| old.to_string());
    Ok(SupersededMemory { memory_id: old, superseded_by: by, chain: vec![name], text: Some(text) })
}
