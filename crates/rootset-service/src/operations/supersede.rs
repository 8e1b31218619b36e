//! `supersede_memory`.

use std::sync::Arc;

use rootset_model::MemoryId;
use rootset_model::limits::REASON_CHARS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::check_short_text;

/// Say that one memory is replaced by another: the old one keeps its text and history and leaves ordinary search.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SupersedeMemory {
    /// Workspace they are in; absent: the current one.
    workspace_id: Option<String>,
    /// The old memory, by id or name.
    memory_id: String,
    /// The new memory, by id or name.
    by: String,
    /// Why.
    reason: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SupersededMemory {
    pub memory_id: MemoryId,
    pub superseded_by: MemoryId,
    /// Names, oldest first.
    pub chain: Vec<String>,
}

impl Operation for SupersedeMemory {
    const NAME: &'static str = "supersede_memory";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    type Response = SupersededMemory;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SupersededMemory, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if let Some(reason) = &self.reason {
            check_short_text("reason", reason, REASON_CHARS_MAX)?;
        }
        let (memory_id, superseded_by, chain) = service.store.supersede_memory(
            &workspace,
            &self.memory_id,
            &self.by,
            self.reason.as_deref(),
            service.stamp(caller),
        )?;
        Ok(SupersededMemory { memory_id, superseded_by, chain })
    }
}
