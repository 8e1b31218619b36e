//! `list_audit`.

use std::sync::Arc;

use rootset_api::{AuditAnswer, AuditList, Effect, ListAudit};
use rootset_store::{AuditEntry, AuditFilters, DATABASE};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::page;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ListAudit {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AuditList, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        let is_database = self.database.unwrap_or(false);
        if is_database && self.workspace_id.as_deref().is_some_and(|id| !id.is_empty()) {
            return Err(ServiceError::invalid("give either `workspace_id` or `database`, not both"));
        }
        let (chain, workspace_id) = if is_database {
            caller.need_scope(Effect::Admin, || "`database: true`")?;
            caller.need_whole_database(|| "`database: true`")?;
            (DATABASE, None)
        } else {
            let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
            (workspace.key, Some(workspace.id))
        };
        let filters = AuditFilters { since: self.since, until: self.until, operation: self.operation };
        let (entries, total) = service.store.list_audit(chain, &filters, offset, limit)?;
        let answer = |entry: AuditEntry| AuditAnswer {
            seq: entry.seq,
            at: entry.at,
            actor: entry.actor,
            operation: entry.operation,
            workspace_id: workspace_id.clone(),
            counts: serde_json::from_str(&entry.counts).unwrap_or_default(),
            plan_id: entry.plan,
            run_id: entry.run,
        };
        Ok(AuditList { entries: entries.into_iter().map(answer).collect(), total, offset, limit })
    }
}
