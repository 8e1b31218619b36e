//! `add_memory` with a `key`: adding again under the same key changes the memory that is there.

use std::sync::Arc;

use rootset_api::{AddMemory, AddedMemory, UpdateMemory};
use rootset_model::{MemoryId, Trust};
use rootset_store::{Status, Workspace};
use serde_json::json;

use super::add::add;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

/// Times that a key may come and go while it is looked at.
const ATTEMPTS_MAX: usize = 4;

/// The memory that the key leads to gets the new text; where it leads to none, one is added.
pub(super) fn add_or_update(
    request: AddMemory,
    key: &str,
    service: &Arc<Service>,
    workspace: &Workspace,
    caller: &Caller,
) -> Result<AddedMemory, ServiceError> {
    for _ in 0..ATTEMPTS_MAX {
        if let Some(memory) = service.store.memory_with_key(workspace, key)? {
            return update(request, memory, service, caller);
        }
        match add(request.clone(), service, workspace, caller) {
            Err(error) if is_key_taken(&error) => {}
            added => return added,
        }
    }
    Err(ServiceError::conflict(format!("the key `{key}` keeps changing; try again")))
}

fn is_key_taken(error: &ServiceError) -> bool {
    error.details.as_ref().is_some_and(|details| details.get("key").is_some())
}

fn update(
    request: AddMemory,
    memory: MemoryId,
    service: &Arc<Service>,
    caller: &Caller,
) -> Result<AddedMemory, ServiceError> {
    let input = request.memory;
    if input.supersedes.is_some() || input.source.is_some() || input.untrusted == Some(true) {
        let problem = "the key leads to a memory already: `supersedes`, `source` and `untrusted` are for new ones";
        return Err(ServiceError::invalid(problem).with_details(json!({"memory_id": memory})));
    }
    let updated = UpdateMemory {
        workspace_id: request.workspace_id,
        memory_id: memory.to_string(),
        context: Some(input.context),
        topic: input.topic,
        name: input.name,
        decisions: input.decisions,
        rationale: input.rationale,
        metadata: input.metadata,
        tags: input.tags,
        source_version: input.source_version,
        pinned: input.pinned,
        pin_reason: input.pin_reason,
        expires_at: input.expires_at,
        ..UpdateMemory::default()
    }
    .run(service, caller)?;
    let status = if updated.errors.is_empty() { Status::Complete } else { Status::Pending };
    Ok(AddedMemory {
        memory_id: memory,
        name: updated.name,
        created: false,
        restored: false,
        status: status.as_str().to_owned(),
        version: updated.version,
        chunks_created: 0,
        entities_created: updated.entities_created,
        relations_created: updated.relations_created,
        redacted: 0,
        errors: updated.errors,
        similar: Vec::new(),
        updates: None,
        pinned_by: updated.pinned_by,
        quarantined: updated.trust.is_some_and(Trust::is_quarantined).then_some(true),
        memory_of: None,
        waiting: None,
    })
}
