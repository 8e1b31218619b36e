//! `gc_purge`.

use std::sync::Arc;

use rootset_api::{GcPurge, PurgeAnswer, Request};
use rootset_model::Timestamp;
use rootset_model::time::parse_duration_ms;
use rootset_store::{PurgeSet, PurgeTarget, Workspace};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::parse_run_id;
use crate::operation::{Operation, confirmation_of};
use crate::receipts::{Wanted, purged_rows};
use crate::service::Service;

impl Operation for GcPurge {
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        checked(self, service, caller)
            .and_then(|(workspace, target, _)| {
                let set = service.store.purge_set(&workspace, target)?;
                let what = set.counts.in_words();
                let message = format!("purging {what} cannot be undone and needs `confirm: true`");
                let mut error = confirmation_of(self, message, json!({"confirm": true, "set": set.digest}));
                if let Some(details) = &mut error.details {
                    details["counts"] = json!(set.counts);
                }
                Ok(error)
            })
            .unwrap_or_else(|error| error)
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<PurgeAnswer, ServiceError> {
        let (workspace, target, wanted) = checked(&self, service, caller)?;
        if self.confirm != Some(true) {
            return Err(self.unconfirmed(service, caller));
        }
        if let Some(shown) = &self.set {
            check_set(shown, &service.store.purge_set(&workspace, target)?)?;
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

fn checked(
    request: &GcPurge,
    service: &Service,
    caller: &Caller,
) -> Result<(Workspace, PurgeTarget, Wanted), ServiceError> {
    let workspace = service.workspace_or_trashed(caller, request.workspace_id.as_deref())?;
    let target = match (&request.run_id, &request.older_than) {
        (Some(run), None) => PurgeTarget::Run(parse_run_id(run)?),
        (None, Some(age)) => PurgeTarget::TrashedBefore(Timestamp(service.now().0.saturating_sub(duration(age)?))),
        (None, None) => return Err(ServiceError::invalid("either `run_id` or `older_than` is required")),
        (Some(_), Some(_)) => return Err(ServiceError::invalid("give either `run_id` or `older_than`, not both")),
    };
    Ok((workspace, target, Wanted::checked(request.rewrite_backups, request.receipt, caller)?))
}

/// Whoever agreed, agreed to what they were shown.
fn check_set(shown: &str, found: &PurgeSet) -> Result<(), ServiceError> {
    if shown == found.digest {
        return Ok(());
    }
    let what = found.counts.in_words();
    Err(ServiceError::conflict(format!(
        "the trash has changed since this purge was confirmed: it would now remove {what}"
    ))
    .with_hint("call `gc_purge` without `confirm` and `set` to see what it would remove"))
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
