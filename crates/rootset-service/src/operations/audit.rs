//! `list_audit`.

use std::sync::Arc;

use rootset_api::{AuditAnswer, AuditList, Effect, ListAudit};
use rootset_model::limits::NAME_CHARS_MAX;
use rootset_store::{AuditEntry, AuditFilters, DATABASE};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{check_short_text, page};
use crate::operation::Operation;
use crate::scheduler::EVENT_KINDS;
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
        let mut operations: Vec<String> = self.operation.into_iter().collect();
        for kind in self.kinds.unwrap_or_default() {
            check_short_text("kinds", &kind, NAME_CHARS_MAX)?;
            match kind.as_str() {
                "events" => operations.extend(EVENT_KINDS.map(str::to_owned)),
                _ => operations.push(kind),
            }
        }
        let now = service.now();
        let filters =
            AuditFilters { since: self.since.map(|it| it.at(now)), until: self.until.map(|it| it.at(now)), operations };
        if is_database {
            service.write_denials_and_log();
        }
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
            token_id: entry.token,
            origin: entry.origin,
            details: entry.details.and_then(|details| serde_json::from_str(&details).ok()),
        };
        Ok(AuditList { entries: entries.into_iter().map(answer).collect(), total, offset, limit })
    }
}
