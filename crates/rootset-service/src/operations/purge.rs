//! `gc_purge`.

use std::sync::Arc;

use rootset_api::{ErrorCode, GcPurge, PurgeAnswer, Request};
use rootset_model::Timestamp;
use rootset_model::time::parse_duration_ms;
use rootset_store::PurgeTarget;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::parse_run_id;
use crate::operation::Operation;
use crate::receipts::{Wanted, purged_rows};
use crate::service::Service;

impl Operation for GcPurge {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PurgeAnswer, ServiceError> {
        let workspace = service.workspace_or_trashed(caller, self.workspace_id.as_deref())?;
        let now = service.now();
        let target = match (&self.run_id, &self.older_than) {
            (Some(run), None) => PurgeTarget::Run(parse_run_id(run)?),
            (None, Some(age)) => PurgeTarget::TrashedBefore(Timestamp(now.0.saturating_sub(duration(age)?))),
            (None, None) => return Err(ServiceError::invalid("either `run_id` or `older_than` is required")),
            (Some(_), Some(_)) => {
                return Err(ServiceError::invalid("give either `run_id` or `older_than`, not both"));
            }
        };
        let wanted = Wanted::checked(self.rewrite_backups, self.receipt, caller)?;
        if !caller.confirms_for_good(self.confirm) {
            return Err(caller.unconfirmed_for_good(unconfirmed(&self)));
        }
        let receipt = service.store.purge(&workspace, target, service.next_erasure_id(), service.stamp(caller))?;
        let mut warnings = receipt.warnings.clone();
        let (bytes_freed, wal_clean) = (receipt.rows.get("bytes"), receipt.log_is_clean);
        let (purged, unfinished) = (purged_rows(&receipt.rows), receipt.is_unfinished.then_some(true));
        let run = match target {
            PurgeTarget::Run(run) => Some(run),
            PurgeTarget::TrashedBefore(_) => None,
        };
        let receipt = service.receipt_of(caller, Self::NAME, &workspace, run, receipt, wanted, &mut warnings);
        Ok(PurgeAnswer { purged, bytes_freed, wal_clean, unfinished, receipt, warnings: said(warnings) })
    }
}

/// Warnings as answers carry them: not at all where there are none.
pub fn said(warnings: Vec<String>) -> Option<Vec<String>> {
    (!warnings.is_empty()).then_some(warnings)
}

fn duration(value: &Value) -> Result<i64, ServiceError> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    parse_duration_ms(&text).map_err(|error| ServiceError::invalid(format!("`older_than`: {error}")))
}

/// Whoever confirms means this very call.
fn unconfirmed(request: &GcPurge) -> ServiceError {
    let mut arguments = json!({"run_id": request.run_id, "older_than": request.older_than, "confirm": true});
    for (field, given) in [("rewrite_backups", request.rewrite_backups), ("receipt", request.receipt)] {
        if let Some(given) = given {
            arguments[field] = given.into();
        }
    }
    ServiceError::new(ErrorCode::ConfirmationRequired, "purging cannot be undone and needs `confirm: true`")
        .with_details(json!({"next": {"operation": GcPurge::NAME, "arguments": arguments}}))
}
