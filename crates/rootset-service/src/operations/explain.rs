//! `gc_explain`.

use std::sync::Arc;

use rootset_api::{ExplainAnswer, GcExplain};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for GcExplain {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ExplainAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let configured = service.settings.gc.retention_of(&workspace);
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
