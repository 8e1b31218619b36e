//! `gc_explain`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// Why something is alive, or why it is not: a memory, entity, relation, chunk, context segment or session.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GcExplain {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Any id, or a memory's name.
    id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainAnswer {
    /// `memory`, `entity`, `relation`, `chunk`, `segment` or `session`.
    pub kind: String,
    pub id: String,
    pub alive: bool,
    /// In words.
    pub reason: String,
    /// From the root that keeps it down to the thing itself.
    pub path: Vec<String>,
}

impl Operation for GcExplain {
    const NAME: &'static str = "gc_explain";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = ExplainAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ExplainAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let configured = service.settings.gc.retention_of(&workspace.id);
        let found = service.store.explain(&workspace, &self.id, configured, service.now())?;
        Ok(ExplainAnswer {
            kind: found.kind.to_owned(),
            id: found.id,
            alive: found.is_alive,
            reason: found.reason,
            path: found.path,
        })
    }
}
