//! `list_audit`.

use std::sync::Arc;

use rootset_model::{PlanId, RunId, Timestamp};
use rootset_store::{AuditEntry, AuditFilters, DATABASE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::page;

/// List the audit trail, newest first: who removed, restored or changed how much, and when. Never with which words.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListAudit {
    /// Workspace, also one that is in the trash itself; absent: the current one.
    workspace_id: Option<String>,
    /// Only at or after this time.
    since: Option<Timestamp>,
    /// Only before this time.
    until: Option<Timestamp>,
    /// Only of this operation.
    operation: Option<String>,
    /// The trail of the database itself (backups, restores, defragmentations) instead of a workspace's.
    database: Option<bool>,
    /// How many to skip (0).
    offset: Option<i64>,
    /// How many to show (50, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditList {
    pub entries: Vec<AuditAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditAnswer {
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub operation: String,
    /// Absent for the database's own trail.
    pub workspace_id: Option<String>,
    /// Numbers by kind.
    pub counts: Value,
    pub plan_id: Option<PlanId>,
    pub run_id: Option<RunId>,
}

impl Operation for ListAudit {
    const NAME: &'static str = "list_audit";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = AuditList;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AuditList, ServiceError> {
        let (offset, limit) = page(self.offset, self.limit)?;
        let is_database = self.database.unwrap_or(false);
        if is_database && self.workspace_id.as_deref().is_some_and(|id| !id.is_empty()) {
            return Err(ServiceError::invalid("`workspace_id` and `database` are given; one is enough"));
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
